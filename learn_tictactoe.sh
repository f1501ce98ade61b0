#!/usr/bin/env bash
# Learn tic-tac-toe by self-play, level after level, and prove the result.
#
#   ./learn_tictactoe.sh
#   ./learn_tictactoe.sh recipe=article levels=17 seed=1 matches=30000 run_dir=outputs/article
#
# What you give is handed to every stage. Killed and started again, it goes on where it was. python train/learn.py
# does the same in one process.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/shell/environment.sh"

# The settings that the loop itself needs; wrong ones end the story here.
settings="$(python -m selfplay.cli.print_settings "$@" -- levels run_dir)"
{ read -r levels; read -r run_dir; } <<<"$settings"

# Hold the run for as long as this script lives, so that no other run mixes its files in.
if ! { mkdir -p "$run_dir" && exec 9>>"$run_dir/.lock"; } 2>/dev/null; then
    echo "error: cannot write in $run_dir" >&2
    exit 1
fi
export SELFPLAY_LOCK_FD=9
python -m selfplay.cli.lock_for_shell "$run_dir"

for ((level = 0; level < levels; level++)); do
    # The newest player plays thousands of matches against itself; level 0 plays at random. Every position that a
    # move led to is written down with the return that followed, discounted: dataset.csv.
    python "$project/preprocessing/generate_positions_expectations.py" "$@" --level "$level"

    # A network learns to foretell that return, starting from the weights of the level before: the next level.
    python "$project/train/train_agent.py" "$@" --level "$((level + 1))"
done

# The loss of every cycle as curves.
python "$project/train/plot_losses.py" "$@"

# Every level against its predecessor and the random player, and at the end the proof: can the newest level lose?
python "$project/train/compare_levels.py" "$@"
