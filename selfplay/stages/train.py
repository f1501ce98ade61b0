"""Stage 2: train a level on the matches of the level before it.

Level 0 is the random player. Level L plays the matches of its dataset; training on that dataset, from the weights of
level L, gives level L + 1. This file finds what a level is trained from, skips a level whose files were made with the
same settings, and writes; `selfplay.stages.fit_level` computes.
"""

import logging
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfplay.compute.devices import is_out_of_memory
from selfplay.errors import SettingError, StageError
from selfplay.files import sha256, written_whole
from selfplay.process_exit import process_count
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.manifest import Manifest, record_run_settings
from selfplay.runs.run_folder import LEARNER_FILE, RunFolder
from selfplay.settings.choices import OPTIMIZERS
from selfplay.settings.fields import recorded_defaults, stage_record
from selfplay.settings.run import Settings
from selfplay.training.process_group import ProcessGroup, joined_process_group

# torch is imported inside the functions: a skipped stage then takes 0.4 s instead of 1.4 s.
if TYPE_CHECKING:
    from selfplay.stages.fit_level import FittedLevel
    from selfplay.training.fitting import EpochLoss

log = logging.getLogger(__name__)


def train_level(settings: Settings, level: int, progress: ProgressBar = NoProgress) -> bool:
    """Train `level` on the dataset of the level before it; returns False if it was already trained.

    Processes started by torchrun train the level together; only rank 0 writes, logs and shows progress.

    Raises:
        SettingError: level 0, which is not trained; a device that does not exist; or an optimizer that does not support
            several processes.
        StageError: a dataset or the initial weights do not exist; the level was made with other settings; or the rows
            do not fit into memory.
        InvalidFileError: a dataset is broken.
    """
    plan = plan_training(settings, level)
    with joined_process_group(settings.device) as processes, _lack_of_memory_explained(level):
        if not processes.is_rank_zero:
            is_done = bool(processes.broadcast(False))
            if not is_done:
                from selfplay.stages.fit_level import fit_level, training_rows

                rows = training_rows(settings, level, plan.datasets, processes)
                fit_level(settings, level, plan.start, rows, processes)
            return not is_done
        manifest, record = Manifest(plan.folder), plan.record(processes.world_size)
        is_done = manifest.is_done("training", record, plan.default_of, force=settings.force)
        if processes.broadcast(is_done):
            log.info("level %d: already trained, skipped", level)
            if settings.output_dir is None and settings.logger != "none":
                from selfplay.figures.tensorboard import add_missing_events

                add_missing_events(settings, level)
            return False
        fit = _learn_while_playing if settings.learns_online else _fit_to_datasets
        fitted = fit(plan, processes, progress)
    counts = {"rows": fitted.num_rows}
    if plan.gate_agent is not None:
        from selfplay.stages.fit_level import pass_gate

        counts |= pass_gate(settings, level, plan.gate_agent, fitted)
    files = _write(plan, fitted)
    if settings.output_dir is None:
        record_run_settings(settings)
    manifest.record("training", record, counts, files)
    return True


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
    """The agent that it must play well against; None: it is taken in any case."""

    @property
    def folder(self) -> Path:
        """The folder of the files of the level."""
        return self.run.stage_folder(self.level, self.settings.output_dir)

    @property
    def learner(self) -> Path | None:
        """The file of what temporal-difference learning continues with besides weights; None: it begins."""
        beside = None if self.start is None else self.start.with_name(LEARNER_FILE)
        return beside if beside is not None and self.settings.learns_online and beside.exists() else None

    @cached_property
    def digests(self) -> list[str]:
        """The SHA-256 of each dataset."""
        return [sha256(path) for path in self.datasets]

    def record(self, processes: int) -> dict[str, Any]:
        """Everything that the files of the level depend on: settings, number of processes, digests of files."""
        record = stage_record(self.settings, "training", level=self.level) | {"level": self.level}
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
        if self.gate_agent is not None:
            record["gate_sha256"] = sha256(self.gate_agent)
        return record

    def default_of(self, name: str) -> object:
        """The default of a recorded setting; the default of an option of the network is in the network's class."""
        section, _, option = name.partition(".")
        if section != "architecture":
            return recorded_defaults(self.settings, "training").get(name)
        # Imported here, because it imports torch, and only a setting that was not recorded needs it.
        from selfplay.architectures import option_defaults

        return option_defaults(self.settings.architecture["name"]).get(option)

    def check_datasets(self) -> None:
        """Raise StageError for a dataset that differs from what its manifest describes."""
        for path, digest in zip(self.datasets, self.digests, strict=True):
            section = Manifest(path.parent).sections.get("generation", {"files": {}})
            # A dataset file of one's own need not have a manifest.
            is_own = self.settings.dataset_file is not None and path.name not in section["files"]
            if section["files"].get(path.name) != digest and not is_own:
                raise StageError(f"{path} differs from its manifest; generate it again with force=true")


