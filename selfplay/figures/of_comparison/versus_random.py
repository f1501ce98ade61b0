"""versus_random.png: matches of each level against the random player that it won, drew and lost."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from selfplay.figures.style import GREEN, GREY, RED, single_figure, whole_numbers_on_x
from selfplay.grading.comparison import Comparison

if TYPE_CHECKING:
    from pandas import DataFrame

COLOURS = {"wins": GREEN, "draws": GREY, "losses": RED}


def pictures(comparison: Comparison) -> dict[str, Figure]:
    """The figure."""
    return {"versus_random.png": versus_random(comparison.table)}


def versus_random(table: "DataFrame") -> Figure:
    """A bar for each level, split into wins, draws and losses; the numbers of the newest level are in the legend.

    `table`: columns level, wins_vs_random, draws_vs_random, losses_vs_random; rows without matches are skipped.
    """
    played = table[table["wins_vs_random"].notna()]
    levels = played["level"].to_numpy(dtype=np.int64)
    counts = {result: played[f"{result}_vs_random"].to_numpy(dtype=np.int64) for result in COLOURS}
    matches = int(sum(column[-1] for column in counts.values()))
    figure, axes = single_figure("Against the random player", "level", f"of {matches:,} matches")
    bottom = np.zeros_like(levels)
    for result, colour in COLOURS.items():
        label = f"{result} ({counts[result][-1]:,} of level {levels[-1]})"
        axes.bar(levels, counts[result], bottom=bottom, color=colour, width=min(0.7, 0.2 * len(levels)), label=label)
        bottom = bottom + counts[result]
    axes.set_ylim(0, matches)
    axes.legend(loc="lower right", frameon=True, framealpha=0.9, edgecolor="none")
    whole_numbers_on_x(axes, levels)
    return figure
