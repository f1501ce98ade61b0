"""Evaluations: the value of a position to the player to move, as a weighted sum of features.

    make_evaluation("article", game)              conf/evaluation/article.yaml
    make_evaluation("my/evaluation.yaml", game)   a file of the same form

With weights w and features f, the value of an unfinished position is sum_k w[k] * f[k]. Where the match is over, the
value is win * return + margin * (the lead of the player to move in points, where the game counts points).

That is a `FeatureEvaluation`. A search takes any `Evaluation`, such as the learned tables of a level.
"""

import io
import math
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from torch import Tensor
from yaml import YAMLError

from selfplay.compute.bit_algebra import Word, scalar_rule
from selfplay.compute.compilation import Words, compiled, register_rules
from selfplay.errors import InvalidFileError, SettingError
from selfplay.games import Game, State
from selfplay.games.rules import Features, Rules
from selfplay.settings.folders import CONFIG_FOLDER

EVALUATIONS = CONFIG_FOLDER / "evaluation"

LARGEST_NUMBER = 1e12
"""Sums of larger numbers could overflow to infinity."""

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

    def unfinished_value(self, game: Game) -> CompiledValue:
        """The function that values unfinished positions; every call returns the same function."""

    def parameters(self, game: Game) -> EvaluationParameters:
        """New parameters for one search. Raises SettingError if the evaluation does not fit the game."""


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


def position_values(evaluation: Evaluation, game: Game, state: State) -> Tensor:
    """float64[B]: values to the player to move, also of finished positions. Raises as `Evaluation.parameters`."""
    values = torch.empty(state.batch_size, dtype=torch.float64)
    own, opp, over = (field.cpu().numpy() for field in (state.own, state.opp, state.terminated))
    numbers = evaluation.parameters(game)
    _batch_value(game.rules, evaluation.unfinished_value(game))(own, opp, over, *numbers, values.numpy())
    return values.to(state.own.device)


# ---------------------------------------------------------------------- files


def make_evaluation(name: str, game: Game) -> FeatureEvaluation:
    """Read the evaluation with this name from conf/evaluation/, or from the .yaml file at this path, for `game`.

    Raises:
        SettingError: the name is unknown, or the evaluation does not fit the game.
        InvalidFileError: the file is missing or not a valid evaluation.
    """
    known = sorted(path.stem for path in EVALUATIONS.glob("*.yaml"))
    if name not in known and not name.endswith(".yaml"):
        raise SettingError(
            f"unknown evaluation {name!r}; choose from {', '.join(known)}, or use the path of a .yaml file"
        )
    path = EVALUATIONS / f"{name}.yaml" if name in known else Path(name)
    evaluation = read_evaluation(path, name)
    evaluation.vector(game)
    return evaluation


def read_evaluation(path: Path, name: str) -> FeatureEvaluation:
    """The evaluation called `name` in the file at `path`. Raises InvalidFileError."""
    content = _read_mapping(path)
    if missing := [key for key in ("win", "margin", "weights") if key not in content]:
        raise InvalidFileError(path, f"{missing[0]} is missing")
    if foreign := [key for key in content if key not in ("game", "win", "margin", "weights")]:
        raise InvalidFileError(path, f"unknown entry {foreign[0]!r}; an evaluation has game, win, margin and weights")
    game, weights = content.get("game"), content["weights"]
    if not (game is None or isinstance(game, str)) or not isinstance(weights, dict):
        raise InvalidFileError(path, "game must be the name of a game, and weights a number for each feature")
    numbers = {"win": content["win"], "margin": content["margin"]} | {f"weights.{key}": weights[key] for key in weights}
    for key, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
            raise InvalidFileError(path, f"{key} is {number!r}; it must be a number")
    weights = {str(key): float(weight) for key, weight in weights.items()}
    return FeatureEvaluation(name, game, float(content["win"]), float(content["margin"]), weights)


def _read_mapping(path: Path) -> dict[Any, Any]:
    try:
        text = path.read_text()
    except OSError as error:
        raise InvalidFileError(path, f"cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise InvalidFileError(path, "is not a text file") from error
    try:
        content = OmegaConf.to_container(OmegaConf.load(io.StringIO(text)), resolve=True)
    except (OmegaConfBaseException, YAMLError, OSError) as error:
        raise InvalidFileError(path, f"is not valid YAML: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict):
        raise InvalidFileError(path, "is not an evaluation: it must have win, margin and weights")
    return content


def evaluation_text(evaluation: FeatureEvaluation) -> str:
    """The text of a file with `evaluation`; reading it back gives the same numbers."""
    lines = [] if evaluation.game is None else [f"game: {evaluation.game}"]
    lines += [f"win: {evaluation.win!r}", f"margin: {evaluation.margin!r}"]
    lines += ["weights:", *(f"  {name}: {weight!r}" for name, weight in evaluation.weights.items())]
    return "\n".join(lines if evaluation.weights else [*lines[:-1], "weights: {}"]) + "\n"


# ---------------------------------------------------------------------- compiled


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
