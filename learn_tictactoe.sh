#!/usr/bin/env bash
# Learn tic-tac-toe by self-play, level by level, and prove the result.
#
#   ./learn_tictactoe.sh
#   ./learn_tictactoe.sh recipe=article levels=17 seed=1 matches=30000 run_dir=outputs/article
#
# For each level, from level 0, which plays at random:
#   preprocessing/generate_positions_expectations.py --level L    the level plays thousands of matches against itself;
#       each position after a move is written to dataset.csv with the discounted return that followed
#   train/train_agent.py --level L+1    a network learns to predict that return, from the weights of level L
# and at the end:
#   train/plot_losses.py       the loss curve of every level
#   train/compare_levels.py    every level against its predecessor and the random player; then the proof whether the
#       newest level can lose
#
# train/learn.py runs these stages in one process, because importing torch takes longer than most of them. The arguments
# are settings of all stages. Run the same command again to resume an interrupted run.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/shell/environment.sh"

exec python "$project/train/learn.py" "$@"
