#!/usr/bin/env bash
# Learn Othello by self-play and measure every level: the loop of learn_tictactoe.sh, with tables of patterns that learn
# the lead in discs.
# All levels run in one process, because starting two for each level takes longer than training some of them.
#
#   ./learn_othello.sh

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/shell/environment.sh"

exec python "$project/train/learn.py" game=othello recipe=othello "$@"
