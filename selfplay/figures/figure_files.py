"""Reads what the figures of a run show, and writes the figures of a run and of a comparison.

A figure is a function from a `TrainedRun` or a `Comparison` to the pictures it draws, by file name: figures for .png
files, lists of frames for .gif files. It has a line in a registry here; other packages offer such a function as an
entry point in the group `selfplay.run_figures` or `selfplay.comparison_figures`.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from matplotlib.figure import Figure
from PIL import Image
from torch import nn

from selfplay.agents.checkpoints import load_checkpoint, read_metadata
from selfplay.errors import StageError
from selfplay.figures.style import default_style, save_animation, save_figure, source_of, write_source
from selfplay.games import Game, make_game
from selfplay.grading.comparison import Comparison
from selfplay.registry import Registry
from selfplay.runs.manifest import Manifest, check_against_manifest
from selfplay.runs.run_folder import RunFolder, writing_run
from selfplay.settings.run import Run, Settings
from selfplay.training.epochs import Epoch, read_epochs


class TrainedRun(NamedTuple):
    """The trained levels of a run, at least one."""

    folder: RunFolder
    game: Game
    levels: Sequence[int]
    epochs: Mapping[int, Sequence[Epoch]]
    """The rows of epoch_loss.csv, by level."""
    source: str = ""
    """What the figures show, for titles inside an animation: see `selfplay.figures.style.source_of`."""

    @property
    def newest(self) -> int:
        return self.levels[-1]

    @property
    def merges_rows(self) -> bool:
        """Whether the newest level was trained on rows of equal positions merged into one."""
        section = Manifest(self.folder.level(self.newest)).sections.get("training", {"settings": {}})
        return bool(section["settings"].get("learner.merge", False))

    def network(self, level: int) -> nn.Module:
        """The network of a level. Raises InvalidFileError if its file is broken."""
        path = self.folder.agent(level)
        check_against_manifest(path)
        return load_checkpoint(path, self.game).network


def read_trained_run(folder: RunFolder, settings: Settings) -> TrainedRun:
    """Read the epochs of all trained levels of the run that has these settings.

    Raises StageError if no level is trained yet, InvalidFileError if a file of a level is missing or broken.
    """
    levels = folder.trained_levels()
    if not levels:
        raise StageError(f"{folder.path} has no trained level to plot; run the loop first")
    for level in levels:
        check_against_manifest(folder.epoch_loss(level))
    epochs = {level: read_epochs(folder.epoch_loss(level)) for level in levels}
    game = make_game(read_metadata(folder.agent(levels[-1]))["game"])
    return TrainedRun(folder, game, levels, epochs, source_of(game.presentation.title, settings))


Picture = Figure | Sequence[Image.Image]
Subject = TypeVar("Subject")


RUN_FIGURES: Registry[Callable[[TrainedRun], Mapping[str, Picture]]] = Registry(
    "figure of a run",
    {
        "losses": "selfplay.figures.losses:loss_figures",
        "position_values": "selfplay.figures.position_values:position_value_figures",
        "square_weights": "selfplay.figures.square_weights:square_weight_figures",
        "versus_rollouts": "selfplay.figures.versus_rollouts:rating_figures",
    },
    "selfplay.run_figures",
)
COMPARISON_FIGURES: Registry[Callable[[Comparison], Mapping[str, Picture]]] = Registry(
    "figure of a comparison",
    {"comparison": "selfplay.figures.comparison:comparison_figures"},
    "selfplay.comparison_figures",
)


@default_style()
def write_figures(
    figures: Registry[Callable[[Subject], Mapping[str, Picture]]], subject: Subject, folder: Path, source: str = ""
) -> list[Path]:
    """Draw all pictures of `subject` and write them into `folder`, with `source` in their corners; returns their files.

    Raises StageError if a file cannot be written, and any error that the figures raise.
    """
    written = []
    for name in figures:
        for file_name, picture in figures[name](subject).items():
            path = folder / file_name
            if isinstance(picture, Figure):
                write_source(picture, source)
                save_figure(picture, path)
            else:
                save_animation(picture, path)
            written.append(path)
    return written


def draw_run_figures(run: Run[Settings]) -> None:
    """Draw all figures of the trained levels and write them to figures/ in the run's folder.

    Raises as `read_trained_run`, RunLockedError if another process or thread is using the run, and StageError if a file
    cannot be written.
    """
    with writing_run(run.folder, create=False), run.settings.computing():
        trained = read_trained_run(run.folder, run.settings)
        write_figures(RUN_FIGURES, trained, run.folder.figures, trained.source)
