#!/usr/bin/env bash
# Format, lint, types and tests. What you give goes to pytest: ./run_tests.sh tests/games -k perft
# Without arguments the slow proofs (marked `slow`) stay out, and two processes share the files of tests;
# ./run_tests.sh -m slow runs just the slow ones.

set -euo pipefail
EXTRAS=dev
source "$(dirname "${BASH_SOURCE[0]}")/shell/environment.sh"
cd "$project"

ruff format --check .
ruff check .
mypy
lint-imports --no-logo
if [ $# -eq 0 ]; then
    set -- -m "not slow" --numprocesses 2 --dist loadfile
fi
python -m pytest -q "$@"
