"""Export what a level has learned as an evaluation for searches (selfplay export-evaluation)."""

import logging
from pathlib import Path

from selfplay.errors import InvalidFileError
from selfplay.files import written_whole
from selfplay.players.agent import Agent
from selfplay.runs.run_folder import prepare_process
from selfplay.search.feature_evaluation import FeatureEvaluation, evaluation_text
from selfplay.settings.evaluation import ExportSettings

log = logging.getLogger(__name__)


def export_evaluation(settings: ExportSettings) -> Path:
    """Write the evaluation that a level has learned; returns the path of its file.

    Raises:
        StageError: the run has no such level, or the file cannot be written.
        InvalidFileError: the level's file is broken, or its network is not a weighted sum of features.
    """
    context = prepare_process(settings)
    run = context.run
    level = max(run.newest_level(), 1) if settings.level is None else settings.level
    agent = Agent.of_level(run.path, level, context.game)
    evaluation = agent.evaluation()
    if not isinstance(evaluation, FeatureEvaluation):
        name = agent.checkpoint.metadata["architecture"]["name"]
        reason = f"architecture={name} has no feature weights; train with othello_features"
        raise InvalidFileError(run.agent(level), reason)
    path = run.evaluation(level) if settings.file is None else Path(settings.file)
    with written_whole(path) as beside:
        comment = f"# What level {level} has learned, as the expected return of the player to move."
        beside.write_text(f"{comment}\n{evaluation_text(evaluation)}")
    log.info("wrote %s", path)
    return path
