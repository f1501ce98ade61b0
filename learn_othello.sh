#!/usr/bin/env bash
# Learn Othello by self-play: the loop of learn_tictactoe.sh, with tables of patterns that learn the lead in discs.
#
#   ./learn_othello.sh
#   ./learn_othello.sh recipe=othello_large run_dir=outputs/othello_large

exec "$(dirname "${BASH_SOURCE[0]}")/learn_tictactoe.sh" game=othello recipe=othello "$@"
