#!/usr/bin/env bash
# Learn SumTo100 by self-play: the loop of learn_tictactoe.sh with another game.
#
#   ./learn_sumto100.sh
#   ./learn_sumto100.sh levels=5 run_dir=outputs/try

exec "$(dirname "${BASH_SOURCE[0]}")/learn_tictactoe.sh" game=sumto100 recipe=sumto100 "$@"
