"""Stage 1: play the matches of a level and write its dataset.

This file decides: a stage whose dataset exists and was made with the same settings is skipped.
`selfplay.stages.play_level` plays and writes, `selfplay.stages.play_shard` is the part that workers do.
"""

import logging
from contextlib import ExitStack
from typing import Any

from selfplay.executors import Executor, open_executor
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.runs.run_settings import record_run_settings
from selfplay.runs.written_files import sha256
from selfplay.settings.fields import recorded_defaults, stage_record
from selfplay.settings.run import Settings

log = logging.getLogger(__name__)


def generate_level(
    settings: Settings, level: int, progress: ProgressBar = NoProgress, executor: Executor | None = None
) -> bool:
    """Play the matches of `level` and write its dataset; False if that was done already.

    Args:
        executor: runs the shards; None: the executor of the settings, opened for this level only.

    Raises:
        SettingError: the executor or a player needs something that is not available.
        StageError: the level does not exist, its dataset was made with other settings, or it cannot be written.
    """
    run = RunFolder.of(settings)
    playing_levels = range(1 if settings.opponents == "pool" else max(1, level), level + 1)
    for number in playing_levels:
        run.check_level(number)
    manifest, record = Manifest(run.level(level)), _generation_record(settings, run, level)
    if manifest.is_done("generation", record, recorded_defaults(settings, "generation").get, force=settings.force):
        log.info("level %d: matches already generated, skipped", level)
        return False
    manifest.forget("generation")
    # A skipped stage should not wait for torch: see docs/design_notes.md.
    from selfplay.stages.play_level import play_level

    with ExitStack() as stack:
        chosen = executor or stack.enter_context(open_executor(settings.executor))
        agents = [run.agent(number) for number in playing_levels]
        rows = play_level(settings, level, agents, record, chosen, progress)
    dataset = run.dataset(level, settings.dataset.format)
    record_run_settings(settings)
    manifest.record("generation", record, {"matches": settings.matches, "rows": rows}, [dataset.name])
    return True


def _generation_record(settings: Settings, run: RunFolder, level: int) -> dict[str, Any]:
    """What the dataset of a level depends on: settings, and the digests of the agents that play."""
    record = stage_record(settings, "generation", level=level) | {"level": level}
    if level > 0:
        record["agent_sha256"] = sha256(run.agent(level))
        if settings.opponents == "pool":
            record["opponents_sha256"] = [sha256(run.agent(earlier)) for earlier in range(1, level)]
    return record
