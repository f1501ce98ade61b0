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
from selfplay.training.epochs import Epoch, described
from selfplay.training.fitting import TRAINING_LOSS, VALIDATION_LOSS

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

Epochs = Mapping[int, Sequence[Epoch]]
"""The epochs of each level."""


def loss_figures(run: TrainedRun) -> dict[str, Figure]:
    """The figures; that of the parts of the loss only where a policy is trained."""
    by_level = loss_by_level(run.epochs, data_changes(run.folder, run.levels), merges_rows=run.merges_rows)
    figures = {"losses.png": loss_curves(run.epochs), "loss_by_level.png": by_level}
    return figures | ({"policy_loss.png": parts_by_level(run.epochs)} if _with_parts(run.epochs) else {})


def by_measure(levels: Epochs) -> dict[str, dict[int, Sequence[Epoch]]]:
    """The levels by the number by which their epochs are compared, which learners choose."""
    groups: dict[str, dict[int, Sequence[Epoch]]] = {}
    for level, epochs in sorted(levels.items()):
        groups.setdefault(epochs[0].judged_by, {})[level] = epochs
    return groups


def loss_curves(levels: Epochs) -> Figure:
    """The loss by epoch, the curves of all levels side by side; a dot: the epoch whose weights were kept.

    Levels of learners that measure something else have a panel of their own.
    """
    groups = by_measure(levels)
    figure = empty_figure(8, 4.8 * len(groups))
    panels = figure.subplots(len(groups), squeeze=False)[:, 0]
    for axes, (name, group) in zip(panels, groups.items(), strict=True):
        most = max(len(epochs) for epochs in group.values())
        decorate(axes, f"{described(name).title} by epoch", "level", _unit(group))
        for level, epochs in group.items():
            places = {one.epoch: level + ROOM * ((one.epoch - 0.5) / most - 0.5) for one in epochs}
            axes.plot(list(places.values()), [one.judged for one in epochs], color=BLUE)
            champion = _champion(epochs)
            axes.scatter(places[champion.epoch], champion.judged, s=22, color=ORANGE, zorder=3)
        whole_numbers_on_x(axes, group)
        mark_start(axes)
        note_above(axes, f"each curve: the epochs of one level, at most {most}; dot: the one whose weights were kept")
    return figure


def loss_by_level(
    levels: Epochs, changes: Mapping[int, str] = MappingProxyType({}), *, merges_rows: bool = False
) -> Figure:
    """A panel for each number that was measured: that of each level's epoch whose weights were kept.

    They have scales of their own, because they are not comparable: see TRAINING_NOTES. `changes` of the training data
    are marked and explained in the legend.
    """
    groups = by_measure(levels)
    most = max(len(epochs[0].measured) for epochs in levels.values())
    figure = empty_figure(6.5 * most, 4.8 * len(groups))
    rows = figure.subplots(len(groups), most, squeeze=False)
    for row, group in zip(rows, groups.values(), strict=True):
        champions = [_champion(epochs) for epochs in group.values()]
        names = list(champions[0].measured)[::-1]
        for axes, name, (line, colour) in zip(row, names, cycle([("o-", BLUE), ("s-", ORANGE)]), strict=False):
            decorate(axes, _title_by_level(name, champions[0]), "level", _unit(group))
            axes.plot(list(group), [one.measured[name] for one in champions], line, color=colour, markersize=5)
            whole_numbers_on_x(axes, group)
            axes.set_ylim(bottom=0)
            if name == TRAINING_LOSS:
                note_above(axes, TRAINING_NOTES[merges_rows])
        for axes in row[len(names) :]:
            axes.remove()
        for (level, change), style in zip(sorted(changes.items()), cycle(MARKS), strict=False):
            if level in group:
                label = f"from level {level}: {change}"
                row[0].axvline(level - 0.5, color=DARK, linestyle=style, linewidth=1, label=label)
        if any(level in group for level in changes):
            legend_above(row[0], columns=1)
    align_titles(figure)
    return figure


def _title_by_level(name: str, epoch: Epoch) -> str:
    title = described(name).title
    if len(epoch.measured) == 1 or name not in (TRAINING_LOSS, VALIDATION_LOSS):
        return f"{title}, by level"
    return f"{title} of the same epoch" if name != epoch.judged_by else f"Lowest {title.lower()} of each level"


def parts_by_level(levels: Epochs) -> Figure:
    """The parts of the validation loss of each level, and its weight decay, in the epoch whose weights were kept."""
    figure, axes = single_figure("Parts of the validation loss, and weight decay, by level", "level", "loss")
    known = {level: _champion(epochs).parts for level, epochs in _with_parts(levels).items()}
    curves = {
        "policy: cross-entropy": ("validation_policy_loss", BLUE),
        "value: mean squared error": ("validation_value_loss", ORANGE),
        "weight decay": ("decay_loss", GREEN),
    }
    for label, (name, colour) in curves.items():
        axes.plot(list(known), [part[name] for part in known.values()], LINES[colour], color=colour, label=label)
    whole_numbers_on_x(axes, list(known))
    axes.set_ylim(bottom=0)
    legend_above(axes, columns=3)
    return figure


def _with_parts(levels: Epochs) -> Epochs:
    """The levels where a policy is trained, whose loss has parts."""
    return {level: epochs for level, epochs in sorted(levels.items()) if epochs[0].parts}


def _unit(levels: Epochs) -> str:
    return " or ".join(dict.fromkeys(epochs[0].unit for epochs in levels.values()))


def _champion(epochs: Sequence[Epoch]) -> Epoch:
    return min(epochs, key=lambda epoch: epoch.judged)
