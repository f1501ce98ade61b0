"""The games as parameters of tests."""

from collections.abc import Iterable
from typing import Any

import pytest


def with_slow_sizes(names: Iterable[str]) -> list[Any]:
    """The names, sorted. Tests with Othello on larger boards than 4x4 are slow: they show the same."""
    slow = ("othello", "othello_6x6")
    return [pytest.param(name, marks=pytest.mark.slow) if name in slow else name for name in sorted(names)]
