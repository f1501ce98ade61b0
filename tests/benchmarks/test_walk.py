"""The way from the shell loop to the first fitted batch does not become longer."""

import re
import subprocess
import sys

import pytest

from tests.support.runs import PROJECT

FILES, UP = 28, 0
"""The figures of today: lower them when the way becomes shorter."""


@pytest.mark.slow
def test_no_more_files_are_entered_on_the_way_to_the_first_batch_than_before() -> None:
    walked = subprocess.run(
        [sys.executable, PROJECT / "benchmarks" / "walk.py", "files=true"], capture_output=True, text=True, check=True
    )
    found = re.search(r"^(\d+) files on the way: [\d,]+ entries, (\d+) of them up", walked.stdout, re.MULTILINE)
    assert found, walked.stdout + walked.stderr
    assert int(found[1]) <= FILES, walked.stdout
    assert int(found[2]) <= UP, walked.stdout
    assert "selfplay/training/fitting.py" in walked.stdout
