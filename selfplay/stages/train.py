"""Stage 2: train a level on the matches of the level before it.

Level 0 is the random player. Level L plays the matches of its dataset; training on that dataset, from the weights of
level L, gives level L + 1. A level whose files were made with the same settings is skipped.
"""

import logging
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from torch import nn

from selfplay.architectures import option_defaults
from selfplay.compute.devices import CPU, is_out_of_memory
from selfplay.compute.process import process_count
from selfplay.dataset.formats import DATASET_FORMATS, DatasetFormat
from selfplay.dataset.parquet import ParquetRowGroups
from selfplay.dataset.rows import with_policies
from selfplay.errors import SettingError, StageError
from selfplay.figures.tensorboard import add_missing_events, epoch_events
from selfplay.files import sha256, written_whole
from selfplay.games import Game
from selfplay.players.checkpoints import save_checkpoint
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.epoch_losses import write_epoch_losses
from selfplay.runs.manifest import Manifest, check_against_manifest, naming_force
from selfplay.runs.run_folder import LEARNER_FILE, RunFolder, writes_run
from selfplay.runs.stage import Made, Stage
from selfplay.settings.context import RunContext, computing
from selfplay.settings.fields import recorded_defaults, stage_record
from selfplay.settings.recorded import record_run_settings
from selfplay.settings.run import Settings
from selfplay.stages.gate import pass_gate
from selfplay.stages.run_check import check_run
from selfplay.stages.taught_level import expert_files, teach_level
from selfplay.stages.td_level import learn_level
from selfplay.training.fitting import EpochLoss, FittedLevel, fit, initial_network
from selfplay.training.parameters import OPTIMIZERS
from selfplay.training.process_group import ProcessGroup, joined_process_group
from selfplay.training.rows_in_memory import RowsInMemory, TrainingRows
from selfplay.training.streaming import StreamedRows

log = logging.getLogger(__name__)


@writes_run(create=True)
def train_level(settings: Settings, level: int, progress: ProgressBar = NoProgress) -> bool:
    """Train `level` on the dataset of the level before it; returns False if it was already trained.

    Processes started by torchrun train the level together; only rank 0 writes, logs and shows progress.

    Raises:
        RunLockedError: another process or thread is using the run.
        SettingError: level 0, which is not trained; a stage of the run would refuse a setting, see `check_run`; or an
            optimizer that does not support several processes.
        StageError: a dataset or the initial weights do not exist; the level was made with other settings; or the rows
            do not fit into memory.
        InvalidFileError: a dataset is broken.
    """
    plan = plan_training(settings, level)
    with joined_process_group(settings.device) as processes, _lack_of_memory_explained(settings, level):
        is_first = processes.is_rank_zero
        record = plan.record(processes.world_size) if is_first else {}
        stage = Stage("training", plan.folder, record, plan.defaults(), settings.force)
        if processes.broadcast(is_first and stage.is_done(f"level {level}: already trained")):
            if is_first:
                _add_missing_events(settings, level)
            return False
        if is_first:
            check_run(settings, is_one_stage=True)
            plan.check_inputs()
        with computing(settings) as context, naming_force(), ExitStack() as stack:
            is_taught = settings.is_taught(level)
            network = None if is_taught else plan.network(context.game)
            if is_first:
                # Events of an earlier training are no longer valid.
                shutil.rmtree(plan.run.level_events(level), ignore_errors=True)
            made = stack.enter_context(stage.making() if is_first else nullcontext(Made()))
            if network is None:
                assert plan.start is not None, "taught levels are not the first"
                fitted = teach_level(context, level, plan.start, plan.learner, progress)
            elif settings.learns_online:
                fitted = learn_level(context, level, network, plan.learner, progress)
            else:
                fitted = _fit_to_datasets(plan, context, network, processes, progress if is_first else NoProgress)
            if is_first:
                made.counts = {"rows": fitted.num_rows}
                if plan.gate_agent is not None:
                    made.counts |= pass_gate(context, level, plan.gate_agent, fitted)
                made.files = _write(plan, fitted)
                if settings.output_dir is None:
                    record_run_settings(settings)
    if is_first:
        _add_missing_events(settings, level)
    return True


def _add_missing_events(settings: Settings, level: int) -> None:
    if settings.output_dir is None and settings.logger != "none":
        add_missing_events(settings, level)


