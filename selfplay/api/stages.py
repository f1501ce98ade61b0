"""The stages of a run by function calls. Each opens the run: it holds its lock, and checks the settings first."""

from collections.abc import Sequence

from selfplay.executors import Executor
from selfplay.grading.comparison import Comparison
from selfplay.progress import NoProgress, ProgressBar
from selfplay.settings.run import Settings
from selfplay.stages.generate import make_dataset
from selfplay.stages.learning_run import open_run
from selfplay.stages.loop import LearnedRun, make_levels
from selfplay.stages.measure_levels import measure_levels
from selfplay.stages.train import make_level
from selfplay.training.epochs import Callback, checked_callbacks


def learn_levels(
    settings: Settings, progress: ProgressBar = NoProgress, callbacks: Sequence[Callback] = ()
) -> LearnedRun:
    """Learn levels 1 to `settings.levels`, one after the other, in the same stages and bytes as the shell loop.

    A level that is already trained with the same settings is skipped.

    Args:
        settings: of the run; `compose_settings` makes them.
        progress: makes the progress bars, such as `tqdm.tqdm`; none are shown by default.
        callbacks: called while levels learn and after each; they can stop it.

    Raises:
        RunLockedError: another process or thread is using the run.
        SettingError: a setting of a single stage is given, or a stage would refuse one; nothing is changed then.
        StageError: files of the run were made with other settings, or cannot be written.
        InvalidFileError: a file of the run is broken.
    """
    callbacks = checked_callbacks(callbacks)
    with open_run(settings, "learn") as run:
        return make_levels(run, progress, callbacks)


def generate_level(
    settings: Settings, level: int, progress: ProgressBar = NoProgress, executor: Executor | None = None
) -> bool:
    """Play the matches of `level` and write its dataset; False if that was done already, or if the next level learns
    from no dataset, but from matches that it plays itself.

    Args:
        executor: runs the shards; None: the executor of the settings, opened for this level only.

    Raises:
        RunLockedError: another process or thread is using the run.
        SettingError: a stage of the run would refuse a setting; or the executor is not available.
        StageError: the level does not exist, its dataset was made with other settings, or it cannot be written.
        InvalidFileError: the file of an agent is missing or broken.
    """
    with open_run(settings, "generate") as run:
        return make_dataset(run, level, progress, executor)


def train_level(
    settings: Settings, level: int, progress: ProgressBar = NoProgress, callbacks: Sequence[Callback] = ()
) -> bool:
    """Train `level` on the dataset of the level before it; returns False if it was already trained.

    Callbacks are called in the first process. If they end the training, the manifest counts it in `stopped`.

    Processes started by torchrun train the level together; only rank 0 writes, logs and shows progress.

    Raises:
        RunLockedError: another process or thread is using the run.
        SettingError: level 0, which is not trained; a stage of the run would refuse a setting; or an optimizer that
            does not support several processes.
        StageError: a dataset or the initial weights do not exist; the level was made with other settings; or the rows
            do not fit into memory.
        InvalidFileError: a dataset is broken.
    """
    callbacks = checked_callbacks(callbacks)
    with open_run(settings, "train") as run:
        return make_level(run, level, progress, callbacks)


def compare_levels(settings: Settings, progress: ProgressBar = NoProgress) -> Comparison:
    """Compare all levels of the run; write comparison/levels.csv and the tables of the measures.

    Raises:
        RunLockedError: another process or thread is using the run.
        SettingError, GameTooLargeError: a reference player of a large game cannot be made.
        StageError: the run has no trained level.
        InvalidFileError: the file of a level is broken or belongs to another game.
    """
    with open_run(settings, "compare") as run:
        return measure_levels(run, progress)
