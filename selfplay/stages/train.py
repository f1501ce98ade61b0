"""Stage 2: train a level on the matches of the level before it.

Level 0 is the random player. Level L plays the matches of its dataset; training on that dataset, from the weights of
level L, gives level L + 1. A level whose files were made with the same settings is skipped.
"""

import logging
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from selfplay.agents.agent import Agent
from selfplay.agents.checkpoints import Checkpoint, save_checkpoint
from selfplay.architectures import option_defaults
from selfplay.compute.process import process_count
from selfplay.dataset.formats import DATASET_FORMATS, DatasetFormat, format_of
from selfplay.dataset.rows import Rows
from selfplay.errors import InvalidFileError, SelfPlayError, SettingError, StageError, is_out_of_memory
from selfplay.figures.tensorboard import add_missing_events, epoch_events
from selfplay.files import digests_of, read_bytes, sha256, written_whole
from selfplay.learners.learner import LevelInputs, TrainedLevel
from selfplay.learners.learner_calls import asked, check_trained
from selfplay.learners.policy import with_policies
from selfplay.named_players.make import files_of_player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.levels import load_agent
from selfplay.runs.manifest import Made, Manifest, Stage, check_against_manifest
from selfplay.runs.run_folder import LEARNER_FILE
from selfplay.settings.common import recorded_defaults, stage_record
from selfplay.settings.recorded import record_run_settings
from selfplay.settings.run import Settings
from selfplay.stages.learning_run import LearningRun, Level, resources_of
from selfplay.training.epochs import Callback, Callbacks, MovesBar, write_epochs
from selfplay.training.fitting import initial_network
from selfplay.training.process_group import SINGLE_PROCESS, ProcessGroup, joined_process_group

log = logging.getLogger(__name__)


def make_level(
    run: LearningRun, number: int, progress: ProgressBar = NoProgress, callbacks: Sequence[Callback] = ()
) -> bool:
    """Train level `number` on the dataset of the level before it; False if it was already trained.

    Callbacks are called in the first process. Of several processes only rank 0 writes, logs and shows progress. Raises
    SettingError, StageError, InvalidFileError.
    """
    if number < 1:
        raise SettingError(f"level={number}: level 0 is the random player; levels from 1 are trained")
    level = run.level(number)
    count = process_count()
    asked(level.learner, level.learner.check_processes, object, count)
    inputs = training_inputs(run, level)
    joined = joined_process_group(run.settings.device) if count > 1 else nullcontext(SINGLE_PROCESS)
    with joined as processes, _lack_of_memory_explained(level):
        is_first = processes.rank == 0
        stage = inputs.stage(count)
        is_done = is_first and stage.is_done(f"level {number}: already trained")
        if count > 1:
            is_done = bool(processes.broadcast(is_done))
        if not is_done:
            if is_first:
                inputs.check()
            told = Callbacks(callbacks if is_first else ())
            start = inputs.start_agent()
            with stage.making() if is_first else nullcontext(Made()) as made:
                began = time.perf_counter()
                trained = _train(inputs, start, processes, progress if is_first else NoProgress, told)
                if is_first:
                    made.counts = {"rows": trained.num_rows, **trained.counts}
                    made.counts |= {"stopped": 1} if told.has_stopped else {}
                    made.files = _write(stage.folder, run, level, trained, time.perf_counter() - began)
                    record_run_settings(run.folder, run.settings)
    if is_first and _writes_events(run.settings):
        add_missing_events(run.folder, number)
    return not is_done


