"""The evaluation by features: with weights w and features f, an unfinished position has the value sum_k w[k] * f[k]."""

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word, scalar_rule
from selfplay.errors import SettingError
from selfplay.games import Game
from selfplay.games.rules import Features
from selfplay.search.evaluation import CompiledValue, EvaluationParameters

LARGEST_NUMBER = 1e12
"""Sums of larger numbers could overflow to infinity."""


class FeatureEvaluation(NamedTuple):
    """A weighted sum of features."""

    name: str
    """As the user wrote it."""
    game: str | None
    """The only game it applies to; None for every game that has its features, such as all sizes of a board."""
    win: float
    """The value of a won match; of a lost one its negative. Should exceed the values of all unfinished positions."""
    margin: float
    """The value of each point by which the player leads at the end."""
    weights: Mapping[str, float]
    """Weights by feature name; features not listed have weight 0."""

    def vector(self, game: Game) -> NDArray[np.float64]:
        """float64[2 + K]: win, margin, and the weights of the K features of `game` in their order.

        Raises SettingError if the evaluation is for another game, if the game lacks a weighted feature, if margin is
        not 0 in a game that does not count points, or if a number is out of range.
        """
        names = () if game.features is None else game.features.names
        if self.game not in (None, game.name):
            raise SettingError(f"evaluation={self.name}: it is for {self.game}, not for {game.name}")
        if self.weights and not names:
            raise SettingError(f"evaluation={self.name}: {game.name} has no features; set evaluation=none")
        if foreign := [name for name in self.weights if name not in names]:
            raise SettingError(f"evaluation={self.name}: no feature {foreign[0]!r}; {game.name} has {', '.join(names)}")
        if self.margin and game.rules.margin is None:
            raise SettingError(f"evaluation={self.name}: {game.name} does not count points; set margin to 0")
        numbers = [self.win, self.margin, *(float(self.weights.get(name, 0.0)) for name in names)]
        if not all(abs(number) <= LARGEST_NUMBER for number in numbers):
            limit = f"{LARGEST_NUMBER:g}"
            raise SettingError(f"evaluation={self.name}: all numbers must be from -{limit} to {limit}")
        return np.array(numbers)

    def unfinished_value(self, game: Game) -> CompiledValue:
        """The weighted sum of the features; 0 in a game without any."""
        return feature_sum(game.features)

    def parameters(self, game: Game) -> EvaluationParameters:
        """Raises as `vector`."""
        vector = self.vector(game)
        return EvaluationParameters(vector[:2], vector[2:])


@cache
def feature_sum(features: Features | None) -> CompiledValue:
    """(own, opp, float64[K] weights) to the weighted sum of the features; 0 in a game without features."""
    if features is None:
        return _nothing
    feature_values = features.values

    @scalar_rule
    def value(own: Word, opp: Word, weights: NDArray[np.float64]) -> Word:
        row = feature_values(own, opp)
        total = 0.0
        for k in range(len(row)):
            total += weights[k] * row[k]
        return total

    return value


@scalar_rule
def _nothing(own: Word, opp: Word, weights: NDArray[np.float64]) -> Word:
    return 0.0
