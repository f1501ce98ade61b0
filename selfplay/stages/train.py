"""Stage 2: train a level on the matches of the level before it.

Level 0 is the random player. Level L plays the matches of its dataset; training on that dataset, from the weights of
level L, gives level L + 1. `selfplay.stages.training_plan` finds what it is trained from, `selfplay.stages.fit_level`
computes, and this file decides and writes: a stage whose files exist and were made with the same settings is skipped.
"""

import logging
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

from selfplay.compute.devices import is_out_of_memory
from selfplay.errors import StageError
from selfplay.figures.tensorboard import add_missing_events, epoch_events
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_settings import record_run_settings
from selfplay.runs.written_files import written_whole
from selfplay.settings.run import Settings
from selfplay.stages.training_plan import TrainingPlan, plan_training
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
    with joined_process_group(settings.device) as processes:
        if processes.is_rank_zero:
            return _train_and_write(plan, processes, progress)
        return _train_along(plan, processes)


def _train_and_write(plan: TrainingPlan, processes: ProcessGroup, progress: ProgressBar) -> bool:
    """The part of rank 0: skip a level that is already trained, else train it and write its files."""
    settings, level = plan.settings, plan.level
    manifest, record = Manifest(plan.folder), plan.record(processes.world_size)
    is_done = manifest.is_done("training", record, plan.default_of, force=settings.force)
    if processes.broadcast(is_done):
        log.info("level %d: already trained, skipped", level)
        if settings.output_dir is None:
            add_missing_events(settings, level)
        return False
    from selfplay.stages.fit_level import fit_level, training_rows

    with _lack_of_memory_explained(level):
        plan.check_datasets()
        rows = training_rows(plan, processes)
        manifest.forget("training")
        with (
            closing(progress(total=settings.training.epochs, desc=f"level {level}: epochs")) as bar,
            epoch_events(settings, level) as write_events,
        ):

            def on_epoch(loss: "EpochLoss") -> None:
                bar.update(1)
                write_events(loss)

            fitted = fit_level(plan, rows, processes, on_epoch)
    counts = {"rows": rows.num_rows}
    if plan.gate_agent is not None:
        from selfplay.stages.gate import pass_gate

        counts |= pass_gate(plan, fitted).counts()
    _write(plan, fitted)
    if settings.output_dir is None:
        record_run_settings(settings)
    manifest.record("training", record, counts, ["agent.safetensors", "epoch_loss.csv"])
    return True


def _train_along(plan: TrainingPlan, processes: ProcessGroup) -> bool:
    """The part of the other processes."""
    if processes.broadcast(False):
        return False
    from selfplay.stages.fit_level import fit_level, training_rows

    with _lack_of_memory_explained(plan.level):
        fit_level(plan, training_rows(plan, processes), processes)
    return True


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


def _write(plan: TrainingPlan, fitted: "FittedLevel") -> None:
    """Write the files of the level."""
    from selfplay.runs.checkpoints import save_checkpoint
    from selfplay.training.epoch_loss_csv import write_epoch_losses

    settings, level = plan.settings, plan.level
    with written_whole(plan.folder / plan.run.agent(level).name) as beside:
        training = asdict(settings.training)
        save_checkpoint(beside, fitted.network, fitted.game, level, settings.architecture, training, settings.outcome)
    with written_whole(plan.folder / plan.run.epoch_loss(level).name) as beside:
        write_epoch_losses(beside, fitted.losses)
    best = min(loss.validation_loss for loss in fitted.losses)
    rows, seconds = fitted.num_rows, fitted.seconds
    log.info("level %d: trained on %d rows, validation loss %.4f (%.2f s)", level, rows, best, seconds)
