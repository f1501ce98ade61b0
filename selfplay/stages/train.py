"""Stage 2: train a level on the matches of the level before it.

Level 0 is the random player. Level L plays the matches of its dataset; training on that dataset, from the weights of
level L, gives level L + 1. A level whose files were made with the same settings is skipped.
"""

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from functools import partial

from selfplay.compute.devices import is_out_of_memory
from selfplay.errors import InvalidFileError, SelfPlayError, StageError
from selfplay.figures.tensorboard import add_missing_events, epoch_events
from selfplay.files import read_bytes, written_whole
from selfplay.games import Game
from selfplay.learners.learner import LevelInputs, TrainedLevel
from selfplay.players.agent import Agent
from selfplay.players.checkpoints import save_checkpoint
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.manifest import Made
from selfplay.runs.run_folder import LEARNER_FILE, writes_run
from selfplay.settings.context import RunContext, computing
from selfplay.settings.recorded import record_run_settings
from selfplay.settings.run import Settings
from selfplay.stages.learner_resources import resources_of
from selfplay.stages.run_check import begin_anew_if_fresh, check_run
from selfplay.stages.training_plan import TrainingPlan, plan_training
from selfplay.training.callbacks import Callback, Callbacks, MovesBar
from selfplay.training.epochs import write_epochs
from selfplay.training.process_group import ProcessGroup, joined_process_group

log = logging.getLogger(__name__)


@writes_run(create=True)
def train_level(
    settings: Settings, level: int, progress: ProgressBar = NoProgress, callbacks: Sequence[Callback] = ()
) -> bool:
    """Train `level` on the dataset of the level before it; returns False if it was already trained.

    Callbacks are called in the first process. If they end the training, the manifest counts it in `stopped`.

    Processes started by torchrun train the level together; only rank 0 writes, logs and shows progress.

    Raises:
        RunLockedError: another process or thread is using the run.
        SettingError: level 0, which is not trained; a stage of the run would refuse a setting, see `check_run`; or an
            optimizer that does not support several processes.
        StageError: a dataset or the initial weights do not exist; the level was made with other settings; or the rows
            do not fit into memory.
        InvalidFileError: a dataset is broken.
    """
    begin_anew_if_fresh(settings)
    plan = plan_training(settings, level)
    with joined_process_group(settings.device) as processes, _lack_of_memory_explained(plan):
        is_first = processes.is_rank_zero
        stage = plan.stage(processes.world_size)
        is_done = processes.broadcast(is_first and stage.is_done(f"level {level}: already trained"))
        if not is_done:
            if is_first:
                check_run(settings, is_one_stage=True)
                plan.check_inputs()
            told = Callbacks(callbacks if is_first else ())
            with computing(plan.settings) as context:
                start = plan.start_agent(context.game)
                with stage.making() if is_first else nullcontext(Made()) as made:
                    began = time.perf_counter()
                    trained = _train(plan, context, start, processes, progress if is_first else NoProgress, told)
                    if is_first:
                        made.counts = {"rows": trained.num_rows, **trained.counts}
                        made.counts |= {"stopped": 1} if told.has_stopped else {}
                        made.files = _write(plan, context.game, trained, time.perf_counter() - began)
                        record_run_settings(settings)
    if is_first:
        add_missing_events(settings, level)
    return not is_done


def _train(
    plan: TrainingPlan,
    context: RunContext[Settings],
    start: Agent,
    processes: ProcessGroup,
    progress: ProgressBar,
    callbacks: Callback,
) -> TrainedLevel:
    """The level, trained by its learner together with the other processes."""
    settings, level, learner, game = plan.settings, plan.level, plan.settings.learner, context.game
    events = epoch_events(settings, level) if processes.is_rank_zero else nullcontext(Callback())
    steps, what = learner.steps(game, settings.matches)
    with closing(progress(total=steps, desc=f"level {level}: {what}")) as bar, events as writer:
        told = Callbacks([MovesBar(bar), writer, callbacks])
        resources = resources_of(
            context,
            first_level=plan.first_level,
            processes=processes,
            folder=plan.run.path,
            on_epoch=partial(told.on_epoch, level),
            on_step=partial(told.on_round, level),
        )
        memory = None if plan.memory is None else read_bytes(plan.memory)
        inputs = LevelInputs(game, start, settings.seed, level, settings.matches, memory, resources=resources)
        try:
            return learner.train(inputs, plan.rows(game))
        except ValueError as error:
            if plan.memory is None or isinstance(error, SelfPlayError):
                raise
            raise InvalidFileError(plan.memory, f"{error}; delete it, or train the level before again") from error


@contextmanager
def _lack_of_memory_explained(plan: TrainingPlan) -> Iterator[None]:
    """Raise StageError, with the fix, if memory runs out."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        fixes = [*plan.settings.learner.less_memory(), "fewer matches with another run_dir"]
        fix = f"set {' or '.join(fixes)}"
        raise StageError(f"level {plan.level}: its rows do not fit into memory; {fix}") from error


def _write(plan: TrainingPlan, game: Game, trained: TrainedLevel, seconds: float) -> list[str]:
    settings, level, run = plan.settings, plan.level, plan.run
    files = [run.agent(level).name, run.epoch_loss(level).name]
    with written_whole(plan.folder / files[0]) as beside:
        architecture = trained.architecture or settings.architecture
        training, outcome = settings.learner.recorded(), settings.learner.outcome
        save_checkpoint(beside, trained.network, game, level, architecture, training, outcome)
    with written_whole(plan.folder / files[1]) as beside:
        write_epochs(beside, trained.epochs)
    if trained.memory is not None:
        files.append(LEARNER_FILE)
        with written_whole(plan.folder / LEARNER_FILE) as beside:
            beside.write_bytes(trained.memory)
    best = min(trained.epochs, key=lambda epoch: epoch.judged)
    what = f"{best.judged_by.replace('_', ' ')} {best.judged:.4f}"
    log.info("level %d: trained on %d rows, %s (%.2f s)", level, trained.num_rows, what, seconds)
    return files
