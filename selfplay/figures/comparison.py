"""Figures of the comparison of all levels, and what all figures share.

Each function that draws returns a matplotlib Figure that no window and no global state knows of; equal input gives
equal bytes.
"""

import logging
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, SymmetricalLogLocator

from selfplay.figures.style import (
    BLUE,
    DARK,
    GREEN,
    GREY,
    LINE_OF_TEXT,
    ORANGE,
    RED,
    decorate,
    empty_figure,
    save_figure,
    single_figure,
    whole_numbers_on_x,
)
from selfplay.grading.ratings import NORMAL_QUANTILE
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.run import Settings

if TYPE_CHECKING:
    from pandas import DataFrame

    from selfplay.grading.comparison import Comparison

log = logging.getLogger(__name__)


def plot_comparison(settings: Settings, comparison: "Comparison") -> None:
    """Write wins_minus_losses.png, ratings.png and exact.png into the run's figures/.

    The last one is left out for a game too large to enumerate. Raises StageError if a file cannot be written.
    """
    folder, table = RunFolder(Path(settings.run_dir)).figures, comparison.table
    save_figure(wins_minus_losses(table), folder / "wins_minus_losses.png")
    measured = comparison.measurement
    references = {} if measured is None else {name: measured.ratings[name].points for name in measured.references}
    save_figure(ratings(table, references), folder / "ratings.png")
    if comparison.grades:
        save_figure(exact_figures(table, comparison.ceiling), folder / "exact.png")


def wins_minus_losses(table: "DataFrame") -> Figure:
    """Wins minus losses of each level in its matches against the level before it, with 95 % intervals.

    With w wins and l losses in n matches the difference has the variance w + l - (w - l)**2 / n.

    `table`: columns level, wins_vs_previous, draws_vs_previous, losses_vs_previous; rows without matches are left out.
    """
    played = table[table["wins_vs_previous"].notna()]
    levels = played["level"].to_numpy(dtype=np.int64)
    wins, draws, losses = (played[f"{what}_vs_previous"].to_numpy(dtype=float) for what in ("wins", "draws", "losses"))
    difference, matches = wins - losses, wins + draws + losses
    half_width = NORMAL_QUANTILE * np.sqrt(wins + losses - difference**2 / matches)
    y_label = f"wins minus losses in {matches.max():,.0f} matches"
    figure, axes = single_figure("Each level against the one before it", "level", y_label)
    told_apart = np.abs(difference) > half_width
    colours = np.where(told_apart, np.where(difference > 0, GREEN, RED), GREY).tolist()
    whiskers = {"ecolor": DARK, "elinewidth": 1.2}
    width = min(0.7, 0.2 * len(levels))
    axes.bar(levels, difference, width=width, color=colours, yerr=half_width, capsize=3, error_kw=whiskers)
    axes.axhline(0, color="black", linewidth=0.9)
    whole_numbers_on_x(axes, levels)
    note = "whiskers: 95 % interval; grey: it holds zero"
    axes.annotate(note, (1, 1.01), xycoords="axes fraction", ha="right", color=DARK, fontsize=9)
    return figure


def exact_figures(table: "DataFrame", ceiling: float | None = None) -> Figure:
    """Four panels by level: results against the random player, losing lines, share of optimal actions, error of values.

    Args:
        table: columns level, exact_win_vs_random, exact_draw_vs_random, exact_loss_vs_random, losing_lines_first,
            losing_lines_second, optimal_action_rate, value_error; nan where nothing applies.
        ceiling: the largest probability to win against the random player that a player who never loses can have.
    """
    figure = empty_figure(12, 8)
    panels = figure.subplots(2, 2)
    _draw_results(panels[0, 0], table, ceiling)
    _draw_losing_lines(panels[0, 1], table)
    decorate(panels[1, 0], "Positions in which the action is optimal", "level", "share of positions")
    _by_level(panels[1, 0], table, "optimal_action_rate", BLUE)
    panels[1, 0].set_ylim(top=1.005)
    decorate(panels[1, 1], "Error of the values against perfect play", "level", "mean squared error")
    _by_level(panels[1, 1], table, "value_error", BLUE)
    panels[1, 1].set_ylim(bottom=0)
    for axes in panels.flat:
        whole_numbers_on_x(axes, table["level"])
    return figure