def plan_training(settings: Settings, level: int) -> TrainingPlan:
    """Find the inputs of the training of `level`. Raises SettingError, StageError as `train_level`."""
    if level < 1:
        raise SettingError(f"level={level}: level 0 is the random player; levels from 1 are trained")
    optimizer = settings.training.optimizer.name
    if process_count() > 1 and OPTIMIZERS[optimizer].one_process_only:
        raise SettingError(f"training.optimizer.name={optimizer} trains in one process; start it without torchrun")
    if process_count() > 1 and settings.has_policies:
        raise SettingError(f"targets={settings.targets} trains in one process; start it without torchrun")
    run = RunFolder.of(settings)
    if settings.learns_online:
        return _plan_online(settings, run, level)
    starts_fresh = level == 1 or settings.training.start == "fresh"
    if level > 1 and not (settings.dataset_file and (settings.start_file or starts_fresh)):
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
    start = None if starts_fresh else run.agent(level - 1)
    if settings.start_file is not None:
        start = Path(settings.start_file)
    gate_agent = None
    if settings.gate is not None and level > 1:
        run.check_level(level - 1)
        gate_agent = run.agent(level - 1)
    return TrainingPlan(settings, run, level, datasets, start, gate_agent)


def _plan_online(settings: Settings, run: RunFolder, level: int) -> TrainingPlan:
    """The inputs where levels learn while they play. Raises as `plan_training`."""
    if process_count() > 1:
        raise SettingError(f"learning={settings.learning} trains in one process; start it without torchrun")
    if settings.start_file is not None:
        return TrainingPlan(settings, run, level, [], Path(settings.start_file))
    if level > 1:
        run.check_level(level - 1)
    return TrainingPlan(settings, run, level, [], run.agent(level - 1) if level > 1 else None)


@contextmanager
def _lack_of_memory_explained(level: int) -> Iterator[None]:
    """Raise StageError, with the fix, if memory runs out."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        raise StageError(
            f"level {level}: its rows do not fit into memory; dataset.buffer_rows=1000000 reads them in parts"
        ) from error


def _fit_to_datasets(plan: TrainingPlan, processes: ProcessGroup, progress: ProgressBar) -> "FittedLevel":
    """The level, fitted to its datasets."""
    from selfplay.figures.tensorboard import epoch_events
    from selfplay.stages.fit_level import fit_level, training_rows

    settings, level = plan.settings, plan.level
    plan.check_datasets()
    rows = training_rows(settings, level, plan.datasets, processes)
    Manifest(plan.folder).forget("training")
    with (
        closing(progress(total=settings.training.epochs, desc=f"level {level}: epochs")) as bar,
        epoch_events(settings, level) as write_events,
    ):

        def on_epoch(loss: "EpochLoss") -> None:
            bar.update(1)
            write_events(loss)

        return fit_level(settings, level, plan.start, rows, processes, on_epoch)


def _learn_while_playing(plan: TrainingPlan, _: ProcessGroup, progress: ProgressBar) -> "FittedLevel":
    """The level, trained on each match as it was played."""
    from selfplay.stages.td_level import learn_level

    Manifest(plan.folder).forget("training")
    return learn_level(plan.settings, plan.level, plan.start, plan.learner, progress)


def _write(plan: TrainingPlan, fitted: "FittedLevel") -> list[str]:
    """Write the files of the level; returns their names."""
    from selfplay.runs.checkpoints import save_checkpoint
    from selfplay.training.fitting import write_epoch_losses

    settings, level, run = plan.settings, plan.level, plan.run
    files = [run.agent(level).name, run.epoch_loss(level).name]
    with written_whole(plan.folder / files[0]) as beside:
        training = asdict(settings.td if settings.learns_online else settings.training)
        save_checkpoint(beside, fitted.network, fitted.game, level, settings.architecture, training, settings.outcome)
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
