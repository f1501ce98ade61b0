"""The evaluation by features: with weights w and features f, an unfinished position has the value sum_k w[k] * f[k].

The weights may depend on the phase of the match, which is given by the number of stones on the board. They are read
from a file by name:

    make_evaluation("article", game)              conf/evaluation/article.yaml
    make_evaluation("my/evaluation.yaml", game)   a file of the same form
"""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic_core import core_schema as cs

from selfplay.compute.bit_algebra import Word, bit_count, scalar_rule
from selfplay.errors import SettingError
from selfplay.files import FileFormat, record_schema
from selfplay.games import Game
from selfplay.games.rules import Features
from selfplay.search.evaluation import CompiledValue, EvaluationParameters
from selfplay.settings.evaluation import NUMBER, PHASES, WEIGHT, Weight
from selfplay.settings.folders import CONFIG_FOLDER

LARGEST_NUMBER = 1e12
"""Sums of larger numbers could overflow to infinity."""


class FeatureEvaluation(NamedTuple):
    """A weighted sum of features."""

    name: str
    game: str | None
    """The only game it applies to; None for every game that has its features, such as all sizes of a board."""
    win: float
    """The value of a won match; of a lost one its negative. Should exceed the values of all unfinished positions."""
    margin: float
    """The value of each point by which the player leads at the end."""
    weights: Mapping[str, Weight]
    """Weights by feature name: a number, or a list of P numbers, one for each phase; features not listed have 0."""
    phases: tuple[int, ...] = ()
    """The numbers of stones on the board with which phases 2 to P begin; (): a single phase."""

    def table(self, game: Game) -> NDArray[np.float64]:
        """float64[P, K]: the weights of the K features of `game`, in their order, in each phase.

        Raises SettingError if the evaluation is for another game, if the game lacks a weighted feature, if margin is
        not 0 in a game that does not count points, if a number is out of range, or if the phases are not in order or
        differ in number from those of a weight.
        """
        self._check_game(game)
        self._check_phases()
        names = () if game.features is None else game.features.names
        weights = [np.broadcast_to(self.weights.get(name, 0.0), len(self.phases) + 1) for name in names]
        table = np.array(weights, dtype=np.float64).reshape(len(names), len(self.phases) + 1).T
        if not all(abs(number) <= LARGEST_NUMBER for number in (self.win, self.margin, *table.flat)):
            limit = f"{LARGEST_NUMBER:g}"
            raise SettingError(f"evaluation={self.name}: all numbers must be from -{limit} to {limit}")
        return table

    def _check_game(self, game: Game) -> None:
        names = () if game.features is None else game.features.names
        if self.game not in (None, game.name):
            raise SettingError(f"evaluation={self.name}: it is for {self.game}, not for {game.name}")
        if self.weights and not names:
            raise SettingError(f"evaluation={self.name}: {game.name} has no features; set evaluation=none")
        if foreign := [name for name in self.weights if name not in names]:
            raise SettingError(f"evaluation={self.name}: no feature {foreign[0]!r}; {game.name} has {', '.join(names)}")
        if self.margin and game.rules.margin is None:
            raise SettingError(f"evaluation={self.name}: {game.name} does not count points; set margin to 0")

    def _check_phases(self) -> None:
        if any(later <= earlier for earlier, later in pairwise((0, *self.phases))):
            raise SettingError(f"evaluation={self.name}: phases={list(self.phases)} must be ascending numbers of discs")
        wanted = len(self.phases) + 1
        for name, weight in self.weights.items():
            if isinstance(weight, Sequence) and len(weight) != wanted:
                raise SettingError(
                    f"evaluation={self.name}: {name} has {len(weight)} weights for {wanted} phases; "
                    f"phases={list(self.phases)} are the numbers of discs at which the second and later ones begin"
                )

    def weights_at(self, game: Game, stones: int) -> NDArray[np.float64]:
        """float64[K]: the weights with this number of stones on the board. Raises as `table`."""
        weights: NDArray[np.float64] = self.table(game)[np.searchsorted(self.phases, stones, side="right")]
        return weights

    @property
    def reply_value(self) -> float:
        """Small: it decides only between equal values, as where no feature is weighted."""
        return 0.001

    def unfinished_value(self, game: Game) -> CompiledValue:
        """The weighted sum of the features; 0 in a game without any."""
        features = self._computed(game)
        if features is None:
            return _nothing
        return (phased_feature_sum if self.phases else feature_sum)(features)

    def _computed(self, game: Game) -> Features | None:
        """The basic features of the game if no others are weighted, otherwise all."""
        features = game.features
        if features is None or features.basic is None:
            return features
        has_others = any(np.any(weight) for name, weight in self.weights.items() if name not in features.basic.names)
        return features if has_others else features.basic

    def parameters(self, game: Game) -> EvaluationParameters:
        """Raises as `table`."""
        table, finished = self.table(game), np.array([self.win, self.margin])
        computed = self._computed(game)
        table = np.ascontiguousarray(table[:, : 0 if computed is None else len(computed.names)])
        if not self.phases:
            return EvaluationParameters(finished, table[0])
        return EvaluationParameters(finished, PhasedWeights(np.array(self.phases), table))


