"""Stage 1: play the matches of a level and write its dataset.

A stage whose dataset exists and was made with the same settings is skipped. The matches are cut into shards, which
workers of an executor play.
"""

import hashlib
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from itertools import tee
from pathlib import Path
from typing import Any, NamedTuple

from selfplay.dataset.formats import DATASET_FORMATS, DatasetFormat
from selfplay.errors import SettingError, StageError
from selfplay.executors import Executor
from selfplay.files import sha256
from selfplay.learners.learner import LevelInputs
from selfplay.players.agent import Agent
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.levels import agent_of_level, load_agent
from selfplay.runs.manifest import Stage
from selfplay.runs.run_folder import RunFolder, writes_run
from selfplay.settings.context import RunContext, computing, context_of, executor_of, first_agent_file, task_files
from selfplay.settings.fields import recorded_defaults, stage_record
from selfplay.settings.recorded import begin_anew, record_run_settings
from selfplay.settings.run import Settings
from selfplay.stages.learner_resources import resources_of, settings_of_dataset
from selfplay.stages.run_check import check_run

log = logging.getLogger(__name__)

MOST_NAMED = 100
"""The largest number of skipped matches that are named."""


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
    run_settings, settings = settings, settings_of_dataset(settings, level + 1)
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
    if level == 0:
        first = first_agent_file(settings)
        return [] if first is None else [first]
    levels = [*settings.learner.opponents_of(level), level]
    for number in levels:
        run.check_level(number)
    return [run.agent(number) for number in levels]


def _generation_record(settings: Settings, agents: Sequence[Path], level: int) -> dict[str, Any]:
    """What the dataset of a level depends on: settings, and the digests of the agents that play."""
    record = stage_record(settings, "generation") | {"level": level}
    if settings.opponent is not None:
        record["opponent"] = settings.opponent
    if agents:
        *opponents, itself = [sha256(path) for path in agents]
        record["agent_sha256"] = itself
        if opponents:
            record["opponents_sha256"] = opponents
    if files := settings.learner.record_files():
        record["records_sha256"] = hashlib.sha256("".join(map(sha256, files)).encode()).hexdigest()
    return record


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


class PlayedShard(NamedTuple):
    """The rows of a shard."""

    content: bytes
    """The rows in the format of the dataset."""
    rows: int
    """Their number."""
    skipped: list[str]
    """The recorded matches that were skipped, and why."""


def play_shard(shard: Shard) -> PlayedShard:
    """Play the matches of a shard, or read them."""
    skipped = list[str]()
    settings, level = shard.settings, shard.level
    form: DatasetFormat = DATASET_FORMATS[settings.dataset.format]
    with computing(settings) as context:
        game, agent, resources = (
            context.game,
            agent_that_plays(context, level),
            resources_of(context, on_skipped=skipped.append),
        )
        inputs = LevelInputs(game, agent, settings.seed, level, opponent=settings.opponent, resources=resources)
        parts = settings.learner.generate(inputs, shard.matches)
        return PlayedShard(*form.encode(parts, context.game.observation_codec), skipped)


def agent_that_plays(context: RunContext[Settings], level: int) -> Agent | None:
    """The agent of a level, or of the settings agent_file and, at level 0, first_agent; None: the random player."""
    settings = context.settings
    if settings.agent_file is not None:
        return load_agent(Path(settings.agent_file), context.game)
    if level == 0:
        first = first_agent_file(settings)
        return None if first is None else load_agent(first, context.game)
    return agent_of_level(settings.run_dir, level, context.game)


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
        rows, skipped = sum(writer.written.values()), list[str]()
        if found := [shard for shard in shards_of(settings, level) if shard.number in writer.written]:
            count = -(-settings.matches // settings.dataset.shard_matches)
            log.info("level %d: %d of %d shards already written", level, len(found), count)
            bar.update(sum(len(shard.matches) for shard in found))
        files = task_files(settings, agents)
        missing, also_missing = tee(shard for shard in shards_of(settings, level) if shard.number not in writer.written)
        for shard, played in zip(missing, executor.map(play_shard, also_missing, files), strict=True):
            writer.add(shard.number, played.content)
            rows += played.rows
            skipped += played.skipped
            bar.update(len(shard.matches))
        _report_skipped(skipped, level, settings.matches)
    seconds = time.perf_counter() - start
    done = "read" if settings.learner.record_files() else "played"
    log.info("level %d: %s %d matches, %d rows (%.2f s)", level, done, settings.matches, rows, seconds)
    return rows


def _report_skipped(skipped: Sequence[str], level: int, matches: int) -> None:
    """Name the recorded matches that were skipped. Raises StageError if these are all."""
    for line in skipped[:MOST_NAMED]:
        log.warning("skipped %s", line)
    if matches == len(skipped):
        raise StageError(f"level {level}: none of the {matches} recorded matches can be learned from: {skipped[0]}")
    if skipped:
        more = f", {len(skipped) - MOST_NAMED} of them not named here" if len(skipped) > MOST_NAMED else ""
        log.warning("level %d: skipped %d of %d recorded matches%s", level, len(skipped), matches, more)
