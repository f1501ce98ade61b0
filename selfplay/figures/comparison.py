"""The figures of the comparison of all levels of a run."""

from collections.abc import Mapping, Sequence
from functools import singledispatch
from itertools import cycle
from types import MappingProxyType

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, SymmetricalLogLocator
from pandas import DataFrame

from selfplay.figures.style import (
    BLUE,
    DARK,
    GREEN,
    GREY,
    LINES,
    ORANGE,
    RED,
    align_titles,
    decorate,
    draw_by_level,
    draw_named_lines,
    empty_figure,
    legend_above,
    mark_start,
    note_above,
    single_figure,
    whole_numbers_on_x,
)
from selfplay.games.game import SEATS
from selfplay.games.win_draw_loss import BETTER, UNDECIDED, WORSE, WinDrawLoss, share_text, sign_test_interval
from selfplay.grading.comparison import Comparison
from selfplay.grading.grades_and_policies import ExactGrades
from selfplay.grading.measures import Improvement, Measure, Panel
from selfplay.grading.mistakes import Mistakes
from selfplay.grading.ratings import Ratings
from selfplay.grading.solved_positions import PositionGrade


def comparison_figures(comparison: Comparison) -> dict[str, Figure]:
    """The figures of all measures, by file name."""
    return {
        name: figure
        for measure in comparison.measures
        for name, figure in figures_of(measure, comparison.table).items()
    }


@singledispatch
def figures_of(measure: Measure, table: DataFrame) -> dict[str, Figure]:
    """The figures of a measure by file name: its panels, unless a function is registered below for its class.

    `table`: comparison/levels.csv.
    """
    return {name: panels_by_level(panels) for name, panels in measure.panels().items()}


@figures_of.register
def _(measure: Improvement, table: DataFrame) -> dict[str, Figure]:
    return {
        "versus_random.png": versus_random(table),
        "wins_minus_losses.png": wins_minus_losses(table, measure.evidence()),
    }


@figures_of.register
def _(measure: Ratings, table: DataFrame) -> dict[str, Figure]:
    references = {name: measure.ratings[name].points for name in measure.compared.references}
    return {"ratings.png": ratings(table, references)}


@figures_of.register
def _(measure: ExactGrades, table: DataFrame) -> dict[str, Figure]:
    return {"exact.png": exact_figures(table, measure.ceiling)}


@figures_of.register
def _(measure: Mistakes, table: DataFrame) -> dict[str, Figure]:
    levels = {who: grade for who, grade in measure.grades.items() if isinstance(who, int)}
    others = {who: grade.overall.mistakes for who, grade in measure.grades.items() if isinstance(who, str)}
    return {"mistakes.png": mistakes(levels, others)} if levels else {}


def panels_by_level(panels: Sequence[Panel]) -> Figure:
    """Panels beside each other, with a curve each."""
    figure = empty_figure(5.5 * len(panels), 4.2)
    places = figure.subplots(1, len(panels), squeeze=False)[0]
    for axes, panel, colour in zip(places, panels, cycle((BLUE, GREEN, ORANGE, RED)), strict=False):
        decorate(axes, panel.title, "level", panel.y_label)
        axes.plot(panel.levels, panel.numbers, "o-", color=colour, markersize=5)
        axes.set_ylim(0, panel.top or 1.1 * max(panel.numbers) or 1)
        whole_numbers_on_x(axes, panel.levels)
    return figure


