"""ratings.png: the rating of each level, with those of the reference players of a large game."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from selfplay.figures.style import BLUE, draw_by_level, draw_named_lines, note_above, single_figure, whole_numbers_on_x
from selfplay.grading.comparison import Comparison

if TYPE_CHECKING:
    from pandas import DataFrame


def pictures(comparison: Comparison) -> dict[str, Figure]:
    """The figure."""
    measured = comparison.measurement
    references = {} if measured is None else {name: measured.ratings[name].points for name in measured.references}
    return {"ratings.png": ratings(comparison.table, references)}


def ratings(table: "DataFrame", references: Mapping[str, float] = MappingProxyType({})) -> Figure:
    """The rating of each level with its 95 % interval, and of each reference as a horizontal line with its name.

    Args:
        table: columns level, rating, rating_low, rating_high.
        references: the ratings of players by their names.
    """
    figure, axes = single_figure("Rating by level", "level", "rating (Elo points, random = 0)")
    draw_by_level(axes, table, "rating", BLUE)
    levels, low, high = table[["level", "rating_low", "rating_high"]].to_numpy(dtype=float).T
    axes.fill_between(levels, low, high, color=BLUE, alpha=0.15, linewidth=0)
    note_above(axes, "shaded: 95 % interval")
    whole_numbers_on_x(axes, table["level"])
    if references:
        draw_named_lines(axes, references)
    return figure
