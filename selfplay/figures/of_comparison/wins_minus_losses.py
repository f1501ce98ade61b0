"""wins_minus_losses.png: each level against the level before it."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from selfplay.figures.style import DARK, GREEN, GREY, RED, note_above, single_figure, whole_numbers_on_x
from selfplay.games.win_draw_loss import BETTER, UNDECIDED, WORSE, WinDrawLoss, sign_test_interval
from selfplay.grading.comparison import Comparison

if TYPE_CHECKING:
    from pandas import DataFrame

COLOURS = {BETTER: GREEN, WORSE: RED, UNDECIDED: GREY}
NOTE = (
    "exact sign test, 5 % level: green better, red worse, grey no significant difference; whiskers: its 95 % interval"
)


def pictures(comparison: Comparison) -> dict[str, Figure]:
    """The figure."""
    return {"wins_minus_losses.png": wins_minus_losses(comparison.table)}


def wins_minus_losses(table: "DataFrame") -> Figure:
    """Wins minus losses of each level in its matches against the level before it, with 95 % intervals.

    The intervals are those of the sign test whose results are in the column word_vs_previous.

    `table`: columns level, wins_vs_previous, draws_vs_previous, losses_vs_previous, word_vs_previous; rows without
    matches are skipped.
    """
    played = table[table["wins_vs_previous"].notna()]
    levels = played["level"].to_numpy(dtype=np.int64)
    counts = played[[f"{what}_vs_previous" for what in WinDrawLoss._fields]].to_numpy(dtype=np.int64)
    results = [WinDrawLoss(*map(int, row)) for row in counts]
    differences = counts[:, 0] - counts[:, 2]
    intervals = np.array([sign_test_interval(result) for result in results])
    y_label = f"wins minus losses in {results[-1].matches:,} matches"
    figure, axes = single_figure("Each level against the one before it", "level", y_label)
    axes.bar(
        levels,
        differences,
        width=min(0.7, 0.2 * len(levels)),
        color=[COLOURS[word] for word in played["word_vs_previous"]],
        yerr=np.abs(intervals.T - differences),
        capsize=3,
        error_kw={"ecolor": DARK, "elinewidth": 1.2},
    )
    axes.axhline(0, color="black", linewidth=0.9)
    whole_numbers_on_x(axes, levels)
    note_above(axes, NOTE)
    return figure