def _train(
    inputs: "TrainingInputs", start: Agent, processes: ProcessGroup, progress: ProgressBar, callbacks: Callback
) -> TrainedLevel:
    """The level, trained by its learner together with the other processes."""
    run, level, memory = inputs.run, inputs.level, inputs.memory
    settings, learner, number, game = level.settings, level.learner, level.number, run.game
    events: AbstractContextManager[Callback] = nullcontext(Callback())
    if processes.rank == 0 and _writes_events(settings):
        events = epoch_events(run.folder, number)
    elif processes.rank == 0 and settings.output_dir is None:
        # Those of an earlier training.
        shutil.rmtree(run.folder.level_events(number), ignore_errors=True)
    steps, what = asked(learner, learner.steps, (int, str), game, settings.matches)
    with closing(progress(total=steps, desc=f"level {number}: {what}")) as bar, events as writer:
        told = Callbacks([MovesBar(bar), writer, callbacks])
        resources = resources_of(
            run,
            learner,
            first_level=level.first_level,
            processes=processes,
            folder=run.folder.path,
            on_epoch=partial(told.on_epoch, number),
            on_step=partial(told.on_round, number),
        )
        remembered = None if memory is None else read_bytes(memory)
        given = LevelInputs(game, start, settings.seed, number, settings.matches, remembered, resources=resources)
        try:
            with _lack_of_memory_explained(level):
                trained = asked(learner, learner.train, TrainedLevel, given, inputs.rows())
        except ValueError as error:
            if memory is None or isinstance(error, SelfPlayError):
                raise
            raise InvalidFileError(memory, f"{error}; delete it, or train the level before again") from error
        if processes.rank == 0:
            check_trained(learner, trained, settings.architecture, game)
        return trained


def _writes_events(settings: Settings) -> bool:
    """Whether events for TensorBoard are written; they are in the run."""
    return settings.logger == "tensorboard" and settings.output_dir is None


