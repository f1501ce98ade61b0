"""Export what a level has learned as an evaluation for searches (train/export_evaluation.py)."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.players.learned_evaluation import learned_evaluation
from selfplay.runs.run_folder import RunFolder
from selfplay.runs.written_files import written_whole
from selfplay.settings.evaluation import ExportSettings

if TYPE_CHECKING:
    pass

log = logging.getLogger(__name__)


def export_evaluation(settings: ExportSettings) -> Path:
    """Write the evaluation that a level has learned; returns the path of its file.

    Raises:
        StageError: the run has no such level, or the file cannot be written.
        InvalidFileError: the level's file is broken, or its network is not a weighted sum of features.
    """
    from selfplay.games import make_game
    from selfplay.search.evaluation import evaluation_text

    run = RunFolder(Path(settings.run_dir))
    level = max(run.trained_levels(), default=1) if settings.level is None else settings.level
    run.check_level(level)
    evaluation = learned_evaluation(run.agent(level), make_game(settings.game.name))
    path = run.evaluation(level) if settings.file is None else Path(settings.file)
    with written_whole(path) as beside:
        comment = f"# What level {level} has learned, as the expected return of the player to move."
        beside.write_text(f"{comment}\n{evaluation_text(evaluation)}")
    log.info("wrote %s", path)
    return path
