#!/usr/bin/env bash
# Learn Connect Four by self-play and measure every level: tables of patterns that learn from every match.
#
#   ./learn_connect_four.sh
#   ./learn_connect_four.sh levels=5 seed=1 run_dir=outputs/connect_four_1

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/shell/environment.sh"

exec python "$project/train/learn.py" game=connect_four recipe=connect_four "$@"
