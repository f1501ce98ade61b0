"""wins_minus_losses.png: each level against the level before it."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from selfplay.figures.style import DARK, GREEN, GREY, RED, single_figure, whole_numbers_on_x
from selfplay.grading.comparison import Comparison
from selfplay.grading.ratings import NORMAL_QUANTILE

if TYPE_CHECKING:
    from pandas import DataFrame


def pictures(comparison: Comparison) -> dict[str, Figure]:
    """The figure."""
    return {"wins_minus_losses.png": wins_minus_losses(comparison.table)}


def wins_minus_losses(table: "DataFrame") -> Figure:
    """Wins minus losses of each level in its matches against the level before it, with 95 % intervals.

    With w wins and l losses in n matches the difference has the variance w + l - (w - l)**2 / n.

    `table`: columns level, wins_vs_previous, draws_vs_previous, losses_vs_previous; rows without matches are skipped.
    """
    played = table[table["wins_vs_previous"].notna()]
    levels = played["level"].to_numpy(dtype=np.int64)
    wins, draws, losses = (played[f"{what}_vs_previous"].to_numpy(dtype=float) for what in ("wins", "draws", "losses"))
    difference, matches = wins - losses, wins + draws + losses
    half_width = NORMAL_QUANTILE * np.sqrt(wins + losses - difference**2 / matches)
    y_label = f"wins minus losses in {matches.max():,.0f} matches"
    figure, axes = single_figure("Each level against the one before it", "level", y_label)
    significant = np.abs(difference) > half_width
    colours = np.where(significant, np.where(difference > 0, GREEN, RED), GREY).tolist()
    whiskers = {"ecolor": DARK, "elinewidth": 1.2}
    width = min(0.7, 0.2 * len(levels))
    axes.bar(levels, difference, width=width, color=colours, yerr=half_width, capsize=3, error_kw=whiskers)
    axes.axhline(0, color="black", linewidth=0.9)
    whole_numbers_on_x(axes, levels)
    note = "whiskers: 95 % interval; grey: it contains zero"
    axes.annotate(note, (1, 1.01), xycoords="axes fraction", ha="right", color=DARK, fontsize=9)
    return figure
