"""mistakes.png: how often each level gives a win or a draw away, by group of positions and in all of them."""

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from selfplay.figures.style import (
    BLUE,
    GREEN,
    ORANGE,
    RED,
    decorate,
    draw_named_lines,
    empty_figure,
    legend_above,
    whole_numbers_on_x,
)
from selfplay.grading.comparison import Comparison
from selfplay.grading.judge.positions import JudgedGrade

COLOURS = {"easy": GREEN, "medium": ORANGE, "hard": RED}
LINES = {"end": "^:", "middle": "s--", "begin": "o-"}


def pictures(comparison: Comparison) -> dict[str, Figure]:
    """The figure; none if no exact solver judges the game."""
    measured = comparison.measurement
    if measured is None or measured.judgement is None:
        return {}
    grades = measured.judgement.grades
    levels = {who: grade for who, grade in grades.items() if isinstance(who, int)}
    references = {who: grade.overall.mistakes for who, grade in grades.items() if isinstance(who, str)}
    return {"mistakes.png": mistakes(levels, references)} if levels else {}


def mistakes(levels: Mapping[int, JudgedGrade], references: Mapping[str, float]) -> Figure:
    """The share of mistakes by level: on the left in each group of positions, on the right in all of them.

    Args:
        levels: the grade of each level, in ascending order; at least one.
        references: the share of mistakes of other players in all positions, by their names.
    """
    figure = empty_figure(13, 4.8)
    by_group, overall = figure.subplots(1, 2, sharey=True)
    decorate(by_group, "Wins and draws given away, by stage and difficulty", "level", "share of positions")
    _draw_groups(by_group, levels)
    decorate(overall, "In all positions", "level", "")
    rates = [grade.overall.mistakes for grade in levels.values()]
    overall.plot(list(levels), rates, "o-", color=BLUE, markersize=5)
    for axes in (by_group, overall):
        axes.set_ylim(bottom=0)
        whole_numbers_on_x(axes, levels)
    draw_named_lines(overall, references)
    return figure


def _draw_groups(axes: Axes, levels: Mapping[int, JudgedGrade]) -> None:
    grades = list(levels.values())
    for group in grades[0].groups:
        stage, difficulty = group.split("-")
        rates = [grade.groups[group].mistakes for grade in grades]
        axes.plot(list(levels), rates, LINES[stage], color=COLOURS[difficulty], label=group, markersize=5)
    legend_above(axes, columns=3)
