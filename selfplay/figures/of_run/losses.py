"""Figures of the losses of a run's levels: losses.png and loss_by_level.png; policy_loss.png where one is trained."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from types import MappingProxyType

import numpy as np
from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from selfplay.figures.style import (
    BLUE,
    DARK,
    GREEN,
    ORANGE,
    decorate,
    empty_figure,
    single_figure,
    whole_numbers_on_x,
)
from selfplay.figures.trained_run import TrainedRun
from selfplay.training.fitting import EpochLoss

LARGEST_LEGEND = 6
"""The largest number of levels that are named in a legend; more are shown by a colour bar."""

MARKS = (":", "--", "-.", (0, (1, 4)))
"""Styles of the lines that mark changes of the training data."""

TRAINING_NOTES = {
    True: "Below the validation loss: rows of equal positions are merged\n"
    "into their mean, so the spread of their targets is not part of it.",
    False: "Measured while the weights change during the epoch,\non the rows that they are fitted to.",
}
"""Why the training loss differs from the validation loss, by whether rows are merged."""


def pictures(run: TrainedRun) -> dict[str, Figure]:
    """The figures; that of the parts of the loss only where a policy is trained."""
    by_level = loss_by_level(run.losses, run.data_changes(), merges_rows=run.merges_rows)
    figures = {"losses.png": loss_curves(run.losses), "loss_by_level.png": by_level}
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


def loss_by_level(
    losses: Mapping[int, Sequence[EpochLoss]],
    changes: Mapping[int, str] = MappingProxyType({}),
    *,
    merges_rows: bool = False,
) -> Figure:
    """Two panels: the lowest validation loss of each level, and the training loss of the same epoch.

    They have scales of their own, because the two losses are not comparable: see TRAINING_NOTES.

    Args:
        losses: as for `loss_curves`.
        changes: how the training data change from a level on, marked and explained in the legend.
        merges_rows: whether rows of equal positions were merged for training.
    """
    figure = empty_figure(13, 4.8)
    validation, training = figure.subplots(1, 2)
    decorate(validation, "Lowest validation loss of each level", "level", _measure(losses))
    decorate(training, "Training loss of the same epoch", "level", "")
    levels = sorted(losses)
    champions = [_champion(losses[level]) for level in levels]
    validation.plot(levels, [e.validation_loss for e in champions], "o-", color=BLUE, label="validation loss")
    training.plot(levels, [e.training_loss for e in champions], "s-", color=ORANGE, markersize=4)
    for (level, change), style in zip(sorted(changes.items()), cycle(MARKS), strict=False):
        validation.axvline(level - 0.5, color=DARK, linestyle=style, linewidth=1, label=f"from level {level}: {change}")
    for axes in (validation, training):
        whole_numbers_on_x(axes, levels)
        axes.set_ylim(bottom=0)
    if changes:
        validation.legend(frameon=True, framealpha=0.9, edgecolor="none", fontsize=9)
    note = {"xy": (0.98, 0.97), "xycoords": "axes fraction", "ha": "right", "va": "top", "fontsize": 9, "color": DARK}
    training.annotate(TRAINING_NOTES[merges_rows], **note)
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
