#!/usr/bin/env bash
# Check format, lint, types and the order of the packages, then run the tests.
#
#   ./run_tests.sh                          all tests that are not marked `slow`, in two processes
#   ./run_tests.sh -m slow                  only the slow tests
#   ./run_tests.sh tests/games -k perft     arguments are passed to pytest

set -euo pipefail
EXTRAS=dev
source "$(dirname "${BASH_SOURCE[0]}")/shell/environment.sh"
cd "$project"

ruff format --check .
ruff check .
mypy
lint-imports --no-logo
if [ $# -eq 0 ]; then
    # In the order of the folders, so that files that need the same compiled code or the browser follow each other.
    set -- -m "not slow" --numprocesses 2 --dist loadfile --no-loadscope-reorder
fi
python -m pytest -q "$@"
