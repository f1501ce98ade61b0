"""Figures of the losses of a run's levels: losses.png and loss_by_level.png; policy_loss.png where one is trained."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from types import MappingProxyType

from matplotlib.figure import Figure

from selfplay.figures.figure_files import TrainedRun
from selfplay.figures.style import (
    BLUE,
    DARK,
    GREEN,
    LINES,
    ORANGE,
    align_titles,
    decorate,
    empty_figure,
    legend_above,
    mark_start,
    note_above,
    single_figure,
    whole_numbers_on_x,
)
from selfplay.runs.data_changes import data_changes
from selfplay.training.fitting import EpochLoss

ROOM = 0.8
"""The width of the curve of a level, in levels."""

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
    by_level = loss_by_level(run.losses, data_changes(run.folder, run.levels), merges_rows=run.merges_rows)
    figures = {"losses.png": loss_curves(run.losses), "loss_by_level.png": by_level}
    return figures | ({"policy_loss.png": parts_by_level(run.losses)} if _has_parts(run.losses) else {})


def loss_curves(losses: Mapping[int, Sequence[EpochLoss]]) -> Figure:
    """The validation loss by epoch, the curves of all levels side by side; a dot: the epoch whose weights were kept."""
    most = max(len(epochs) for epochs in losses.values())
    figure, axes = single_figure("Validation loss by epoch", "level", _measure(losses))
    for level, epochs in losses.items():
        places = {epoch.epoch: level + ROOM * ((epoch.epoch - 0.5) / most - 0.5) for epoch in epochs}
        axes.plot(list(places.values()), [epoch.validation_loss for epoch in epochs], color=BLUE)
        champion = _champion(epochs)
        axes.scatter(places[champion.epoch], champion.validation_loss, s=22, color=ORANGE, zorder=3)
    whole_numbers_on_x(axes, losses)
    mark_start(axes)
    note_above(axes, f"each curve: the epochs of one level, at most {most}; dot: the one whose weights were kept")
    return figure


def loss_by_level(
    losses: Mapping[int, Sequence[EpochLoss]],
    changes: Mapping[int, str] = MappingProxyType({}),
    *,
    merges_rows: bool = False,
) -> Figure:
    """Two panels: the lowest validation loss of each level, and the training loss of the same epoch.

    They have scales of their own, because the two losses are not comparable: see TRAINING_NOTES. `changes` of the
    training data are marked and explained in the legend.
    """
    figure = empty_figure(13, 4.8)
    validation, training = figure.subplots(1, 2)
    decorate(validation, "Lowest validation loss of each level", "level", _measure(losses))
    decorate(training, "Training loss of the same epoch", "level", _measure(losses))
    levels = sorted(losses)
    champions = [_champion(losses[level]) for level in levels]
    validation.plot(levels, [e.validation_loss for e in champions], "o-", color=BLUE)
    training.plot(levels, [e.training_loss for e in champions], "s-", color=ORANGE, markersize=4)
    for (level, change), style in zip(sorted(changes.items()), cycle(MARKS), strict=False):
        validation.axvline(level - 0.5, color=DARK, linestyle=style, linewidth=1, label=f"from level {level}: {change}")
    for axes in (validation, training):
        whole_numbers_on_x(axes, levels)
        axes.set_ylim(bottom=0)
    if changes:
        legend_above(validation, columns=1)
    note_above(training, TRAINING_NOTES[merges_rows])
    align_titles(figure)
    return figure


def parts_by_level(losses: Mapping[int, Sequence[EpochLoss]]) -> Figure:
    """The parts of the validation loss of each level, and its weight decay, in the epoch whose weights were kept."""
    figure, axes = single_figure("Parts of the validation loss, and weight decay, by level", "level", "loss")
    parts = {level: _champion(losses[level]).parts for level in sorted(losses)}
    known = {level: part for level, part in parts.items() if part is not None}
    curves = {
        "policy: cross-entropy": ([part.validation_policy_loss for part in known.values()], BLUE),
        "value: mean squared error": ([part.validation_value_loss for part in known.values()], ORANGE),
        "weight decay": ([part.decay_loss for part in known.values()], GREEN),
    }
    for label, (values, colour) in curves.items():
        axes.plot(list(known), values, LINES[colour], color=colour, label=label)
    whole_numbers_on_x(axes, list(known))
    axes.set_ylim(bottom=0)
    legend_above(axes, columns=3)
    return figure


def _has_parts(losses: Mapping[int, Sequence[EpochLoss]]) -> bool:
    return any(epoch.parts for epochs in losses.values() for epoch in epochs)


def _measure(losses: Mapping[int, Sequence[EpochLoss]]) -> str:
    return "squared error and cross-entropy" if _has_parts(losses) else "mean squared error"


def _champion(epochs: Sequence[EpochLoss]) -> EpochLoss:
    return min(epochs, key=lambda epoch: epoch.validation_loss)
