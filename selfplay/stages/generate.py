"""Stage 1: play the matches of a level and write its dataset.

A stage whose dataset exists and was made with the same settings is skipped. `selfplay.stages.play_level` plays and
writes.
"""

import logging
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from selfplay.errors import SettingError
from selfplay.executors import Executor
from selfplay.files import sha256
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.run_folder import RunFolder, writes_run
from selfplay.runs.stage import Stage
from selfplay.settings.context import executor_of
from selfplay.settings.fields import recorded_defaults, stage_record
from selfplay.settings.recorded import begin_anew, record_run_settings
from selfplay.settings.run import Settings
from selfplay.stages.play_level import play_level
from selfplay.stages.run_check import check_run

log = logging.getLogger(__name__)


@writes_run(create=True)
def generate_level(
    settings: Settings, level: int, progress: ProgressBar = NoProgress, executor: Executor | None = None
) -> bool:
    """Play the matches of `level` and write its dataset; False if that was done already, or if they are played while
    the next level learns from them (learner=td, learner=expert).

    Args:
        executor: runs the shards; None: the executor of the settings, opened for this level only.

    Raises:
        RunLockedError: another process or thread is using the run.
        SettingError: a stage of the run would refuse a setting, see `check_run`; or the executor is not available.
        StageError: the level does not exist, its dataset was made with other settings, or it cannot be written.
        InvalidFileError: the file of an agent is missing or broken.
    """
    run_settings, settings = settings, settings.at_level(level + 1)
    if level not in settings.learner.datasets(level + 1):
        log.info("level %d: no dataset with learner=%s, skipped", level, settings.learner.name)
        return False
    if settings.fresh and settings.output_dir is None:
        check_run(run_settings, is_one_stage=True)
        begin_anew(run_settings)
    run = RunFolder.of(settings)
    folder, agents = run.stage_folder(level, settings.output_dir), _playing_agents(settings, run, level)
    record = _generation_record(settings, agents, level)
    stage = Stage("generation", folder, record, recorded_defaults(settings), settings.force)
    if stage.is_done(f"level {level}: matches already generated"):
        return False
    check_run(run_settings, is_one_stage=True)
    with ExitStack() as stack:
        chosen = executor or stack.enter_context(executor_of(settings.executor, settings.threads))
        made = stack.enter_context(stage.making())
        names_players = settings.opponent or settings.learner.named_players()
        files = [*agents, *(run.player_files() if names_players else ())]
        parts_record = record | {"shard_matches": settings.dataset.shard_matches}
        rows = play_level(settings, level, files, parts_record, chosen, progress)
        made.counts = {"matches": settings.matches, "rows": rows}
        made.files = [run.dataset(level, settings.dataset.format).name]
        if settings.output_dir is None:
            record_run_settings(run_settings)
    return True


def _playing_agents(settings: Settings, run: RunFolder, level: int) -> list[Path]:
    """The files of the trained levels that play, the level itself last. Raises SettingError, StageError."""
    if settings.agent_file is not None:
        if level == 0 or settings.learner.opponents_of(level):
            raise SettingError(f"agent_file={settings.agent_file}: set level to 1 or more, and no earlier opponents")
        return [Path(settings.agent_file)]
    levels = [*settings.learner.opponents_of(level), *range(max(1, level), level + 1)]
    for number in levels:
        run.check_level(number)
    return [run.agent(number) for number in levels]


def _generation_record(settings: Settings, agents: Sequence[Path], level: int) -> dict[str, Any]:
    """What the dataset of a level depends on: settings, and the digests of the agents that play."""
    record = stage_record(settings, "generation") | {"level": level}
    if settings.opponent is not None:
        record["opponent"] = settings.opponent
    if level > 0:
        *opponents, itself = [sha256(path) for path in agents]
        record["agent_sha256"] = itself
        if opponents:
            record["opponents_sha256"] = opponents
    return record
