"""Evaluations by name, and their files.

make_evaluation("article", game)              conf/evaluation/article.yaml
make_evaluation("my/evaluation.yaml", game)   a file of the same form
"""

from collections.abc import Sequence
from pathlib import Path

from pydantic_core import core_schema as cs

from selfplay.errors import SettingError
from selfplay.games import Game
from selfplay.input_files import FileFormat
from selfplay.search.feature_evaluation import FeatureEvaluation
from selfplay.settings.evaluation import NUMBER, PHASES, WEIGHT
from selfplay.settings.folders import CONFIG_FOLDER

EVALUATIONS = CONFIG_FOLDER / "evaluation"

EVALUATION = FileFormat(
    "an evaluation",
    cs.typed_dict_schema(
        {
            "game": cs.typed_dict_field(cs.nullable_schema(cs.str_schema()), required=False),
            "win": cs.typed_dict_field(NUMBER),
            "margin": cs.typed_dict_field(NUMBER),
            "weights": cs.typed_dict_field(cs.dict_schema(cs.str_schema(), WEIGHT)),
            "phases": cs.typed_dict_field(PHASES, required=False),
        },
        extra_behavior="forbid",
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
