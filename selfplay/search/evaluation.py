"""Evaluations: the value of a position to the player to move, for searches.

A search takes any `Evaluation`, such as a weighted sum of features (`selfplay.search.feature_evaluation`) or the
learned tables of a level (`PatternEvaluation`: the hyperbolic tangent of a sum of table entries). It values unfinished
positions; where the match is over, the value is win * return + margin * (the lead of the player to move in points,
where the game counts points).
"""

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.bit_algebra import Word, scalar_rule
from selfplay.compute.compilation import Words, compiled, register_rules
from selfplay.errors import SettingError
from selfplay.games import Game, State
from selfplay.games.patterns import Patterns, phase_of, write_entries
from selfplay.games.rules import Rules

ValueParameters = Any
"""The third argument of a `CompiledValue`: arrays, or tuples of arrays and numbers."""

CompiledValue = Callable[[Word, Word, ValueParameters], Word]
"""(own, opp, parameters) to the value of a position to the player to move, a float; compiled searches call it."""


class EvaluationParameters(NamedTuple):
    """The numbers that an evaluation uses, in a form that compiled code accepts."""

    finished: NDArray[np.float64]
    """float64[2], the third argument of `finished_value`: the value of a won match, and of each point of the lead."""
    unfinished: ValueParameters
    """The third argument of `unfinished_value`. It may be written into, so each search needs its own."""


class Evaluation(Protocol):
    """Values positions inside compiled searches."""

    @property
    def name(self) -> str:
        """As the user wrote it."""

    @property
    def reply_value(self) -> float:
        """How much a reply of the opponent is worth to the opponent, where searches order moves by the value of the
        position that they lead to. Must be above 0; it changes only the number of positions visited."""

    def unfinished_value(self, game: Game) -> CompiledValue:
        """The function that values unfinished positions; every call returns the same function."""

    def parameters(self, game: Game) -> EvaluationParameters:
        """New parameters for one search. Raises SettingError if the evaluation does not fit the game."""


def position_values(evaluation: Evaluation, game: Game, state: State) -> Tensor:
    """float64[B]: values to the player to move, also of finished positions. Raises as `Evaluation.parameters`."""
    values = torch.empty(state.batch_size, dtype=torch.float64)
    own, opp, over = (field.cpu().numpy() for field in (state.own, state.opp, state.terminated))
    numbers = evaluation.parameters(game)
    _batch_value(game.rules, evaluation.unfinished_value(game))(own, opp, over, *numbers, values.numpy())
    return values.to(state.own.device)


@cache
def finished_value(rules: Rules) -> CompiledValue:
    """(own, opp, `EvaluationParameters.finished`) to the value of a position in which the match is over."""
    return_to_move, margin = rules.return_to_move, rules.margin

    @scalar_rule
    def value_without_points(own: Word, opp: Word, finished: NDArray[np.float64]) -> Word:
        return finished[0] * return_to_move(own, opp)

    if margin is None:
        return value_without_points

    @scalar_rule
    def value(own: Word, opp: Word, finished: NDArray[np.float64]) -> Word:
        return finished[0] * return_to_move(own, opp) + finished[1] * margin(own, opp)

    return value


@cache
def _batch_value(rules: Rules, unfinished_value: CompiledValue) -> Callable[..., None]:
    value_at_end = finished_value(rules)
    register_rules()

    @compiled
    def write_values(
        own: Words,
        opp: Words,
        over: NDArray[np.bool_],
        finished: NDArray[np.float64],
        unfinished: ValueParameters,
        values: NDArray[np.float64],
    ) -> None:
        for i in range(len(own)):
            if over[i]:
                values[i] = value_at_end(own[i], opp[i], finished)
            else:
                values[i] = unfinished_value(own[i], opp[i], unfinished)

    return write_values


# ---------------------------------------------------------------------- learned tables of patterns


class PatternTables(NamedTuple):
    """The tables as compiled code accepts them. Each caller needs its own, because `entries` is written into."""

    contributions: NDArray[np.int32]
    offsets: NDArray[np.int32]
    weights: NDArray[np.float32]
    """float32[phases, E]"""
    squares: int
    parities: int
    entries: NDArray[np.int32]
    """int32[I]: scratch memory for the entries of one position."""


@scalar_rule
def sum_of_entries(just_moved: Word, to_move: Word, tables: PatternTables) -> Word:
    """The sum of the entries of all images, in the phase of the position."""
    contributions, offsets, weights, squares, parities, entries = tables
    write_entries(just_moved, to_move, contributions, offsets, entries)
    phase = phase_of(just_moved, to_move, len(weights), squares, parities)
    total = 0.0
    for image in range(len(offsets)):
        total += weights[phase, entries[image]]
    return total


@scalar_rule
def pattern_value(own: Word, opp: Word, tables: PatternTables) -> Word:
    """The value in (-1, 1) to the player to move. The tables give the value to the player who has just moved."""
    return -math.tanh(sum_of_entries(opp, own, tables))


class PatternEvaluation(NamedTuple):
    """An evaluation by tables of patterns.

    A finished match has the value win * return + margin * (the lead of the player to move in points).
    """

    name: str
    game: str
    win: float
    margin: float
    tables: PatternTables

    @property
    def reply_value(self) -> float:
        """Chosen by searches of Othello: 0.005 to 0.02 visit fewer positions than less or more."""
        return 0.01

    def unfinished_value(self, game: Game) -> CompiledValue:
        return pattern_value

    def parameters(self, game: Game) -> EvaluationParameters:
        """Raises SettingError if the tables are for another game."""
        if game.name != self.game:
            raise SettingError(f"evaluation={self.name}: it is for {self.game}, not for {game.name}")
        entries = np.empty_like(self.tables.entries)
        return EvaluationParameters(np.array([self.win, self.margin]), self.tables._replace(entries=entries))


def pattern_tables(patterns: Patterns, weights: NDArray[np.float32], squares: int, parities: int = 1) -> PatternTables:
    """The tables with these weights (float32[phases, W]), one value per entry, for a board of `squares` squares."""
    entries = np.empty(len(patterns.offsets), dtype=np.int32)
    spread = np.ascontiguousarray(weights[:, patterns.weight_of_entry])
    return PatternTables(patterns.contributions, patterns.offsets, spread, squares, parities, entries)
