"""Stage 2: train a level on the matches of the level before it.

Level 0 is the random player. Level L plays the matches of its dataset; training on that dataset, from the weights of
level L, gives level L + 1. A level whose files were made with the same settings is skipped.
"""

import logging
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from dataclasses import asdict

from torch import nn

from selfplay.compute.devices import CPU, is_out_of_memory
from selfplay.compute.process import process_rank
from selfplay.dataset.formats import DATASET_FORMATS, DatasetFormat, format_of
from selfplay.dataset.parquet import ParquetRowGroups
from selfplay.dataset.rows import with_policies
from selfplay.errors import StageError
from selfplay.figures.tensorboard import add_missing_events, epoch_events
from selfplay.files import written_whole
from selfplay.players.checkpoints import save_checkpoint
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.epoch_losses import write_epoch_losses
from selfplay.runs.manifest import naming_force
from selfplay.runs.run_folder import LEARNER_FILE, writes_run
from selfplay.runs.stage import Made, Stage
from selfplay.settings.context import RunContext, computing
from selfplay.settings.recorded import begin_anew, record_run_settings
from selfplay.settings.run import Settings
from selfplay.stages.gate import pass_gate
from selfplay.stages.run_check import check_run
from selfplay.stages.taught_level import teach_level
from selfplay.stages.td_level import learn_level
from selfplay.stages.training_plan import TrainingPlan, plan_training
from selfplay.training.fitting import EpochLoss, FittedLevel, fit
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
    if settings.fresh and settings.output_dir is None and process_rank() == 0:
        check_run(settings, is_one_stage=True)
        begin_anew(settings)
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
                # Events of an earlier training do not belong to this one.
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
    usual: DatasetFormat = DATASET_FORMATS[settings.dataset.format]
    rows: TrainingRows
    if (buffer_rows := settings.dataset.buffer_rows) is None:
        # Matches of different levels get different numbers, so that each is held out independently of the others.
        num_actions = game.num_distinct_actions if settings.has_policies else 0
        parts = (
            with_policies(path, part, num_actions)._replace(match=part.match + number * settings.matches)
            for number, path in enumerate(plan.datasets)
            for part in format_of(path, usual).read(path, game.observation_codec)
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
