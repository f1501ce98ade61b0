"""exact.png: the exact grade of each level, in a game that can be enumerated."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, SymmetricalLogLocator

from selfplay.figures.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    RED,
    decorate,
    draw_by_level,
    empty_figure,
    legend_above,
    note_above,
    whole_numbers_on_x,
)
from selfplay.grading.comparison import Comparison

if TYPE_CHECKING:
    from pandas import DataFrame


def pictures(comparison: Comparison) -> dict[str, Figure]:
    """The figure; none if the game is too large to enumerate."""
    return {"exact.png": exact_figures(comparison.table, comparison.ceiling)} if comparison.grades else {}


def exact_figures(table: "DataFrame", ceiling: float | None = None) -> Figure:
    """Four panels by level: results against the random player, losing lines, share of optimal actions, error of values.

    Args:
        table: columns level, exact_win_vs_random, exact_draw_vs_random, exact_loss_vs_random, losing_lines_first,
            losing_lines_second, optimal_action_rate, value_error; nan where nothing applies.
        ceiling: the largest probability with which a player who never loses can win against the random player.
    """
    figure = empty_figure(12, 8)
    panels = figure.subplots(2, 2)
    _draw_results(panels[0, 0], table, ceiling)
    _draw_losing_lines(panels[0, 1], table)
    decorate(panels[1, 0], "Positions in which the action is optimal", "level", "share of positions")
    draw_by_level(panels[1, 0], table, "optimal_action_rate", BLUE)
    panels[1, 0].set_ylim(top=1.005)
    decorate(panels[1, 1], "Error of the values against perfect play", "level", "mean squared error")
    draw_by_level(panels[1, 1], table, "value_error", BLUE)
    panels[1, 1].set_ylim(bottom=0)
    note_above(panels[1, 1], "perfect values are -1, 0 and 1; the error of discounted values stays above 0")
    for axes in panels.flat:
        whole_numbers_on_x(axes, table["level"])
    return figure


def _draw_results(axes: Axes, table: "DataFrame", ceiling: float | None) -> None:
    decorate(axes, "Exact result against the random player, both seats", "level", "probability")
    newest = table.iloc[-1]
    for what, colour in (("win", GREEN), ("draw", GREY), ("loss", RED)):
        label = f"{what}: {newest[f'exact_{what}_vs_random']:.4f} at level {newest['level']:.0f}"
        draw_by_level(axes, table, f"exact_{what}_vs_random", colour, label)
    if ceiling is not None:
        label = f"most wins without a loss: {ceiling:.4f}"
        axes.axhline(ceiling, color="black", linestyle="--", linewidth=1, label=label)
    axes.set_ylim(-0.03, 1.03)
    legend_above(axes, columns=2)


def _draw_losing_lines(axes: Axes, table: "DataFrame") -> None:
    decorate(axes, "Lines of play that end in a loss", "level", "number of lines")
    axes.plot(table["level"], table["losing_lines_first"].astype(float), "o-", color=BLUE, label="moving first")
    second = table["losing_lines_second"].astype(float)
    axes.plot(table["level"], second, "s--", color=ORANGE, label="moving second", markersize=4)
    unbeatable = table.loc[(table["losing_lines_first"] == 0) & (table["losing_lines_second"] == 0), "level"]
    for number, level in enumerate(unbeatable):
        label = "none: unbeatable" if number == 0 else None
        axes.axvspan(level - 0.5, level + 0.5, color=GREEN, alpha=0.16, linewidth=0, label=label)
    # The range from 0 to 1 takes at least a tenth of the height, so that its labels do not overlap.
    largest = float(np.nanmax(table[["losing_lines_first", "losing_lines_second"]].to_numpy(dtype=float)))
    axes.set_yscale("symlog", linthresh=1, linscale=max(1.0, np.log10(max(largest, 1)) / 9))
    axes.yaxis.set_major_formatter(FuncFormatter(_power_of_ten))
    axes.set_ylim(bottom=-0.25)
    locator = SymmetricalLogLocator(base=10, linthresh=1)
    locator.set_params(numticks=9)
    axes.yaxis.set_major_locator(locator)
    legend_above(axes, columns=3)


def _power_of_ten(number: float, _: object) -> str:
    return f"{number:,.0f}" if number < 1e6 else f"$10^{{{np.log10(number):.0f}}}$"
