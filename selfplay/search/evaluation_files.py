"""Evaluations by name, and their files.

make_evaluation("article", game)              conf/evaluation/article.yaml
make_evaluation("my/evaluation.yaml", game)   a file of the same form
"""

import io
import math
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from selfplay.errors import InvalidFileError, SettingError
from selfplay.games import Game
from selfplay.search.feature_evaluation import FeatureEvaluation
from selfplay.settings.folders import CONFIG_FOLDER

EVALUATIONS = CONFIG_FOLDER / "evaluation"


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
