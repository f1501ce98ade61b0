"""Stage 1: play the matches of a level and write its dataset.

A stage whose dataset exists and was made with the same settings is skipped. The matches are cut into shards, which
workers of an executor play.
"""

import hashlib
import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

from selfplay.checks import fields_of
from selfplay.dataset.formats import DATASET_FORMATS, DatasetFormat
from selfplay.errors import SettingError, StageError
from selfplay.executors import Executor, TaskFiles, open_executor
from selfplay.files import digests_of, sha256
from selfplay.learners.learner import Learner, LevelInputs, Source
from selfplay.learners.learner_calls import asked, errors_of_learner
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.levels import is_rated_unmixed, load_agent
from selfplay.runs.manifest import Stage, code_of
from selfplay.settings.common import recorded_defaults, stage_record
from selfplay.settings.recorded import record_run_settings
from selfplay.stages.learning_run import LearningRun, Level, resources_of

log = logging.getLogger(__name__)

MOST_NAMED = 100
"""The largest number of skipped matches that are named."""

RECORDS = "records"
"""The folder of the copies of the files of matches that a learner reads."""


def make_dataset(
    run: LearningRun, number: int, progress: ProgressBar = NoProgress, executor: Executor | None = None
) -> bool:
    """Play the matches of level `number` and write its dataset; False if that was done already, or if the next level
    learns from no dataset.

    `executor`: runs the shards; None: that of the settings. Raises SettingError, StageError, InvalidFileError.
    """
    next_level = run.level(number + 1)
    settings = next_level.settings
    if number not in next_level.inputs.datasets:
        log.info("level %d: no dataset with learner=%s, skipped", number, settings.learner.name)
        return False
    agents = _playing_agents(run, next_level)
    record = stage_record(settings, "generation") | {"level": number} | _inputs(run, agents, next_level.source)
    if (learner := playing_learner(run, next_level)) != next_level.learner:
        record["is_unmixed"] = True
    stage = Stage("generation", run.stage_folder(number), record, recorded_defaults(settings), settings.force)
    if stage.is_done(f"level {number}: matches already generated"):
        return False
    given = nullcontext(executor) if executor else open_executor(settings.executor, settings.threads)
    with given as chosen, stage.making() as made:
        path = stage.folder / run.folder.dataset(number, settings.dataset.format).name
        playing = Playing(run, learner, number)
        rows = _write_dataset(path, playing, next_level, agents, stage, chosen, progress)
        made.counts, made.files = {"matches": settings.matches, "rows": rows}, [path.name]
        record_run_settings(run.folder, run.settings)
    return True


def playing_learner(run: LearningRun, next_level: Level) -> Learner:
    """The learner that plays the matches of a level: without random matches in its searches where the rating of the
    level has found that it is better without them. Raises InvalidFileError for a broken rating."""
    learner = next_level.learner
    share, _ = asked(learner, learner.mixed_rollouts, tuple)
    if share and is_rated_unmixed(run.folder, next_level.number - 1):
        return asked(learner, learner.unmixed, Learner)
    return learner


def _playing_agents(run: LearningRun, next_level: Level) -> list[Path]:
    """The files of the agents that play, that of the level itself last. Raises SettingError, StageError."""
    number, opponents = next_level.number - 1, next_level.inputs.opponents
    itself, own = run.playing_agent(number), run.settings.agent_file
    if own is not None and (number == 0 or opponents):
        raise SettingError(f"agent_file={own}: set level to 1 or more, and no earlier opponents")
    return [*run.agents(opponents), *([] if itself is None else [itself])]


def _inputs(run: LearningRun, agents: Sequence[Path], source: Source) -> dict[str, Any]:
    """What the dataset of a level depends on besides recorded settings."""
    inputs = digests_of(agents, newest="agent_sha256", others="opponents_sha256")
    if run.settings.opponent is not None:
        inputs["opponent"] = run.settings.opponent
    if source.files:
        inputs["records_sha256"] = hashlib.sha256("".join(map(sha256, source.files)).encode()).hexdigest()
    return inputs


