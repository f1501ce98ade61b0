"""versus_random.png: matches of each level against the random player that it won, drew and lost."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from selfplay.figures.style import GREEN, GREY, RED, legend_above, single_figure, whole_numbers_on_x
from selfplay.grading.comparison import Comparison

if TYPE_CHECKING:
    from pandas import DataFrame

CURVES = {"wins": (GREEN, "o-"), "draws": (GREY, "s-"), "losses": (RED, "^-")}
"""Colour and style."""


def pictures(comparison: Comparison) -> dict[str, Figure]:
    """The figure."""
    return {"versus_random.png": versus_random(comparison.table)}


def versus_random(table: "DataFrame") -> Figure:
    """The numbers of wins, draws and losses by level on a logarithmic axis that begins at 0, with 95 % intervals.

    `table`: columns level and, of wins, draws and losses, such as wins_vs_random, wins_rate_low_vs_random and
    wins_rate_high_vs_random; rows without matches are skipped.
    """
    played = table[table["wins_vs_random"].notna()]
    levels = played["level"].to_numpy(dtype=np.int64)
    matches = int(played[[f"{result}_vs_random" for result in CURVES]].iloc[-1].sum())
    title = f"{matches:,} matches of each level against the random player"
    figure, axes = single_figure(title, "level", "number of matches")
    for result, (colour, style) in CURVES.items():
        counts = played[f"{result}_vs_random"].to_numpy(dtype=float)
        ends = [played[f"{result}_rate_{end}_vs_random"].to_numpy(dtype=float) * matches for end in ("low", "high")]
        label = f"{result} ({counts[-1]:,.0f} of level {levels[-1]})"
        # Rounding may put an end of an interval on the wrong side of its count.
        errors = np.maximum([counts - ends[0], ends[1] - counts], 0)
        axes.errorbar(levels, counts, errors, fmt=style, color=colour, markersize=5, elinewidth=1, label=label)
    axes.set_yscale("symlog", linthresh=1)
    axes.set_ylim(-0.1, 1.5 * matches)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count:,.0f}"))
    whole_numbers_on_x(axes, levels)
    legend_above(axes, columns=3)
    return figure
