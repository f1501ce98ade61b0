"""Evaluations that are a weighted sum of features, whose weights are read from a file:

read_evaluation(Path("my/evaluation.yaml"), "my evaluation")
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from sys import float_info
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import with_config

from selfplay.checks import require
from selfplay.compute.bit_algebra import bit_count, rule
from selfplay.compute.compiled_words import part
from selfplay.errors import SettingError
from selfplay.files import CHECKED, FileFormat
from selfplay.games import Game
from selfplay.games.rules import Features, Position
from selfplay.search.evaluation import CompiledBatchValue, CompiledValue, EvaluationParameters, ValueParameters

WEIGHT = "a finite number, or a list of one for each phase"
PHASE_STARTS = range(1, 65)
"""The numbers of stones at which a phase may begin."""

LARGEST_NUMBER = 1e12
"""Sums of larger numbers could overflow to infinity."""


def is_weight(value: object) -> bool:
    """Whether `value` is a finite number or a list of some."""
    numbers = value if isinstance(value, list) else [value]
    return len(numbers) > 0 and all(
        isinstance(number, int | float) and not isinstance(number, bool) and abs(number) <= float_info.max
        for number in numbers
    )


@with_config(CHECKED)
@dataclass(frozen=True)
class EvaluationWeights:
    """The content of a file of an evaluation, and the section `evaluation` of settings (conf/evaluation/).

    Raises SettingError for a weight or phases that are not allowed.
    """

    win: float
    """Value of a won match, above all unfinished positions; a lost one has its negative."""
    margin: float
    """Value of each point of the lead at the end of a match."""
    weights: dict[str, Any]
    """Weight of each feature of an unfinished position: a number, or a list of one number for each phase."""
    phases: list[int] = field(default_factory=list)
    """Numbers of stones at which the second and later phases begin; []: the weights never change."""
    game: str | None = None
    """The only game that it applies to; null: any game that has these features."""

    def __post_init__(self) -> None:
        for name, weight in self.weights.items():
            require(f"evaluation.weights.{name}", weight, is_weight(weight), WEIGHT)
        valid = self.phases == sorted({phase for phase in self.phases if phase in PHASE_STARTS})
        require(
            "evaluation.phases",
            self.phases,
            valid,
            f"a list of ascending numbers of stones from 1 to {PHASE_STARTS[-1]}",
        )


@dataclass(frozen=True)
class FeatureEvaluation(EvaluationWeights):
    """With weights w and features f, an unfinished position has the value sum_k w[k] * f[k].

    The weights may depend on the phase of the match, which is given by the number of stones on the board.
    """

    name: str = "evaluation"

    @property
    def _setting(self) -> str:
        return self.name if self.name == FeatureEvaluation.name else f"evaluation={self.name}"

    @property
    def reply_value(self) -> float:
        """Small, so that it only decides between equal values, for example if no feature has a weight."""
        return 0.001

    @property
    def predicts_outcome(self) -> bool:
        """A sum of features has no unit, even if it is the number of discs so far."""
        return False

    def table(self, game: Game) -> NDArray[np.float64]:
        """float64[P, K]: the weights of the K features of `game`, in their order, in each phase.

        Raises SettingError if the evaluation is for another game, if the game lacks a weighted feature, if margin is
        not 0 in a game that does not count points, if a number is out of range, or if the phases differ in number from
        those of a weight.
        """
        names, num_phases = () if game.features is None else game.features.names, len(self.phases) + 1
        if reason := self._unsuitable(game, names, num_phases):
            raise SettingError(f"{self._setting}: {reason}")
        weights = [np.broadcast_to(self.weights.get(name, 0.0), num_phases) for name in names]
        table = np.array(weights, dtype=np.float64).reshape(len(names), num_phases).T
        if not all(abs(number) <= LARGEST_NUMBER for number in (self.win, self.margin, *table.flat)):
            limit = f"{LARGEST_NUMBER:g}"
            raise SettingError(f"{self._setting}: all numbers must be from -{limit} to {limit}")
        return table

    def _unsuitable(self, game: Game, names: Sequence[str], num_phases: int) -> str | None:
        """Why it cannot value positions of `game`, whose features have these names."""
        if self.game not in (None, game.name):
            return f"it is for {self.game}, not for {game.name}"
        if self.weights and not names:
            return f"{game.name} has no features; set evaluation=none"
        if foreign := [name for name in self.weights if name not in names]:
            return f"no feature {foreign[0]!r}; {game.name} has {', '.join(names)}"
        if self.margin and game.rules.margin is None:
            return f"{game.name} does not count points; set margin to 0"
        if self.phases and not {"own", "opp"} <= set(game.rules.position._fields):
            return f"positions of {game.name} have no fields own and opp, whose stones phases count; leave phases out"
        for name, weight in self.weights.items():
            if isinstance(weight, Sequence) and len(weight) != num_phases:
                begin = f"phases={self.phases} are the numbers of discs at which the second and later ones begin"
                return f"{name} has {len(weight)} weights for {num_phases} phases; {begin}"
        return None

    def weights_at(self, game: Game, stones: int) -> NDArray[np.float64]:
        """float64[K]: the weights with this number of stones on the board. Raises as `table`."""
        weights: NDArray[np.float64] = self.table(game)[np.searchsorted(self.phases, stones, side="right")]
        return weights

    def unfinished_value(self, game: Game) -> CompiledValue:
        """The weighted sum of the features; 0 in a game without any."""
        features = self._computed(game)
        return _nothing if features is None else feature_sum(features, len(self.phases) > 0)

    def unfinished_values(self, game: Game) -> CompiledBatchValue | None:
        return None

    def parameters(self, game: Game) -> EvaluationParameters:
        """Raises as `table`."""
        features, starts = self._computed(game), np.array(self.phases, dtype=np.int64)
        table = np.ascontiguousarray(self.table(game)[:, : 0 if features is None else len(features.names)])
        return EvaluationParameters(np.array([self.win, self.margin]), (starts, table))

    def _computed(self, game: Game) -> Features | None:
        """The basic features of the game if no others are weighted, otherwise all."""
        features = game.features
        if features is None or features.basic is None:
            return features
        has_others = any(np.any(weight) for name, weight in self.weights.items() if name not in features.basic.names)
        return features if has_others else features.basic


RESULT_ONLY = FeatureEvaluation(win=1.0, margin=0.0, weights={}, name="none")
"""Values every unfinished position as 0."""


@rule
def _nothing(position: Position, weights: ValueParameters) -> float:
    return 0.0


@rule
def phase_at(position: Position, starts: NDArray[np.int64]) -> int:
    """The phase of the match; `starts`: the numbers of stones with which the second and later ones begin."""
    stones, phase = bit_count(position.own | position.opp), 0
    while phase < len(starts) and starts[phase] <= stones:
        phase += 1
    return phase


@rule
def _first_phase(position: Position, starts: NDArray[np.int64]) -> int:
    return 0


@cache
def feature_sum(features: Features, has_phases: bool) -> CompiledValue:
    """(position, (int64[P - 1] as `starts` of `phase_at`, float64[P, K] weights)) to the weighted sum of K features."""
    feature_values, phase_of = features.values, phase_at if has_phases else _first_phase

    @rule
    def value(position: Position, phased: tuple[NDArray[np.int64], NDArray[np.float64]]) -> Any:
        starts, table = phased
        row, phase = feature_values(position), phase_of(position, starts)
        total = 0.0
        for k in range(len(row)):
            total += table[phase, k] * part(row[k], 0)
        return total

    return value


# ---------------------------------------------------------------------- files of evaluations

EVALUATION = FileFormat(
    "an evaluation",
    EvaluationWeights,
    remedy="; it has win, margin, a weight for each feature in weights, and optionally game and phases",
)


def read_evaluation(path: Path, name: str) -> FeatureEvaluation:
    """The evaluation called `name` in the file at `path`. Raises InvalidFileError."""
    return FeatureEvaluation(**vars(EVALUATION.read_yaml(path)), name=name)


def evaluation_text(evaluation: FeatureEvaluation) -> str:
    """The text of a file with `evaluation`; reading it back gives the same numbers."""
    lines = [] if evaluation.game is None else [f"game: {evaluation.game}"]
    lines += [f"win: {evaluation.win!r}", f"margin: {evaluation.margin!r}"]
    lines += [f"phases: {evaluation.phases}"] if evaluation.phases else []
    lines += ["weights:" if evaluation.weights else "weights: {}"]
    for name, weight in evaluation.weights.items():
        lines.append(f"  {name}: {list(weight) if isinstance(weight, Sequence) else weight!r}")
    return "\n".join(lines) + "\n"