class PhasedWeights(NamedTuple):
    """Weights that depend on the number of stones on the board, for compiled code."""

    starts: NDArray[np.int64]
    """int64[P - 1]: the numbers of stones with which phases 2 to P begin."""
    table: NDArray[np.float64]
    """float64[P, K]"""


@cache
def feature_sum(features: Features) -> CompiledValue:
    """(own, opp, float64[K] weights) to the weighted sum of the features."""
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
def phase_at(own: Word, opp: Word, starts: NDArray[np.int64]) -> Word:
    """The phase of the match; `starts`: the numbers of stones with which the second and later ones begin."""
    stones, phase = bit_count(own | opp), 0
    while phase < len(starts) and starts[phase] <= stones:
        phase += 1
    return phase


@scalar_rule
def _nothing(own: Word, opp: Word, weights: NDArray[np.float64]) -> Word:
    return 0.0


@cache
def phased_feature_sum(features: Features) -> CompiledValue:
    """(own, opp, `PhasedWeights`) to the weighted sum of the features in the phase of the position."""
    sum_with = feature_sum(features)

    @scalar_rule
    def value(own: Word, opp: Word, phased: PhasedWeights) -> Word:
        starts, table = phased
        return sum_with(own, opp, table[phase_at(own, opp, starts)])

    return value


EVALUATIONS = CONFIG_FOLDER / "evaluation"

EVALUATION = FileFormat(
    "an evaluation",
    record_schema(
        {"win": NUMBER, "margin": NUMBER, "weights": cs.dict_schema(cs.str_schema(), WEIGHT)},
        {"game": cs.nullable_schema(cs.str_schema()), "phases": PHASES},
    ),
    remedy="; it has win, margin, a weight for each feature in weights, and optionally game and phases",
)


def make_evaluation(name: str, game: Game) -> FeatureEvaluation:
    """Read the evaluation with this name from conf/evaluation/, or from the .yaml file at this path, for `game`.

    Raises:
        SettingError: the name is unknown, or the evaluation does not fit the game.
        InvalidFileError: the file is missing or not a valid evaluation.
    """
    evaluation = read_evaluation(evaluation_path(name), name)
    evaluation.table(game)  # raises if it does not fit
    return evaluation


def known_evaluations() -> list[str]:
    """The names of the evaluations in conf/evaluation/."""
    return sorted(path.stem for path in EVALUATIONS.glob("*.yaml"))


def evaluation_path(name: str) -> Path:
    """The file of the evaluation with this name, or `name` itself if it is the path of a .yaml file.

    Raises SettingError if the name is unknown.
    """
    known = known_evaluations()
    if name not in known and not name.endswith(".yaml"):
        raise SettingError(
            f"unknown evaluation {name!r}; choose from {', '.join(known)}, or use the path of a .yaml file"
        )
    return EVALUATIONS / f"{name}.yaml" if name in known else Path(name)


def read_evaluation(path: Path, name: str) -> FeatureEvaluation:
    """The evaluation called `name` in the file at `path`. Raises InvalidFileError."""
    content = EVALUATION.read_yaml(path)
    phases = tuple(content.get("phases", ()))
    return FeatureEvaluation(name, content.get("game"), content["win"], content["margin"], content["weights"], phases)


def evaluation_text(evaluation: FeatureEvaluation) -> str:
    """The text of a file with `evaluation`; reading it back gives the same numbers."""
    lines = [] if evaluation.game is None else [f"game: {evaluation.game}"]
    lines += [f"win: {evaluation.win!r}", f"margin: {evaluation.margin!r}"]
    lines += [f"phases: {list(evaluation.phases)}"] if evaluation.phases else []
    lines += ["weights:" if evaluation.weights else "weights: {}"]
    for name, weight in evaluation.weights.items():
        lines.append(f"  {name}: {list(weight) if isinstance(weight, Sequence) else weight!r}")
    return "\n".join(lines) + "\n"
