"""The games as parameters of tests."""

from collections.abc import Iterable
from typing import Any

import pytest

from selfplay.games import GAMES

SMALLEST = {"hex": "hex_3x3", "go": "go_3x3"}
WITH_LONG_MATCHES = ("draughts", "nine_mens_morris")
BOARDS = (
    *(SMALLEST.get(name, name) for name in GAMES if name not in WITH_LONG_MATCHES),
    *("othello_6x6", "othello_4x4"),
)
"""The names of games, with further boards of Othello, and Hex and Go on their smallest boards."""


def with_slow_boards(names: Iterable[str]) -> list[Any]:
    """The names. Tests with boards that are not in BOARDS are slow: each compiles rules, and shows the same."""
    return [name if name in BOARDS else pytest.param(name, marks=pytest.mark.slow) for name in names]


def with_slow_sizes(names: Iterable[str]) -> list[Any]:
    """The names, sorted. Tests with boards larger than 4x4 are slow, as is a second small board of one game: they show
    the same."""
    slow = (*WITH_LONG_MATCHES, "tictactoe_4x4", "breakthrough", "gomoku", "othello", "othello_6x6", "tictactoe_8x8")
    return [pytest.param(name, marks=pytest.mark.slow) if name in slow else name for name in sorted(names)]