def _by_level(axes: Axes, table: "DataFrame", column: str, colour: str, label: str | None = None) -> None:
    axes.plot(table["level"], table[column].astype(float), "o-", color=colour, label=label, markersize=5)


def _draw_results(axes: Axes, table: "DataFrame", ceiling: float | None) -> None:
    decorate(axes, "Exact result against the random player, both seats", "level", "probability")
    for what, colour in (("win", GREEN), ("draw", GREY), ("loss", RED)):
        column = table[f"exact_{what}_vs_random"].dropna()
        label = f"{what} ({column.iloc[-1]:.4f} at the last level)" if len(column) else what
        _by_level(axes, table, f"exact_{what}_vs_random", colour, label)
    if ceiling is not None:
        axes.axhline(
            ceiling, color="black", linestyle="--", linewidth=1, label=f"win, best that never loses ({ceiling:.4f})"
        )
    axes.set_ylim(-0.03, 1.03)
    axes.legend(frameon=True, framealpha=0.9, edgecolor="none")


def _draw_losing_lines(axes: Axes, table: "DataFrame") -> None:
    decorate(axes, "Lines of play that end in a loss", "level", "number of lines")
    axes.plot(table["level"], table["losing_lines_first"].astype(float), "o-", color=BLUE, label="moving first")
    second = table["losing_lines_second"].astype(float)
    axes.plot(table["level"], second, "s--", color=ORANGE, label="moving second", markersize=4)
    unbeatable = table.loc[(table["losing_lines_first"] == 0) & (table["losing_lines_second"] == 0), "level"]
    for number, level in enumerate(unbeatable):
        label = "none: unbeatable" if number == 0 else None
        axes.axvspan(level - 0.5, level + 0.5, color=GREEN, alpha=0.16, linewidth=0, label=label)
    # From 0 to 1 takes a tenth of the height at least, so that their labels stay apart.
    largest = float(np.nanmax(table[["losing_lines_first", "losing_lines_second"]].to_numpy(dtype=float)))
    axes.set_yscale("symlog", linthresh=1, linscale=max(1.0, np.log10(max(largest, 1)) / 9))
    axes.yaxis.set_major_formatter(FuncFormatter(_power_of_ten))
    axes.set_ylim(bottom=-0.25)
    locator = SymmetricalLogLocator(base=10, linthresh=1)
    locator.set_params(numticks=9)
    axes.yaxis.set_major_locator(locator)
    axes.legend(frameon=True, framealpha=0.9, edgecolor="none")


def _power_of_ten(number: float, _: object) -> str:
    return f"{number:,.0f}" if number < 1e6 else f"$10^{{{np.log10(number):.0f}}}$"


def ratings(table: "DataFrame", references: Mapping[str, float] = MappingProxyType({})) -> Figure:
    """The rating of each level, and of each reference as a horizontal line that bears its name.

    Args:
        table: columns level, rating; also rating_low and rating_high if there are intervals to draw.
        references: the ratings of players by their names.
    """
    figure, axes = single_figure("Rating by level", "level", "rating (Elo points)")
    _by_level(axes, table, "rating", BLUE)
    if "rating_low" in table:
        low, high = (table[f"rating_{end}"].to_numpy(dtype=float) for end in ("low", "high"))
        axes.fill_between(table["level"].to_numpy(dtype=float), low, high, color=BLUE, alpha=0.15, linewidth=0)
    whole_numbers_on_x(axes, table["level"])
    if references:
        for rating in references.values():
            axes.axhline(rating, color=ORANGE, linewidth=1, linestyle="--", zorder=1)
        _name_lines(axes, references)
    return figure


def _name_lines(axes: Axes, heights: Mapping[str, float]) -> None:
    """Write the name of each line to the right of the axes, at its height or a little above, clear of the others."""
    low, high = axes.get_ylim()
    free = low
    for name, height in sorted(heights.items(), key=lambda item: item[1]):
        place = max(height, free)
        free = place + LINE_OF_TEXT * (high - low)
        axes.annotate(
            name.removeprefix("search:"),
            (1, height),
            (1.03, place),
            xycoords=axes.get_yaxis_transform(),
            textcoords=axes.get_yaxis_transform(),
            arrowprops={"arrowstyle": "-", "color": ORANGE, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 0},
            color=DARK,
            fontsize=8,
            va="center",
        )
