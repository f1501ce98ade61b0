#!/usr/bin/env bash
# Learn Connect Four by self-play: the loop of learn_tictactoe.sh, with tables of patterns.
#
#   ./learn_connect_four.sh
#   ./learn_connect_four.sh recipe=connect_four_large run_dir=outputs/connect_four_large

exec "$(dirname "${BASH_SOURCE[0]}")/learn_tictactoe.sh" game=connect_four recipe=connect_four "$@"
