"""Checks the state of an unfinished walk after it was read, because anybody can write a file."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfplay.games import Game
from selfplay.games.board_checks import are_positions
from selfplay.grading.winning_proof.action_judge import Judged
from selfplay.grading.winning_proof.walk import PlyPositions

FLAGS = ("are_won", "are_mistakes", "solved")
"""The arrays that are booleans; the others are int64."""


def problem_of_walk(game: Game, arrays: Mapping[str, NDArray[Any]]) -> str | None:
    """What is wrong with an entry of the state of a walk (see `Walk.state`); None if a walk can continue from it."""
    types = {name: np.dtype(bool if name in FLAGS else np.int64) for name in arrays}
    if set(arrays) not in (set(PlyPositions._fields), set(Judged._fields)):
        return "its arrays have other names"
    if any(array.ndim != 1 + (name == "position") or array.dtype != types[name] for name, array in arrays.items()):
        return "its arrays are not columns of numbers"
    lengths = {len(array) for name, array in arrays.items() if name != "solved"}
    if len(lengths) > 1:
        return "its columns differ in length"
    if not _are_in(arrays["actions"], game.num_distinct_actions):
        return "an action is not one of the game"
    if "position" in arrays:
        fits = are_positions(game.rules.position, arrays["position"]) and (arrays["parents"] >= 0).all()
        return None if fits else "a position is not a board"
    return None if _are_in(arrays["rows"], len(arrays["solved"])) else "a row is not one of a position"


def _are_in(numbers: NDArray[Any], count: int) -> bool:
    return bool(((numbers >= 0) & (numbers < count)).all())
