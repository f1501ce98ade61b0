"""The program that runs all measurements again."""

import re
import subprocess
import sys

import pytest

from tests.support.runs import PROJECT

PROGRAM = PROJECT / "benchmarks" / "all.py"


@pytest.mark.slow
def test_every_measurement_is_a_program_with_a_file_of_its_own() -> None:
    found = subprocess.run(
        [
            sys.executable,
            "-c",
            "import all\nfor page in all.MEASUREMENTS.values():\n    for one in page: print(*one, sep='|')",
        ],
        cwd=PROGRAM.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [line.split("|") for line in found.stdout.splitlines()]
    assert len({name for name, _, _ in rows}) == len(rows) > 0
    for _, command, quick in rows:
        program = command.split()[0]
        assert quick.split()[0] == program
        assert (PROGRAM.parent / program).exists()
        options = set(re.findall(r" (--[a-z-]+)", f"{command} {quick}"))
        assert all(f'"{option}"' in (PROGRAM.parent / program).read_text() for option in options), program