@dataclass(frozen=True)
class TrainingPlan:
    """The inputs of the training of a level."""

    settings: Settings
    run: RunFolder
    level: int
    datasets: list[Path]
    """The datasets that it is trained on, the newest last; none where it learns while it plays."""
    start: Path | None
    """The agent whose weights it starts from; None: fresh weights."""
    gate_agent: Path | None = None
    """The agent against which it must pass the gate; None: there is no gate."""

    @property
    def folder(self) -> Path:
        """The folder of the files of the level."""
        return self.run.stage_folder(self.level, self.settings.output_dir)

    @property
    def learner(self) -> Path | None:
        """The file from which learning online continues, in addition to the weights; None: it begins anew."""
        first = self.settings.expert.from_level if self.settings.is_taught(self.level) else 1
        if self.start is None or not self.settings.learns_online or self.level == first:
            return None
        beside = self.start.with_name(LEARNER_FILE)
        return beside if beside.exists() else None

    @cached_property
    def digests(self) -> list[str]:
        """The SHA-256 of each dataset."""
        return [sha256(path) for path in self.datasets]

    def record(self, processes: int) -> dict[str, Any]:
        """Everything that the files of the level depend on: settings, number of processes, digests of files."""
        record = stage_record(self.settings, "training") | {"level": self.level}
        if self.digests:
            record["dataset_sha256"] = self.digests[-1]
        if self.digests[:-1]:
            record["replayed_sha256"] = self.digests[:-1]
        if processes > 1:
            record["processes"] = processes
        if self.start is not None:
            record["start_sha256"] = sha256(self.start)
        if self.learner is not None:
            record["learner_sha256"] = sha256(self.learner)
        if self.settings.is_taught(self.level):
            record["expert_sha256"] = [sha256(path) for path in expert_files(self.settings)]
        if self.gate_agent is not None:
            record["gate_sha256"] = sha256(self.gate_agent)
        return record

    def defaults(self) -> dict[str, Any]:
        """What each setting is where it is not recorded; the defaults of options are in the network's class."""
        options = option_defaults(self.settings.architecture["name"])
        return recorded_defaults(self.settings) | {f"architecture.{name}": value for name, value in options.items()}

    def network(self, game: Game) -> nn.Module:
        """The network from which the training starts, see `selfplay.training.fitting.initial_network`.

        Raises as it does; a StageError names the setting to change.
        """
        settings = self.settings
        try:
            return initial_network(
                game,
                settings.architecture,
                seed=settings.seed,
                level=self.level,
                numerics=settings.numerics,
                start=self.start,
            )
        except StageError as error:
            raise StageError(f"{error}; set another run_dir") from error

    def check_inputs(self) -> None:
        """Raise StageError for a dataset, and InvalidFileError for an agent, that differs from its manifest."""
        if self.start is not None:
            check_against_manifest(self.start)
        for path, digest in zip(self.datasets, self.digests, strict=True):
            section = Manifest(path.parent).sections.get("generation", {"files": {}})
            # A dataset file of the user may have no manifest.
            is_own = self.settings.dataset_file is not None and path.name not in section["files"]
            if section["files"].get(path.name) != digest and not is_own:
                raise StageError(f"{path} differs from its manifest; generate it again with force=true")


def plan_training(settings: Settings, level: int) -> TrainingPlan:
    """Find the inputs of the training of `level`. Raises SettingError, StageError as `train_level`."""
    if level < 1:
        raise SettingError(f"level={level}: level 0 is the random player; levels from 1 are trained")
    optimizer = settings.training.optimizer.name
    in_one_process = {
        f"learning={settings.learning}": settings.learns_online,
        f"targets={settings.targets}": settings.has_policies,
        f"training.optimizer.name={optimizer}": process_count() > 1 and OPTIMIZERS[optimizer].one_process_only,
    }
    for setting, is_alone in in_one_process.items():
        if is_alone and process_count() > 1:
            raise SettingError(f"{setting} trains in one process; start it without torchrun")
    run = RunFolder.of(settings)
    datasets = [] if settings.learns_online else _datasets(settings, run, level)
    start = gate_agent = None
    if settings.start_file is not None:
        start = Path(settings.start_file)
    elif level > 1 and (settings.learns_online or settings.training.start != "fresh"):
        start = run.existing_agent(level - 1)
    if level > 1 and settings.gate is not None:
        gate_agent = run.existing_agent(level - 1)
    return TrainingPlan(settings, run, level, datasets, start, gate_agent)


