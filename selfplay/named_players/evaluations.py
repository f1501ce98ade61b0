"""The evaluations of searches by name: those of conf/evaluation/, and files of the same form.

make_evaluation("article", game)              conf/evaluation/article.yaml
make_evaluation("my/evaluation.yaml", game)   a file of the same form
"""

from pathlib import Path

from selfplay.errors import SettingError
from selfplay.files import user_path
from selfplay.games import Game
from selfplay.runs.folders import CONFIG_FOLDER
from selfplay.search.evaluation import FeatureEvaluation, read_evaluation

EVALUATIONS = CONFIG_FOLDER / "evaluation"


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
    return EVALUATIONS / f"{name}.yaml" if name in known else user_path(name)