def exact_figures(table: DataFrame, ceiling: float | None = None) -> Figure:
    """Four panels by level: results against the random player, losing lines, share of optimal actions, error of values.

    Args:
        table: comparison/levels.csv.
        ceiling: the largest probability with which a player who never loses can win against the random player.
    """
    figure = empty_figure(12, 8)
    panels = figure.subplots(2, 2)
    _draw_results(panels[0, 0], table, ceiling)
    _draw_losing_lines(panels[0, 1], table)
    decorate(panels[1, 0], "Positions in which the action is optimal", "level", "share of positions")
    draw_by_level(panels[1, 0], table, "optimal_action_rate", BLUE)
    panels[1, 0].set_ylim(top=1.005)
    mark_start(panels[1, 0])
    decorate(panels[1, 1], "Error of the values against perfect play", "level", "mean squared error")
    draw_by_level(panels[1, 1], table, "value_error", BLUE)
    panels[1, 1].set_ylim(bottom=0)
    note_above(panels[1, 1], "perfect values are -1, 0 and 1; the error of discounted values stays above 0")
    for axes in panels.flat:
        whole_numbers_on_x(axes, table["level"])
    align_titles(figure)
    return figure


def _draw_results(axes: Axes, table: DataFrame, ceiling: float | None) -> None:
    decorate(axes, "Exact result against the random player, both seats", "level", "probability")
    newest = table.iloc[-1]
    for what, colour in (("win", GREEN), ("draw", GREY), ("loss", RED)):
        label = f"{what}: {share_text(newest[f'exact_{what}_vs_random'])} at level {newest['level']:.0f}"
        draw_by_level(axes, table, f"exact_{what}_vs_random", colour, label)
    if ceiling is not None:
        label = f"most wins without a loss: {share_text(ceiling)}"
        axes.axhline(ceiling, color="black", linestyle="--", linewidth=1, label=label)
    axes.set_ylim(-0.03, 1.03)
    legend_above(axes, columns=2)


MOST_DRAWN = 10**200
"""The largest number of lines that is drawn: a float, with room for the axis, holds no more than 10^308."""


def _draw_losing_lines(axes: Axes, table: DataFrame) -> None:
    decorate(axes, "Lines of play that end in a loss", "level", "number of lines")
    first, second = (table[f"losing_lines_{seat}"].map(lambda lines: float(min(lines, MOST_DRAWN))) for seat in SEATS)
    axes.plot(table["level"], first, LINES[BLUE], color=BLUE, label="moving first")
    axes.plot(table["level"], second, LINES[ORANGE], color=ORANGE, label="moving second", markersize=4)
    unbeatable = table.loc[(first == 0) & (second == 0), "level"]
    for number, level in enumerate(unbeatable):
        label = "none: unbeatable" if number == 0 else None
        axes.axvspan(level - 0.5, level + 0.5, color=GREEN, alpha=0.16, linewidth=0, label=label)
    # The range from 0 to 1 takes at least a tenth of the height, so that its labels do not overlap.
    largest = max(first.max(), second.max())
    axes.set_yscale("symlog", linthresh=1, linscale=max(1.0, np.log10(max(largest, 1)) / 9))
    axes.yaxis.set_major_formatter(FuncFormatter(_power_of_ten))
    axes.set_ylim(bottom=-0.25)
    locator = SymmetricalLogLocator(base=10, linthresh=1)
    locator.set_params(numticks=9)
    axes.yaxis.set_major_locator(locator)
    legend_above(axes, columns=3)


def _power_of_ten(number: float, _: object) -> str:
    return f"{number:,.0f}" if number < 1e6 else f"$10^{{{np.log10(number):.0f}}}$"