@contextmanager
def _lack_of_memory_explained(level: Level) -> Iterator[None]:
    """Raise StageError, with the fix, if memory runs out."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        fixes = [*asked(level.learner, level.learner.less_memory, Iterable), "fewer matches with another run_dir"]
        fix = f"set {' or '.join(fixes)}"
        raise StageError(f"level {level.number}: its rows do not fit into memory; {fix}") from error


def _write(folder: Path, run: LearningRun, level: Level, trained: TrainedLevel, seconds: float) -> list[str]:
    """Write the files of the level; returns their names."""
    settings, number = level.settings, level.number
    files = [run.folder.agent(number).name, run.folder.epoch_loss(number).name]
    with written_whole(folder / files[0]) as beside:
        architecture = trained.architecture or settings.architecture
        training, outcome = asked(level.learner, level.learner.recorded, dict), level.learner.outcome
        save_checkpoint(beside, trained.network, run.game, number, architecture, training, outcome)
    with written_whole(folder / files[1]) as beside:
        write_epochs(beside, trained.epochs)
    if trained.memory is not None:
        files.append(LEARNER_FILE)
        with written_whole(folder / LEARNER_FILE) as beside:
            beside.write_bytes(trained.memory)
    best = min(trained.epochs, key=lambda epoch: epoch.judged)
    what = f"{best.judged_by.replace('_', ' ')} {best.judged:.4f}"
    log.info("level %d: trained on %d rows, %s (%.2f s)", number, trained.num_rows, what, seconds)
    return files


@dataclass(frozen=True)
class TrainingInputs:
    """The files that a level is trained from, found by `training_inputs`."""

    run: LearningRun
    level: Level
    datasets: list[Path]
    """The datasets that it is trained on, the newest last; none where it learns while it plays."""
    start: Path | None
    """The agent from which it starts; None: fresh weights."""
    memory: Path | None
    """The file from which the learner continues, in addition to the weights; None: it begins anew."""
    rivals: list[Path]
    """The agents of earlier levels that the training needs besides `start`, such as that of a gate."""

    def stage(self, processes: int) -> Stage:
        """The stage, with everything that the files of the level depend on: settings, number of processes, digests."""
        settings, number = self.level.settings, self.level.number
        record = stage_record(settings, "training") | {"level": number}
        record |= digests_of(self.datasets, newest="dataset_sha256", others="replayed_sha256")
        record |= digests_of(self.rivals, newest="gate_sha256", others="rivals_sha256")
        for name, file in (("start_sha256", self.start), ("learner_sha256", self.memory)):
            if file is not None:
                record[name] = sha256(file)
        if names := self.level.inputs.players:
            record["players_sha256"] = [
                sha256(file) for name in names for file in files_of_player(name, settings.run_dir)
            ]
        if processes > 1:
            record["processes"] = processes
        options = option_defaults(settings.architecture["name"])
        defaults = recorded_defaults(settings) | {f"architecture.{name}": value for name, value in options.items()}
        return Stage("training", self.run.stage_folder(number), record, defaults, settings.force)

    def start_agent(self) -> Agent:
        """The agent from which the training starts. Raises as `initial_network`; a StageError names what to change."""
        settings, game, number = self.level.settings, self.run.game, self.level.number
        before = None if self.start is None else load_agent(self.start, game)
        self.level.require_start(has_start=before is not None)
        if before is not None and self.level.inputs.start == "agent":
            return before
        try:
            network = initial_network(
                game,
                settings.architecture,
                seed=settings.seed,
                level=number,
                numerics=settings.numerics,
                start=before,
            )
        except StageError as error:
            raise StageError(f"{error}; set that architecture, or another run_dir") from error
        return Agent(Checkpoint(network, self.level.metadata), game, f"level {number}")

    def rows(self) -> Iterator[Rows]:
        """The rows that the level is trained on, in parts; none where it learns while it plays."""
        settings, game = self.level.settings, self.run.game
        learner, own = self.level.learner, settings.dataset_file
        learns_policy = asked(learner, learner.learns_policy, bool)
        usual: DatasetFormat = DATASET_FORMATS[settings.dataset.format]
        # Matches of different levels get different numbers, so that each is held out independently of the others.
        levels = [self.run.level(number + 1) for number in self.level.inputs.datasets]
        most = max((level.settings.matches for level in levels), default=0)
        for number, path in enumerate(self.datasets):
            form = usual if own is None or path != Path(own) else format_of(path, usual)
            for part in form.read(path, game.observation_codec):
                try:
                    usable = with_policies(part, game) if learns_policy else part._replace(policy=None)
                except ValueError as error:
                    remedy = "" if settings.dataset_file else "; generate it again with force=true"
                    raise InvalidFileError(path, f"{error}{remedy}") from error
                yield usable._replace(match=part.match + number * most)

    def check(self) -> None:
        """Raise StageError for a dataset, and InvalidFileError for an agent, that differs from its manifest."""
        for path in (self.start, self.memory):
            if path is not None:
                check_against_manifest(path)
        own = None if self.run.settings.dataset_file is None else self.datasets[-1]
        for path in self.datasets:
            recorded = Manifest(path.parent).sections.get("generation", {"files": {}})["files"]
            # A dataset file of the user may have no manifest.
            if recorded.get(path.name) != sha256(path) and (path != own or path.name in recorded):
                remedy = "generate it again with force=true" if path != own else "to train on it, copy it elsewhere"
                raise StageError(f"{path} differs from its manifest; {remedy}")


def training_inputs(run: LearningRun, level: Level) -> TrainingInputs:
    """Find the inputs of the training of a level. Raises StageError."""
    inputs, number = level.inputs, level.number
    datasets = _datasets(run, level) if inputs.datasets else []
    start = None
    if run.settings.start_file is not None:
        start = Path(run.settings.start_file)
    elif inputs.start != "fresh":
        start = run.folder.existing_agent(number - 1) if number > 1 else run.first_agent
    memory = None
    if start is not None and number > level.first_level and (beside := start.with_name(LEARNER_FILE)).exists():
        memory = beside
    return TrainingInputs(run, level, datasets, start, memory, run.agents(inputs.rivals))


def _datasets(run: LearningRun, level: Level) -> list[Path]:
    """The datasets that a level is trained on, the newest last. Raises StageError."""
    own, earlier = run.settings.dataset_file, level.inputs.datasets
    if level.number > 1 and own is None:
        run.folder.check_level(level.number - 1)
    datasets = [run.folder.dataset(number, run.settings.dataset.format) for number in earlier]
    if own is not None:
        datasets[-1] = Path(own)
        if not datasets[-1].exists():
            raise StageError(f"dataset_file={own}: does not exist; set a CSV file, a Parquet file or a folder of them")
    for number, path in zip(earlier, datasets, strict=True):
        if not path.exists():
            raise StageError(f"{path} does not exist; generate the matches of level {number} first")
    return datasets
