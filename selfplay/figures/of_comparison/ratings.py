"""ratings.png: the rating of each level, with those of the reference players of a large game."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from selfplay.figures.style import BLUE, DARK, LINE_OF_TEXT, ORANGE, draw_by_level, single_figure, whole_numbers_on_x
from selfplay.grading.comparison import Comparison

if TYPE_CHECKING:
    from pandas import DataFrame


def pictures(comparison: Comparison) -> dict[str, Figure]:
    """The figure."""
    measured = comparison.measurement
    references = {} if measured is None else {name: measured.ratings[name].points for name in measured.references}
    return {"ratings.png": ratings(comparison.table, references)}


def ratings(table: "DataFrame", references: Mapping[str, float] = MappingProxyType({})) -> Figure:
    """The rating of each level, and of each reference as a horizontal line with its name.

    Args:
        table: columns level, rating; also rating_low and rating_high if there are intervals to draw.
        references: the ratings of players by their names.
    """
    figure, axes = single_figure("Rating by level", "level", "rating (Elo points)")
    draw_by_level(axes, table, "rating", BLUE)
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
    """Write the name of each line to the right of the axes, at its height or a little above, without overlaps."""
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
