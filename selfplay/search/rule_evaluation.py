"""Evaluations that are a single rule: a function of a position, marked with `selfplay.rule`.

@rule
def lead(p: Position) -> float:
    return (bit_count(p.own) - bit_count(p.opp)) / 64
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from selfplay.compute.bit_algebra import rule
from selfplay.compute.compiled_words import part
from selfplay.errors import ConformanceError, shortened
from selfplay.games.game import Game
from selfplay.games.rules import Position
from selfplay.games.state import State
from selfplay.search.evaluation import CompiledBatchValue, CompiledValue, EvaluationParameters, ValueParameters

PositionRule = Callable[[Position], Any]
"""A rule from an unfinished position to a number from -1 to 1: the outcome that the player to move can expect."""


@dataclass(frozen=True)
class RuleEvaluation:
    """The values that a rule gives unfinished positions; a won match has the value 1, a lost one -1."""

    name: str
    value: PositionRule

    @property
    def reply_value(self) -> float:
        """Small, so that it only decides between equal values."""
        return 0.001

    @property
    def predicts_outcome(self) -> bool:
        return True

    def unfinished_value(self, game: Game) -> CompiledValue:
        return _with_parameters(game.rules.widening(self.value))

    def unfinished_values(self, game: Game) -> CompiledBatchValue | None:
        return None

    def parameters(self, game: Game) -> EvaluationParameters:
        return EvaluationParameters(np.array([1.0, 0.0]), np.zeros(0))

    def check(self, game: Game, state: State) -> None:
        """Raise ConformanceError unless the rule gives all these positions a number from -1 to 1; uncompiled."""
        value = game.rules.widening(self.value)
        for position in game.positions(state.select((~state.terminated).nonzero()[:, 0])):
            found = value(position)
            if not isinstance(found, int | float) or not -1 <= found <= 1:
                reason = f"evaluation {shortened(self.name)!r} must give numbers from -1 to 1, not {found!r:.40}"
                raise ConformanceError(reason, self.value)


@cache
def _with_parameters(value_of: PositionRule) -> CompiledValue:
    @rule
    def value(position: Position, parameters: ValueParameters) -> Any:
        return 1.0 * part(value_of(position), 0)

    return value
