#!/usr/bin/env bash
# Learn tic-tac-toe by self-play, level by level, and prove the result.
#
#   ./learn_tictactoe.sh
#   ./learn_tictactoe.sh recipe=article levels=17 seed=1 matches=30000 run_dir=outputs/article
#
# The arguments are passed to every stage. Run the same command again to resume an interrupted run.
# python train/learn.py does the same in one process.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/shell/environment.sh"

# The settings that the loop itself needs. The script ends here if a setting is invalid.
settings="$(python -m selfplay.cli.print_settings "$@" -- levels run_dir)"
{ read -r levels; read -r run_dir; } <<<"$settings"

# Lock the run while this script runs, so that no other process writes to the same folder.
# Opening a named pipe would wait forever, and a link could lead to a file outside the run.
if ! { mkdir -p "$run_dir" && [ ! -p "$run_dir/.lock" ] && [ ! -L "$run_dir/.lock" ] && exec 9>>"$run_dir/.lock"; } \
    2>/dev/null; then
    echo "error: cannot write in $run_dir" >&2
    exit 1
fi
export SELFPLAY_LOCK_FD=9
python -m selfplay.cli.lock_for_shell "$run_dir"

for ((level = 0; level < levels; level++)); do
    # The newest player plays thousands of matches against itself; level 0 plays at random. Each position after a
    # move is written to dataset.csv with the discounted return that followed.
    python "$project/preprocessing/generate_positions_expectations.py" "$@" --level "$level"

    # A network learns to predict that return, starting from the weights of the previous level. It is the next level.
    python "$project/train/train_agent.py" "$@" --level "$((level + 1))"
done

# The loss curve of every level.
python "$project/train/plot_losses.py" "$@"

# Every level against its predecessor and the random player; then the proof whether the newest level can lose.
python "$project/train/compare_levels.py" "$@"
