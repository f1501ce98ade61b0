"""Evaluations: the value of a position to the player to move, for searches.

A search takes any `Evaluation`, such as the learned tables of a level (`selfplay.search.pattern_evaluation`) or a
weighted sum of features (`selfplay.search.feature_evaluation`).

An evaluation values unfinished positions. If the match is over, the value is win * return + margin * lead, where lead
is that of the player to move in points, or 0 if the game does not count points.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import rule
from selfplay.compute.compilation import Words
from selfplay.compute.compiled_words import part
from selfplay.games import Game
from selfplay.games.rules import Position, Rules

ValueParameters = Any
"""The second argument of a `CompiledValue`: arrays, or tuples of arrays and numbers. Of a named tuple, only the
attributes can be read (see `by_reference`)."""

CompiledValue = Callable[[Position, ValueParameters], Any]
"""(position, parameters) to the value of a position to the player to move, a float; compiled searches call it."""


CompiledBatchValue = Callable[[Words, int, ValueParameters, NDArray[np.float64]], None]
"""(packed positions, count, parameters, values): writes the values of the first `count` positions, at most AT_ONCE,
into `values` (float64[AT_ONCE]). They are those of the `CompiledValue`, which values them one after the other."""

AT_ONCE = 4
"""The largest number of positions that a `CompiledBatchValue` values in one call."""


class EvaluationParameters(NamedTuple):
    """The numbers that an evaluation uses, in a form that compiled code accepts."""

    finished: NDArray[np.float64]
    """float64[2], the second argument of `finished_value`: the value of a won match, and of each point of the lead."""
    unfinished: ValueParameters
    """The second argument of `unfinished_value`. It may be written into, so each search needs its own."""


class Evaluation(Protocol):
    """Values positions inside compiled searches."""

    @property
    def name(self) -> str:
        """As the user wrote it."""

    @property
    def reply_value(self) -> float:
        """The value of one reply to the opponent, when searches order moves by the value of the position after them.
        Must be above 0. It changes only the number of positions visited."""

    @property
    def predicts_outcome(self) -> bool:
        """Whether unfinished positions have the value that is expected of the end of the match."""

    def unfinished_value(self, game: Game) -> CompiledValue:
        """The function that values unfinished positions; every call returns the same function."""

    def unfinished_values(self, game: Game) -> CompiledBatchValue | None:
        """The function that values several positions; every call returns the same. None if there is none."""

    def parameters(self, game: Game) -> EvaluationParameters:
        """New parameters for one search. Raises SettingError if the evaluation does not fit the game."""


@cache
def finished_value(rules: Rules) -> CompiledValue:
    """(position, `EvaluationParameters.finished`) to the value of a position in which the match is over."""
    return_to_move, margin, unit = rules.return_to_move, rules.margin, rules.margin_unit

    @rule
    def value_without_points(position: Position, finished: NDArray[np.float64]) -> Any:
        return finished[0] * part(return_to_move(position), 0)

    if margin is None:
        return value_without_points

    @rule
    def value(position: Position, finished: NDArray[np.float64]) -> Any:
        return finished[0] * part(return_to_move(position), 0) + finished[1] * (unit * part(margin(position), 0))

    return value


def moves_again(rules: Rules) -> Callable[[Position], Any]:
    """Whether the player to move in a position has also made the last move: its value then keeps its sign."""
    return rules.moves_again or _never


@rule
def _never(position: Position) -> bool:
    return False