def _datasets(settings: Settings, run: RunFolder, level: int) -> list[Path]:
    """The datasets that a level is trained on, the newest last. Raises StageError."""
    if level > 1 and settings.dataset_file is None:
        run.check_level(level - 1)
    earlier = range(max(0, level - 1 - settings.dataset.replay), level)
    datasets = [run.dataset(number, settings.dataset.format) for number in earlier]
    if settings.dataset_file is not None:
        datasets[-1] = Path(settings.dataset_file)
        if not datasets[-1].exists():
            raise StageError(
                f"dataset_file={datasets[-1]}: does not exist; set a CSV file or a folder of Parquet files"
            )
    for number, path in zip(earlier, datasets, strict=True):
        if not path.exists():
            raise StageError(f"{path} does not exist; generate the matches of level {number} first")
    return datasets


@contextmanager
def _lack_of_memory_explained(settings: Settings, level: int) -> Iterator[None]:
    """Raise StageError, with the fix, if memory runs out."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        raise StageError(f"level {level}: its rows do not fit into memory; {_less_memory(settings)}") from error


def _less_memory(settings: Settings) -> str:
    """The settings to change if rows do not fit into memory."""
    if settings.learns_online or settings.has_policies or settings.dataset.buffer_rows is not None:
        return "set fewer matches, with another run_dir"
    wanted = ["dataset.buffer_rows=1000000"]
    if settings.training.merge:
        wanted.append("training.merge=false")
    if DATASET_FORMATS[settings.dataset.format].has_parts:
        return f"{' and '.join(wanted)} {'reads' if len(wanted) == 1 else 'read'} them in parts"
    return f"with another run_dir, {', '.join(wanted)} and dataset.format=parquet read them in parts"


def _fit_to_datasets(
    plan: TrainingPlan,
    context: RunContext[Settings],
    network: nn.Module,
    processes: ProcessGroup,
    progress: ProgressBar,
) -> FittedLevel:
    """The level, fitted to its datasets together with the other processes."""
    settings, level, game, how = plan.settings, plan.level, context.game, plan.settings.training
    form: DatasetFormat = DATASET_FORMATS[settings.dataset.format]
    rows: TrainingRows
    if (buffer_rows := settings.dataset.buffer_rows) is None:
        # Matches of different levels get different numbers, so that each is held out independently of the others.
        num_actions = game.num_distinct_actions if settings.has_policies else 0
        parts = (
            with_policies(path, part, num_actions)._replace(match=part.match + number * settings.matches)
            for number, path in enumerate(plan.datasets)
            for part in form.read(path, game.observation_codec)
        )
        rows = RowsInMemory(game, parts)
    else:
        groups = [ParquetRowGroups(path, game.observation_codec) for path in plan.datasets]
        rows = StreamedRows(game, groups, settings.matches, buffer_rows)
    began = time.perf_counter()
    device = CPU if OPTIMIZERS[how.optimizer.name].runs_on_cpu_only else context.device
    events: AbstractContextManager[Callable[[EpochLoss], None]] = nullcontext(lambda _: None)
    if processes.is_rank_zero and settings.logger != "none":
        events = epoch_events(settings, level)
    with closing(progress(total=how.epochs, desc=f"level {level}: epochs")) as bar, events as write_event:

        def on_epoch(loss: EpochLoss) -> None:
            bar.update(1)
            write_event(loss)

        losses = fit(
            network,
            rows,
            how,
            seed=settings.seed,
            level=level,
            loss=settings.loss,
            device=device,
            processes=processes,
            on_epoch=on_epoch,
        )
    return FittedLevel(network, game, losses, rows.num_rows, time.perf_counter() - began)


def _write(plan: TrainingPlan, fitted: FittedLevel) -> list[str]:
    settings, level, run = plan.settings, plan.level, plan.run
    files = [run.agent(level).name, run.epoch_loss(level).name]
    with written_whole(plan.folder / files[0]) as beside:
        online = settings.expert if settings.is_taught(level) else settings.td
        training = asdict(online if settings.learns_online else settings.training)
        architecture = fitted.architecture or settings.architecture
        save_checkpoint(beside, fitted.network, fitted.game, level, architecture, training, settings.outcome)
    with written_whole(plan.folder / files[1]) as beside:
        write_epoch_losses(beside, fitted.losses)
    if fitted.learner_file is not None:
        files.append(LEARNER_FILE)
        with written_whole(plan.folder / LEARNER_FILE) as beside:
            beside.write_bytes(fitted.learner_file)
    best = min(loss.validation_loss for loss in fitted.losses)
    rows, seconds = fitted.num_rows, fitted.seconds
    log.info("level %d: trained on %d rows, validation loss %.4f (%.2f s)", level, rows, best, seconds)
    return files
