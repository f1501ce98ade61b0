"""Assertions about what the program rejects."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from selfplay.errors import InvalidFileError


@contextmanager
def assert_file_rejected(path: Path, reason: str) -> Iterator[None]:
    """The block raises InvalidFileError in one line that names `path` and matches `reason`; the file is unchanged."""
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(InvalidFileError) as caught:
        yield
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert re.search(reason, message), message
    assert "\n" not in message
    assert (path.read_bytes() if path.is_file() else None) == before


def assert_refused(result: "CompletedProcess[str]", code: int, *named: object) -> None:
    """A script ended with this exit code and one line on stderr that contains all of `named`."""
    assert result.stderr.startswith("error: "), result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stderr.endswith("\n")
    assert "Traceback" not in result.stdout + result.stderr
    for text in named:
        assert str(text) in result.stderr
    assert result.returncode == code