def ratings(table: DataFrame, references: Mapping[str, float] = MappingProxyType({})) -> Figure:
    """The rating of each level of comparison/levels.csv with its 95 % interval.

    `references`: the ratings of other players by their names, drawn as horizontal lines.
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


CURVES = {"wins": GREEN, "draws": GREY, "losses": RED}


def versus_random(table: DataFrame) -> Figure:
    """The numbers of wins, draws and losses by level on a logarithmic axis that begins at 0, with 95 % intervals."""
    played = table[table["wins_vs_random"].notna()]
    levels = played["level"].to_numpy(dtype=np.int64)
    matches = int(played[[f"{result}_vs_random" for result in CURVES]].iloc[-1].sum())
    title = f"{matches:,} matches of each level against the random player"
    figure, axes = single_figure(title, "level", "number of matches")
    for result, colour in CURVES.items():
        counts = played[f"{result}_vs_random"].to_numpy(dtype=float)
        ends = [played[f"{result}_rate_{end}_vs_random"].to_numpy(dtype=float) * matches for end in ("low", "high")]
        label = f"{result} ({counts[-1]:,.0f} of level {levels[-1]})"
        # Rounding may put an end of an interval on the wrong side of its count.
        errors = np.maximum([counts - ends[0], ends[1] - counts], 0)
        axes.errorbar(levels, counts, errors, fmt=LINES[colour], color=colour, markersize=5, elinewidth=1, label=label)
    axes.set_yscale("symlog", linthresh=1)
    axes.set_ylim(-0.1, 1.5 * matches)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count:,.0f}"))
    whole_numbers_on_x(axes, levels)
    legend_above(axes, columns=3)
    return figure


WORD_COLOURS = {BETTER: GREEN, WORSE: RED, UNDECIDED: GREY}
NOTE = (
    "exact sign test, 5 % level: green better, red worse, grey no significant difference; whiskers: its 95 % interval"
)


def wins_minus_losses(table: DataFrame, evidence: Mapping[int, WinDrawLoss[int]] = MappingProxyType({})) -> Figure:
    """Wins minus losses of each level in its matches against the level before it, with 95 % intervals.

    The intervals are those of the sign test whose results are in the column word_vs_previous.

    Args:
        table: comparison/levels.csv.
        evidence: the results of levels without copies of matches (`selfplay.matches.series.PairResult.evidence`), which
            give the intervals; a level that is left out has none.
    """
    played = table[table["wins_vs_previous"].notna()]
    levels = played["level"].to_numpy(dtype=np.int64)
    counts = played[[f"{what}_vs_previous" for what in WinDrawLoss._fields]].to_numpy(dtype=np.int64)
    results = [WinDrawLoss(*map(int, row)) for row in counts]
    differences = counts[:, 0] - counts[:, 2]
    without_copies = [evidence.get(level, result) for level, result in zip(levels.tolist(), results, strict=True)]
    scales = [result.matches / counted.matches for result, counted in zip(results, without_copies, strict=True)]
    intervals = np.array([sign_test_interval(counted) for counted in without_copies]) * np.array(scales)[:, None]
    y_label = f"wins minus losses in {results[-1].matches:,} matches"
    figure, axes = single_figure("Each level against the one before it", "level", y_label)
    axes.bar(
        levels,
        differences,
        width=min(0.7, 0.2 * len(levels)),
        color=[WORD_COLOURS[word] for word in played["word_vs_previous"]],
        # The interval is without copies, so the difference with copies may even be outside the interval.
        yerr=np.maximum([differences - intervals[:, 0], intervals[:, 1] - differences], 0),
        capsize=3,
        error_kw={"ecolor": DARK, "elinewidth": 1.2},
    )
    axes.axhline(0, color="black", linewidth=0.9)
    whole_numbers_on_x(axes, levels)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    note_above(axes, NOTE)
    return figure


MARKERS = {"end": "^", "middle": "s", "begin": "o"}
DIFFICULTIES = {"easy": (GREEN, ":"), "medium": (ORANGE, "--"), "hard": (RED, "-")}
"""The colour and the dashes of each difficulty; the markers are those of the stage of the match."""


def mistakes(levels: Mapping[int, PositionGrade], references: Mapping[str, float]) -> Figure:
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
    align_titles(figure)
    return figure


def _draw_groups(axes: Axes, levels: Mapping[int, PositionGrade]) -> None:
    grades = list(levels.values())
    for group in grades[0].groups:
        stage, difficulty = group.split("-")
        rates = [grade.groups[group].mistakes for grade in grades]
        colour, dashes = DIFFICULTIES[difficulty]
        axes.plot(list(levels), rates, MARKERS[stage] + dashes, color=colour, label=group, markersize=5)
    legend_above(axes, columns=3)
