"""The games as parameters of tests."""

from collections.abc import Iterable
from typing import Any

import pytest


def with_slow_sizes(names: Iterable[str]) -> list[Any]:
    """The names, sorted. Tests with Othello on 6x6 squares are slow: the same rules are compiled for 4x4 and 8x8."""
    return [pytest.param(name, marks=pytest.mark.slow) if name == "othello_6x6" else name for name in sorted(names)]
