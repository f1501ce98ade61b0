"""Figures of the losses of a run's levels."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from selfplay.architectures.ntuple import NTuple
from selfplay.errors import StageError
from selfplay.figures.style import BLUE, ORANGE, save_animation, save_figure, single_figure, whole_numbers_on_x
from selfplay.games import Game, make_game
from selfplay.runs.checkpoints import load_checkpoint, read_metadata
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.run import Settings
from selfplay.training.fitting import EpochLoss
from selfplay.training.loss_file import read_epoch_losses

LARGEST_LEGEND = 6
"""Up to this many levels are named in a legend; more get a colour bar."""


def plot_losses(settings: Settings) -> None:
    """Write losses.png and loss_by_level.png of all trained levels into the run's figures/.

    A game whose positions stand on a line gets position_values.png and position_values.gif too, a newest level of
    tables square_weights.png.

    Raises:
        StageError: no level is trained yet, or a file cannot be written.
        InvalidFileError: a file of a level is missing or broken.
    """
    run = RunFolder(Path(settings.run_dir))
    levels = run.trained_levels()
    if not levels:
        raise StageError(f"{run.path} has no trained level to plot; run the loop first")
    losses = {level: read_epoch_losses(run.epoch_loss(level)) for level in levels}
    save_figure(loss_curves(losses), run.figures / "losses.png")
    save_figure(loss_by_level(losses), run.figures / "loss_by_level.png")
    game = make_game(read_metadata(run.agent(levels[-1]))["game"])
    _plot_position_values(run, levels, game)
    _plot_square_weights(run, levels[-1], game)


def _plot_square_weights(run: RunFolder, level: int, game: Game) -> None:
    network = load_checkpoint(run.agent(level), game).network
    if isinstance(network, NTuple):
        from selfplay.figures.square_weights import square_weight_maps

        save_figure(square_weight_maps(network, level), run.figures / "square_weights.png")


def _plot_position_values(run: RunFolder, levels: list[int], game: Game) -> None:
    if game.position_line is None:
        return
    from selfplay.figures.position_values import position_value_animation, position_value_bars, position_values

    positions = position_values(run.path, game, levels)
    save_figure(position_value_bars(positions), run.figures / "position_values.png")
    save_animation(position_value_animation(positions), run.figures / "position_values.gif")


def loss_curves(losses: Mapping[int, Sequence[EpochLoss]]) -> Figure:
    """The validation loss by epoch, a curve for each level; a dot marks the epoch whose weights were kept.

    `losses`: the rows of epoch_loss.csv by level, at least one level.
    """
    figure, axes = single_figure("Validation loss by epoch, a curve per level", "epoch", "mean squared error")
    levels = sorted(losses)
    shades = ListedColormap(colormaps["viridis"](np.linspace(0.0, 0.9, levels[-1] - levels[0] + 1)))
    for level in levels:
        epochs, colour = losses[level], shades(level - levels[0])
        axes.plot([e.epoch for e in epochs], [e.validation_loss for e in epochs], color=colour, label=f"level {level}")
        champion = _champion(epochs)
        axes.scatter(champion.epoch, champion.validation_loss, s=22, color=[colour], zorder=3)
    whole_numbers_on_x(axes, [epoch.epoch for epochs in losses.values() for epoch in epochs])
    axes.set_ylim(bottom=0)
    if len(levels) <= LARGEST_LEGEND:
        axes.legend(frameon=False)
    else:
        bounds = np.arange(levels[0], levels[-1] + 2) - 0.5
        scale = ScalarMappable(BoundaryNorm(bounds.tolist(), shades.N), shades)
        figure.colorbar(scale, ax=axes, label="level", ticks=MaxNLocator(nbins=13, integer=True))
    return figure


def loss_by_level(losses: Mapping[int, Sequence[EpochLoss]]) -> Figure:
    """The lowest validation loss of each level, and the training loss of the same epoch."""
    figure, axes = single_figure("Lowest validation loss by level", "level", "mean squared error")
    levels = sorted(losses)
    champions = [_champion(losses[level]) for level in levels]
    axes.plot(levels, [e.validation_loss for e in champions], "o-", color=BLUE, label="validation")
    label = "training, the same epoch (as weighted by the recipe)"
    axes.plot(levels, [e.training_loss for e in champions], "s--", color=ORANGE, markersize=4, label=label)
    whole_numbers_on_x(axes, levels)
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    return figure


def _champion(epochs: Sequence[EpochLoss]) -> EpochLoss:
    return min(epochs, key=lambda epoch: epoch.validation_loss)
