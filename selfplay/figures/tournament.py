"""The heat map of a tournament."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from selfplay.figures.style import DARK, decorate, default_style, empty_figure
from selfplay.named_players.names import readable_name

LONGEST_NAME = 40
CELL, LETTER, BESIDE, ABOVE_AND_BELOW, LEAST_WIDTH = 0.8, 0.085, 1.5, 1.6, 5.0
"""Inches: the side of a cell, the width of a letter of a name, the space for the scale of colours and for texts, and
the minimum width of the figure."""


@default_style()
def score_map(names: Sequence[str], scores: NDArray[np.float64]) -> Figure:
    """A heat map of the share of points that each player won against each other, the best player at the top.

    Args:
        names: the names of P players.
        scores: float64[P, P], the points of the player of the row against that of the column, a draw half a point.
    """
    totals = scores + scores.T
    shares = np.divide(scores, totals, out=np.full_like(scores, np.nan), where=totals > 0)
    order = np.argsort(-np.nanmean(shares, axis=1), kind="stable")
    size = len(names)
    shown = [f"{place}  {_shortened(names[number])}" for place, number in enumerate(order, start=1)]
    width = CELL * size + LETTER * max(map(len, shown)) + BESIDE
    figure = empty_figure(max(LEAST_WIDTH, width), CELL * size + ABOVE_AND_BELOW)
    axes = figure.subplots()
    decorate(axes, "", "opponent, by its number", "")
    # Above the whole figure, because the heat map of a few players is narrower than its title.
    figure.suptitle("Share of points won by the player of the row", fontsize=11, x=0.01, ha="left")
    axes.grid(visible=False)
    image = axes.imshow(shares[np.ix_(order, order)], cmap="RdBu", vmin=0, vmax=1)
    figure.colorbar(image, ax=axes, fraction=0.1, pad=0.03)
    for row, column in np.ndindex(size, size):
        share = shares[order[row], order[column]]
        if np.isfinite(share):
            colour = DARK if 0.15 < share < 0.85 else "white"
            axes.text(column, row, f"{share:.2f}", ha="center", va="center", color=colour, fontsize=9)
    axes.set_xticks(range(size), [f"{place}" for place in range(1, size + 1)])
    axes.set_yticks(range(size), shown)
    return figure


def _shortened(name: str) -> str:
    """The readable name; long paths keep their last part, which distinguishes the players."""
    name = readable_name(name)
    if len(name) <= LONGEST_NAME:
        return name
    kind, _, path = name.rpartition("/")
    return f"{kind.partition(':')[0]}:…/{path}"[-LONGEST_NAME:]
