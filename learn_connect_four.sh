#!/usr/bin/env bash
# Learn Connect Four by self-play and measure every level: the loop of learn_tictactoe.sh, with tables of patterns.
# All levels run in one process, because starting two for each level takes longer than training some of them.
#
#   ./learn_connect_four.sh
#   ./learn_connect_four.sh recipe=connect_four_large run_dir=outputs/connect_four_large

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/shell/environment.sh"

exec python "$project/train/learn.py" game=connect_four recipe=connect_four "$@"
