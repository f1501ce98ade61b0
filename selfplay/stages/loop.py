"""The loop: the matches and the training of every level, one level after the other, in one process."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from selfplay.executors import open_executor
from selfplay.players.agent import load_level
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.run import Settings, require_whole_run
from selfplay.stages.generate import generate_level
from selfplay.stages.train import train_level

if TYPE_CHECKING:
    from selfplay.players.search import SearchPlayer
    from selfplay.players.value_net import ValueNetPlayer
    from selfplay.training.fitting import EpochLoss


class LearnedRun(NamedTuple):
    """A run whose levels have been learned."""

    run_dir: Path
    levels: tuple[int, ...]
    """The trained levels, in order; at least one."""

    def player(self, level: int | None = None) -> "ValueNetPlayer | SearchPlayer":
        """The agent of a level as a player; None: of the newest. Raises as `load_level`."""
        return load_level(self.run_dir, level)

    def losses(self) -> "dict[int, list[EpochLoss]]":
        """The losses of each epoch of training, by level. Raises InvalidFileError if a table is broken."""
        from selfplay.training.fitting import read_epoch_losses

        run = RunFolder(self.run_dir)
        return {level: read_epoch_losses(run.epoch_loss(level)) for level in self.levels}

    def __str__(self) -> str:
        """The folder and the number of levels."""
        return f"{self.run_dir}: {len(self.levels)} trained level{'s' * (len(self.levels) != 1)}"


def learn_levels(settings: Settings, progress: ProgressBar = NoProgress) -> LearnedRun:
    """Learn levels 1 to `settings.levels`, one after the other, in the same stages and bytes as the shell loop.

    A level that is already trained with the same settings is skipped.

    Args:
        settings: of the run; `compose_settings` makes them.
        progress: makes the progress bars, such as `tqdm.tqdm`; none are shown by default.

    Raises:
        SettingError: a setting of a single stage is given, or one needs something that is not available.
        StageError: files of the run were made with other settings, or cannot be written.
        InvalidFileError: a file of the run is broken.
    """
    require_whole_run(settings)
    with open_executor(settings.executor) as executor:
        for level in range(settings.levels):
            if not settings.learns_online:
                generate_level(settings, level, progress, executor)
            train_level(settings, level + 1, progress)
    run = RunFolder.of(settings)
    return LearnedRun(run.path, tuple(run.trained_levels()))
