"""square_weights.png: the value of a stone on each square that tables of patterns have learned, phase by phase."""

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from selfplay.architectures.capabilities import SquareWeights
from selfplay.figures.figure_files import TrainedRun
from selfplay.figures.style import empty_figure

PANELS_IN_A_ROW = 4
LEAST_WIDTH = 7.0
"""Inches, which the title of a single panel needs."""


def square_weight_figures(run: TrainedRun) -> dict[str, Figure]:
    """square_weights.png of the newest level, if its network has weights of squares."""
    network = run.network(run.newest)
    if not isinstance(network, SquareWeights):
        return {}
    columns = run.game.presentation.column_names
    return {"square_weights.png": square_weight_maps(network.square_weights(), run.newest, columns)}


def square_weight_maps(weights: NDArray[np.float64], level: int, column_names: str = "") -> Figure:
    """A board for each phase, coloured by weight; phases that no position had, without weights, are left out.

    Args:
        weights: float64[phases, rows, columns], as from `SquareWeights`.
        column_names: a character for each column; empty: they are numbered, as the rows are.
    """
    phases, rows, columns = weights.shape
    shown = [phase for phase in range(phases) if weights[phase].any()] or list(range(phases))
    wide = min(len(shown), PANELS_IN_A_ROW)
    high = -(-len(shown) // wide)
    figure = empty_figure(max(LEAST_WIDTH, 2.6 * wide + 1), 2.6 * high * rows / columns + 1)
    largest = float(np.abs(weights).max()) or 1.0
    panels = figure.subplots(high, wide, squeeze=False)
    for axes in panels.flat[len(shown) :]:
        axes.set_axis_off()
    for phase, axes in zip(shown, panels.flat, strict=False):
        picture = axes.imshow(weights[phase], cmap="PuOr_r", vmin=-largest, vmax=largest)
        first, last = _stones(phase, phases, rows * columns)
        axes.set_title(f"{first} to {last} stones", fontsize=10)
        names = column_names or [str(column + 1) for column in range(columns)]
        axes.set_xticks(range(columns), names, fontsize=7)
        axes.set_yticks(range(rows), [str(row + 1) for row in range(rows)], fontsize=7)
        axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
        for (row, column), value in np.ndenumerate(weights[phase]):
            dark = abs(value) > 0.6 * largest
            text = f"{round(100 * value, 1) + 0.0:.1f}"
            axes.text(column, row, text, ha="center", va="center", fontsize=6.5, color="w" if dark else "k")
    figure.colorbar(picture, ax=panels, shrink=0.8, format=lambda value, _: f"{100 * value:.0f}")
    title = f"Value added by a stone on each square, in hundredths: level {level}"
    figure.suptitle(title, fontsize=11, x=0.01, ha="left")
    return figure


def _stones(phase: int, phases: int, squares: int) -> tuple[int, int]:
    """The smallest and the largest number of stones in a phase."""
    in_phase = [count for count in range(squares + 1) if count * phases // (squares + 1) == phase]
    return in_phase[0], in_phase[-1]
