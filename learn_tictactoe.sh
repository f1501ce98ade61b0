#!/usr/bin/env bash
# Learn tic-tac-toe by self-play, level by level, and prove the result.
#
#   ./learn_tictactoe.sh
#   ./learn_tictactoe.sh recipe=article levels=17 seed=1 matches=30000 run_dir=outputs/article
#
# The arguments are passed to every stage. Run the same command again to resume an interrupted run.
# Each stage is a script that also runs alone: python train/train_agent.py --level 1

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/shell/stages.sh"

for ((level = 0; level < levels; level++)); do
    # The newest player plays thousands of matches against itself; level 0 plays at random. Each position after a move
    # is written to dataset.csv with the discounted return that followed.
    stage preprocessing/generate_positions_expectations.py --level "$level" "$@"

    # A network learns to predict that return, starting from the weights of the previous level. It is the next level.
    stage train/train_agent.py --level "$((level + 1))" "$@"

    # How strong the new level is; the page draws it while the loop runs.
    stage train/compare_levels.py --level "$((level + 1))" "$@"
done

# The loss curve of every level.
stage train/plot_losses.py "$@"

# Every level against its predecessor and the random player; then the proof whether the newest level can lose.
stage train/compare_levels.py "$@"