@dataclass(frozen=True)
class Playing:
    """How the matches of a level are played. Shards in one process share it, and with it the agents."""

    run: LearningRun
    learner: Learner
    level: int

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.run, self.learner, self.level)

    @cached_property
    def inputs(self) -> LevelInputs:
        """What the learner gets. Raises StageError, InvalidFileError."""
        game, settings, file = self.run.game, self.run.settings, self.run.playing_agent(self.level)
        agent = None if file is None else load_agent(file, game, f"level {self.level}")
        resources = resources_of(self.run, self.learner)
        return LevelInputs(game, agent, settings.seed, self.level, opponent=settings.opponent, resources=resources)


class Shard(NamedTuple):
    """A part of a level's matches. Its rows do not depend on where or with which other shards it is played."""

    playing: Playing
    number: int
    """From 0."""
    matches: range


def shards_of(playing: Playing, matches: int) -> Iterator[Shard]:
    """The shards of this number of matches, in order."""
    size, numbers = playing.run.settings.dataset.shard_matches, range(matches)
    for number, start in enumerate(range(0, matches, size)):
        yield Shard(playing, number, numbers[start : start + size])


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
    run, skipped = shard.playing.run, list[tuple[int, str]]()
    form: DatasetFormat = DATASET_FORMATS[run.settings.dataset.format]
    with run.settings.computing(), fields_of("player", "depth", "temperature"):
        inputs = shard.playing.inputs
        resources = replace(inputs.resources, on_skipped=lambda *found: skipped.append(found))
        # A learner may play the matches while their rows are encoded.
        with errors_of_learner(shard.playing.learner):
            parts = shard.playing.learner.generate(replace(inputs, resources=resources), shard.matches)
            return PlayedShard(*form.encode(parts, run.game.observation_codec), skipped)


def _write_dataset(
    path: Path,
    playing: Playing,
    next_level: Level,
    agents: Sequence[Path],
    stage: Stage,
    executor: Executor,
    progress: ProgressBar,
) -> int:
    """Play the matches that are not written yet; returns the number of rows of the dataset.

    Shards that an interrupted run wrote with the same record are kept. `agents`: the files of the levels that play.
    """
    settings, source, level = next_level.settings, next_level.source, next_level.number - 1
    start, size = time.perf_counter(), settings.dataset.shard_matches
    files = _files_of_shards(playing, agents, source)
    form: DatasetFormat = DATASET_FORMATS[settings.dataset.format]
    with (
        closing(progress(total=settings.matches, desc=f"level {level}: matches")) as bar,
        form.written(path, {**stage.record, **code_of(stage.record), "shard_matches": size}) as writer,
    ):
        rows, skipped = sum(writer.written.values()), dict(writer.remarks)
        missing = [shard for shard in shards_of(playing, settings.matches) if shard.number not in writer.written]
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


def _files_of_shards(playing: Playing, agents: Sequence[Path], source: Source) -> TaskFiles[Shard]:
    """The files that shards read, for workers that do not have them."""
    run, learner = playing.run, playing.learner
    names_players = run.settings.opponent or learner.named_players()
    files = run.task_files([*agents, *(run.folder.player_files() if names_players else ())], run.outside_files)
    records = {f"{RECORDS}/{number:06d}{path.suffix}": path for number, path in enumerate(source.files)}
    return TaskFiles({**files.paths, **records}, partial(_moved, source.parameter))


def _moved(parameter: str, shard: Shard, folder: Path) -> Shard:
    """The same shard, which reads the copies of its files in this folder; those of matches are named by a parameter."""
    playing = replace(shard.playing, run=shard.playing.run.moved(folder, shard.playing.run.outside_files))
    if records := sorted(map(str, (folder / RECORDS).glob("*"))):
        copies: dict[str, Any] = {parameter: records}
        playing = replace(playing, learner=replace(playing.learner, **copies))
    return shard._replace(playing=playing)


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
