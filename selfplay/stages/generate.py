"""Stage 1: play the matches of a level and write its dataset.

A stage whose dataset exists and was made with the same settings is skipped. The matches are cut into shards, which
workers of an executor play.
"""

import hashlib
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, NamedTuple

from selfplay.dataset.formats import DATASET_FORMATS, DatasetFormat
from selfplay.errors import SettingError, StageError
from selfplay.executors import Executor
from selfplay.files import sha256
from selfplay.learners.learner import LevelInputs, Source
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.levels import load_agent
from selfplay.runs.manifest import Stage, digests_of
from selfplay.runs.outside_code import code_of
from selfplay.runs.run_folder import RunFolder, writes_run
from selfplay.settings.context import computing, executor_of, first_agent_file, task_files
from selfplay.settings.fields import recorded_defaults, stage_record
from selfplay.settings.recorded import record_run_settings
from selfplay.settings.run import Settings
from selfplay.stages.learner_resources import resources_of, settings_of_dataset
from selfplay.stages.run_check import begin_anew_if_fresh, check_run

log = logging.getLogger(__name__)

MOST_NAMED = 100
"""The largest number of skipped matches that are named."""


@writes_run(create=True)
def generate_level(
    settings: Settings, level: int, progress: ProgressBar = NoProgress, executor: Executor | None = None
) -> bool:
    """Play the matches of `level` and write its dataset; False if that was done already, or if the next level learns
    from no dataset, but from matches that it plays itself.

    Args:
        executor: runs the shards; None: the executor of the settings, opened for this level only.

    Raises:
        RunLockedError: another process or thread is using the run.
        SettingError: a stage of the run would refuse a setting, see `check_run`; or the executor is not available.
        StageError: the level does not exist, its dataset was made with other settings, or it cannot be written.
        InvalidFileError: the file of an agent is missing or broken.
    """
    run_settings, (settings, source) = settings, settings_of_dataset(settings, level + 1)
    if level not in settings.learner.datasets(level + 1):
        log.info("level %d: no dataset with learner=%s, skipped", level, settings.learner.name)
        return False
    begin_anew_if_fresh(run_settings)
    agents = _playing_agents(settings, level)
    record = stage_record(settings, "generation") | {"level": level} | _inputs(settings, agents, source.files)
    run = RunFolder.of(settings)
    folder = run.stage_folder(level, settings.output_dir)
    stage = Stage("generation", folder, record, recorded_defaults(settings), settings.force)
    if stage.is_done(f"level {level}: matches already generated"):
        return False
    check_run(run_settings, is_one_stage=True)
    with ExitStack() as stack:
        chosen = executor or stack.enter_context(executor_of(settings.executor, settings.threads))
        made = stack.enter_context(stage.making())
        path = folder / run.dataset(level, settings.dataset.format).name
        rows = _write_dataset(path, settings, level, agents, source, record, chosen, progress)
        made.counts, made.files = {"matches": settings.matches, "rows": rows}, [path.name]
        record_run_settings(run_settings)
    return True


def playing_agent(settings: Settings, level: int) -> Path | None:
    """The file of the agent that plays the matches of a level; None: the random player. Raises StageError."""
    if settings.agent_file is not None:
        return Path(settings.agent_file)
    return first_agent_file(settings) if level == 0 else RunFolder.of(settings).existing_agent(level)


def _playing_agents(settings: Settings, level: int) -> list[Path]:
    """The files of the agents that play, that of the level itself last. Raises SettingError, StageError."""
    opponents, itself = settings.learner.opponents_of(level), playing_agent(settings, level)
    if settings.agent_file is not None and (level == 0 or opponents):
        raise SettingError(f"agent_file={settings.agent_file}: set level to 1 or more, and no earlier opponents")
    return [*map(RunFolder.of(settings).existing_agent, opponents), *([] if itself is None else [itself])]


