"""Plays the matches of a level, shard by shard, and writes its dataset. Workers of an executor play the shards."""

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import tee
from pathlib import Path
from typing import Any, NamedTuple

from selfplay.dataset.formats import DATASET_FORMATS, DatasetFormat
from selfplay.executors import Executor
from selfplay.learners.learner import LevelInputs
from selfplay.players.agent import Agent
from selfplay.progress import ProgressBar
from selfplay.runs.levels import agent_of_level, load_agent
from selfplay.settings.context import RunContext, computing, context_of
from selfplay.settings.run import Settings
from selfplay.settings.task_files import task_files
from selfplay.stages.learner_resources import resources_of


class Shard(NamedTuple):
    """A part of a level's matches. Its rows do not depend on where or with which other shards it is played."""

    settings: Settings
    level: int
    number: int
    """From 0."""
    matches: range


def shards_of(settings: Settings, level: int) -> Iterator[Shard]:
    """The shards of the matches of a level, in order."""
    size, matches = settings.dataset.shard_matches, range(settings.matches)
    for number, start in enumerate(range(0, len(matches), size)):
        yield Shard(settings, level, number, matches[start : start + size])


def play_shard(shard: Shard) -> tuple[bytes, int]:
    """Play the matches of a shard; returns its rows as bytes in the format of the dataset, and their number."""
    settings, level = shard.settings, shard.level
    form: DatasetFormat = DATASET_FORMATS[settings.dataset.format]
    with computing(settings) as context:
        game, agent, resources = context.game, agent_that_plays(context, level), resources_of(context)
        inputs = LevelInputs(game, agent, settings.seed, level, opponent=settings.opponent, resources=resources)
        parts = settings.learner.generate(inputs, shard.matches)
        return form.encode(parts, context.game.observation_codec)


def agent_that_plays(context: RunContext[Settings], level: int) -> Agent | None:
    """The agent of a level, or of the setting agent_file; None: level 0."""
    settings = context.settings
    if settings.agent_file is not None:
        return load_agent(Path(settings.agent_file), context.game)
    return agent_of_level(settings.run_dir, level, context.game) if level > 0 else None


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

    Shards that an interrupted run wrote with the same `record` are kept. `agents`: the files of the levels that play.
    """
    start = time.perf_counter()
    context = context_of(settings)
    name = context.run.dataset(level, settings.dataset.format).name
    path = context.run.stage_folder(level, settings.output_dir) / name
    form: DatasetFormat = DATASET_FORMATS[settings.dataset.format]
    with (
        closing(progress(total=settings.matches, desc=f"level {level}: matches")) as bar,
        form.written(path, record) as writer,
    ):
        rows = sum(writer.written.values())
        if found := [shard for shard in shards_of(settings, level) if shard.number in writer.written]:
            count = -(-settings.matches // settings.dataset.shard_matches)
            log.info("level %d: %d of %d shards already written", level, len(found), count)
            bar.update(sum(len(shard.matches) for shard in found))
        files = task_files(settings, agents)
        missing, also_missing = tee(shard for shard in shards_of(settings, level) if shard.number not in writer.written)
        for shard, (content, count) in zip(missing, executor.map(play_shard, also_missing, files), strict=True):
            writer.add(shard.number, content)
            rows += count
            bar.update(len(shard.matches))
    seconds = time.perf_counter() - start
    log.info("level %d: played %d matches, %d rows (%.2f s)", level, settings.matches, rows, seconds)
    return rows
