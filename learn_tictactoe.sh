#!/usr/bin/env bash
# Learn tic-tac-toe by self-play, level by level, and prove the result.
#
#   ./learn_tictactoe.sh
#   ./learn_tictactoe.sh recipe=article levels=17 seed=1 matches=30000 run_dir=outputs/article
#
# The arguments are passed to every stage. Run the same command again to resume an interrupted run.
# Each stage is a script that also runs alone: python train/train_agent.py --level 1

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/shell/environment.sh"

# The script ends here if a setting is invalid.
levels="$(python "$project/shell/run_scripts.py" --levels "$@")"

stages() {
    for ((level = 0; level < levels; level++)); do
        # The newest player plays thousands of matches against itself; level 0 plays at random. Each position after a
        # move is written to dataset.csv with the discounted return that followed.
        echo preprocessing/generate_positions_expectations.py --level "$level"

        # A network learns to predict that return, starting from the weights of the previous level. It is the next level.
        echo train/train_agent.py --level "$((level + 1))"

        # How strong the new level is; the page draws it while the loop runs.
        echo train/compare_levels.py --level "$((level + 1))"
    done

    # The loss curve of every level.
    echo train/plot_losses.py

    # Every level against its predecessor and the random player; then the proof whether the newest level can lose.
    echo train/compare_levels.py
}

# One process runs the scripts in this order: importing torch takes longer than most of them.
exec python "$project/shell/run_scripts.py" "$@" < <(stages)