def _inputs(settings: Settings, agents: Sequence[Path], records: Sequence[Path]) -> dict[str, Any]:
    """What the dataset of a level depends on besides recorded settings."""
    inputs = digests_of(agents, newest="agent_sha256", others="opponents_sha256")
    if settings.opponent is not None:
        inputs["opponent"] = settings.opponent
    if records:
        inputs["records_sha256"] = hashlib.sha256("".join(map(sha256, records)).encode()).hexdigest()
    return inputs


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
    skipped: list[tuple[int, str]]
    """The recorded matches that were skipped, and why."""


def play_shard(shard: Shard) -> PlayedShard:
    """Play the matches of a shard, or read them."""
    settings, level, skipped = shard.settings, shard.level, list[tuple[int, str]]()
    form: DatasetFormat = DATASET_FORMATS[settings.dataset.format]
    with computing(settings) as context:
        file = playing_agent(settings, level)
        agent = None if file is None else load_agent(file, context.game, f"level {level}")
        resources = resources_of(context, on_skipped=lambda *found: skipped.append(found))
        inputs = LevelInputs(context.game, agent, settings.seed, level, opponent=settings.opponent, resources=resources)
        parts = settings.learner.generate(inputs, shard.matches)
        return PlayedShard(*form.encode(parts, context.game.observation_codec), skipped)


def _write_dataset(
    path: Path,
    settings: Settings,
    level: int,
    agents: Sequence[Path],
    source: Source,
    record: Mapping[str, Any],
    executor: Executor,
    progress: ProgressBar,
) -> int:
    """Play the matches of `level` that are not written yet; returns the number of rows of the dataset.

    Shards that an interrupted run wrote with the same `record` are kept. `agents`: the files of the levels that play.
    """
    start, learner, size = time.perf_counter(), settings.learner, settings.dataset.shard_matches
    names_players = settings.opponent or learner.named_players()
    players = RunFolder.of(settings).player_files() if names_players else ()
    files = task_files(settings, [*agents, *players], source.files)
    form: DatasetFormat = DATASET_FORMATS[settings.dataset.format]
    with (
        closing(progress(total=settings.matches, desc=f"level {level}: matches")) as bar,
        form.written(path, {**record, **code_of(record), "shard_matches": size}) as writer,
    ):
        rows, skipped = sum(writer.written.values()), dict(writer.remarks)
        missing = [shard for shard in shards_of(settings, level) if shard.number not in writer.written]
        if writer.written:
            found = len(writer.written)
            log.info("level %d: %d of %d shards already written", level, found, found + len(missing))
            bar.update(settings.matches - sum(len(shard.matches) for shard in missing))
        for shard, played in zip(missing, executor.map(play_shard, missing, files), strict=True):
            writer.add(shard.number, played.content, played.skipped)
            rows += played.rows
            skipped[shard.number] = played.skipped
            bar.update(len(shard.matches))
        _report_skipped([one for _, found in sorted(skipped.items()) for one in found], source, level)
    seconds, done = time.perf_counter() - start, "read" if source.files else "played"
    log.info("level %d: %s %d matches, %d rows (%.2f s)", level, done, settings.matches, rows, seconds)
    return rows


def _report_skipped(skipped: Sequence[tuple[int, str]], source: Source, level: int) -> None:
    """Name the recorded matches that were skipped. Raises StageError if these are all."""
    lines, matches = [f"{source.place(match)}: {reason}" for match, reason in skipped[:MOST_NAMED]], source.matches
    for line in lines:
        log.warning("skipped %s", line)
    if matches == len(skipped):
        raise StageError(f"level {level}: none of the {matches} recorded matches can be learned from: {lines[0]}")
    if skipped:
        more = f", {len(skipped) - MOST_NAMED} of them not named here" if len(skipped) > MOST_NAMED else ""
        log.warning("level %d: skipped %d of %d recorded matches%s", level, len(skipped), matches, more)
