"""The data from which the figures of a run are drawn."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from torch import nn

from selfplay.errors import StageError
from selfplay.figures.style import source_of
from selfplay.games import Game, make_game
from selfplay.runs.checkpoints import load_checkpoint, read_metadata
from selfplay.runs.data_changes import data_changes
from selfplay.runs.manifest import Manifest, check_against_manifest, flat_settings
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.run import Settings
from selfplay.training.fitting import EpochLoss, read_epoch_losses


class TrainedRun(NamedTuple):
    """The trained levels of a run, at least one."""

    folder: RunFolder
    game: Game
    levels: Sequence[int]
    """In order."""
    losses: Mapping[int, Sequence[EpochLoss]]
    """The rows of epoch_loss.csv, by level."""
    source: str = ""
    """What the figures show, for titles inside an animation: see `selfplay.figures.style.source_of`."""

    @property
    def newest(self) -> int:
        return self.levels[-1]

    def data_changes(self) -> dict[int, str]:
        """How the training data of a level differ in kind from those of the level before, by level."""
        return data_changes(self.folder, self.levels)

    @property
    def merges_rows(self) -> bool:
        """Whether the newest level was trained on rows of equal positions merged into one."""
        section = Manifest(self.folder.level(self.newest)).sections.get("training", {"settings": {}})
        return bool(flat_settings(section["settings"]).get("training.merge", False))

    def network(self, level: int) -> nn.Module:
        """The network of a level. Raises InvalidFileError if its file is broken."""
        return load_checkpoint(self.folder.agent(level), self.game).network


def read_trained_run(settings: Settings) -> TrainedRun:
    """Read the losses of all trained levels of the run.

    Raises:
        StageError: no level is trained yet.
        InvalidFileError: a file of a level is missing, broken or not the one that was written for it.
    """
    folder = RunFolder.of(settings)
    levels = folder.trained_levels()
    if not levels:
        raise StageError(f"{folder.path} has no trained level to plot; run the loop first")
    for level in levels:
        check_against_manifest(folder.epoch_loss(level))
    losses = {level: read_epoch_losses(folder.epoch_loss(level)) for level in levels}
    game = make_game(read_metadata(folder.agent(levels[-1]))["game"])
    return TrainedRun(folder, game, levels, losses, source_of(game.presentation.title, settings))
