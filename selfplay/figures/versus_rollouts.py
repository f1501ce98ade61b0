"""versus_rollouts.png: how good the levels that learn a policy are against tree search with random matches."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from selfplay.figures.figure_files import TrainedRun
from selfplay.figures.style import BLUE, DARK, note_above, single_figure
from selfplay.runs.levels import Rated, rated_levels

BILLION = 1_000_000_000


def rating_figures(run: TrainedRun) -> dict[str, Figure]:
    """The figure, if levels were rated; levels in whose table the work or the interval is missing are left out."""
    rated = [one for one in rated_levels(run.folder) if None not in one]
    return {"versus_rollouts.png": scores_by_work(rated)} if rated else {}


def scores_by_work(rated: Sequence[Rated]) -> Figure:
    """The score of each level, with its 95 % interval, by the work of the matches from which it has learned."""
    figure, axes = single_figure(
        "Score against tree search with random matches, at equal work",
        "work of the searches in the matches so far, in billion multiplications",
        "points per match",
    )
    work = [(one.work or 0) / BILLION for one in rated]
    below = [one.score - (one.score_low or 0.0) for one in rated]
    above = [(one.score_high or 0.0) - one.score for one in rated]
    axes.errorbar(work, [one.score for one in rated], [below, above], fmt="o-", color=BLUE, markersize=5, elinewidth=1)
    axes.axhline(1 / 2, color=DARK, linewidth=1, linestyle="--", zorder=1)
    axes.set_ylim(0, 1)
    axes.set_xlim(left=0)
    note_above(axes, f"a point for each level from {rated[0].level} to {rated[-1].level}, with its 95 % interval")
    return figure
