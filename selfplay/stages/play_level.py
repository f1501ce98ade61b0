"""Plays the matches of a level, shard by shard, and writes its dataset."""

import logging
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import tee
from math import prod
from pathlib import Path
from typing import Any

from selfplay.dataset.formats import DatasetFormat
from selfplay.executors import Executor
from selfplay.players.dataset_players import check_new_levels
from selfplay.progress import ProgressBar
from selfplay.runs.context import run_context
from selfplay.settings.choices import DATASET_FORMATS
from selfplay.settings.run import Settings
from selfplay.stages.play_shard import play_shard, shards_of
from selfplay.training.optimizer import require_policy_training

log = logging.getLogger(__name__)


def play_level(
    settings: Settings,
    level: int,
    agents: Sequence[Path],
    record: Mapping[str, Any],
    executor: Executor,
    progress: ProgressBar,
) -> int:
    """Play the matches of `level` that are not written yet; returns the number of rows of the dataset.

    Args:
        agents: the files of the levels that play.
        record: what the dataset depends on; shards that an interrupted run wrote with the same record are kept.
    """
    start = time.perf_counter()
    context = run_context(settings)
    if level == 0:
        check_new_levels(settings, context.game)
        if settings.has_policies:
            require_policy_training(settings.training.optimizer.name)
    name = context.run.dataset(level, settings.dataset.format).name
    path = context.run.stage_folder(level, settings.output_dir) / name
    size = prod(context.game.observation_shape)
    num_actions = context.game.num_distinct_actions if settings.has_policies else 0
    form: DatasetFormat = DATASET_FORMATS[settings.dataset.format]
    with (
        closing(progress(total=settings.matches, desc=f"level {level}: matches")) as bar,
        form.written(path, size, record, num_actions) as writer,
    ):
        rows = sum(writer.written.values())
        if found := [shard for shard in shards_of(settings, level) if shard.number in writer.written]:
            count = -(-settings.matches // settings.dataset.shard_matches)
            log.info("level %d: %d of %d shards already written", level, len(found), count)
            bar.update(sum(len(shard.matches) for shard in found))
        missing, also_missing = tee(shard for shard in shards_of(settings, level) if shard.number not in writer.written)
        for shard, played in zip(missing, executor.map(play_shard, also_missing, agents), strict=True):
            writer.add(shard.number, played.content)
            rows += played.rows
            bar.update(len(shard.matches))
    seconds = time.perf_counter() - start
    log.info("level %d: played %d matches, %d rows (%.2f s)", level, settings.matches, rows, seconds)
    return rows
