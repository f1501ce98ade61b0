"""Figures of the losses of a run's levels: losses.png and loss_by_level.png; policy_loss.png where one is trained."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from selfplay.figures.style import BLUE, GREEN, ORANGE, single_figure, whole_numbers_on_x
from selfplay.figures.trained_run import TrainedRun
from selfplay.training.fitting import EpochLoss

LARGEST_LEGEND = 6
"""The largest number of levels that are named in a legend; more are shown by a colour bar."""


def pictures(run: TrainedRun) -> dict[str, Figure]:
    """The figures; that of the parts of the loss only where a policy is trained."""
    figures = {"losses.png": loss_curves(run.losses), "loss_by_level.png": loss_by_level(run.losses)}
    return figures | ({"policy_loss.png": parts_by_level(run.losses)} if _has_parts(run.losses) else {})


def loss_curves(losses: Mapping[int, Sequence[EpochLoss]]) -> Figure:
    """The validation loss by epoch, a curve per level; a dot marks the epoch whose weights were kept.

    `losses`: the rows of epoch_loss.csv by level, at least one level.
    """
    figure, axes = single_figure(
        "Validation loss by epoch, a curve per level; dot: the epoch kept", "epoch", _measure(losses)
    )
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
    figure, axes = single_figure("Lowest validation loss by level", "level", _measure(losses))
    levels = sorted(losses)
    champions = [_champion(losses[level]) for level in levels]
    axes.plot(levels, [e.validation_loss for e in champions], "o-", color=BLUE, label="validation")
    # The training loss is that of rows to which the weights were fitted, so it is usually lower.
    label = "training, same epoch (on the rows fitted to, weighted as in the recipe)"
    axes.plot(levels, [e.training_loss for e in champions], "s--", color=ORANGE, markersize=4, label=label)
    whole_numbers_on_x(axes, levels)
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    return figure


def parts_by_level(losses: Mapping[int, Sequence[EpochLoss]]) -> Figure:
    """The parts of the validation loss of each level, in the epoch whose weights were kept.

    `losses`: as for `loss_curves`; levels that have no parts are left out.
    """
    figure, axes = single_figure("Parts of the validation loss by level", "level", "loss")
    parts = {level: _champion(losses[level]).parts for level in sorted(losses)}
    known = {level: part for level, part in parts.items() if part is not None}
    curves = {
        "policy: cross-entropy": ([part.validation_policy_loss for part in known.values()], BLUE),
        "value: mean squared error": ([part.validation_value_loss for part in known.values()], ORANGE),
        "weight decay": ([part.decay_loss for part in known.values()], GREEN),
    }
    for label, (values, colour) in curves.items():
        axes.plot(list(known), values, "o-", color=colour, label=label)
    whole_numbers_on_x(axes, list(known))
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    return figure


def _has_parts(losses: Mapping[int, Sequence[EpochLoss]]) -> bool:
    return any(epoch.parts for epochs in losses.values() for epoch in epochs)


def _measure(losses: Mapping[int, Sequence[EpochLoss]]) -> str:
    return "squared error and cross-entropy" if _has_parts(losses) else "mean squared error"


def _champion(epochs: Sequence[EpochLoss]) -> EpochLoss:
    return min(epochs, key=lambda epoch: epoch.validation_loss)
