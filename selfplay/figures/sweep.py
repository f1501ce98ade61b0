"""The figure of the runs of a sweep: wins against the random player and rating, level by level."""

from collections.abc import Sequence
from itertools import cycle

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from selfplay.figures.style import (
    LINES,
    decorate,
    default_style,
    empty_figure,
    mark_start,
    whole_numbers_on_x,
    write_source,
)
from selfplay.games import GAMES, make_game
from selfplay.games.win_draw_loss import RESULTS
from selfplay.runs.finished_runs import FinishedRun, distinguishing_settings, setting_in_table, settings_key

LONGEST_LABEL = 48
WIDTH, HEIGHT, LINE, LETTER, BESIDE = 13, 5.2, 0.21, 0.085, 0.8
"""Inches: the size of the figure without its legend, the height of a line of the legend, the width of a letter of it,
and of what stands beside the letters of an entry."""
MARKERS = "osD^vPX"
"""One more than there are colours, so that the first 42 groups have different lines."""


@default_style()
def run_curves(runs: Sequence[FinishedRun]) -> Figure:
    """Two panels by level: the share of matches won against the random player, and the rating.

    Runs that differ only in their seeds have thin lines of one colour, and a thick line for their median; dots, if
    there is one level. The share is exact if it is known exactly for all runs, else sampled.

    `runs`: at least one.
    """
    groups = _groups(runs)
    columns = _columns(list(groups))
    figure = empty_figure(WIDTH, HEIGHT + LINE * -(-len(groups) // columns))
    left, right = figure.subplots(1, 2)
    is_exact = all(run.table["exact_win_vs_random"].notna().all() for run in runs)
    kind = "exact" if is_exact else "sampled"
    decorate(left, f"Matches won against the random player ({kind})", "level", "share of matches")
    decorate(right, "Rating", "level", "rating (Elo points, random = 0)")
    for (label, group), colour, marker in zip(groups.items(), cycle(LINES), cycle(MARKERS), strict=False):
        style = marker + LINES[colour][1:]
        _draw(left, [_share_won(run, is_exact) for run in group], colour, style, label)
        _draw(right, [_by_level(run, run.table["rating"]) for run in group], colour, style, label)
    for axes in (left, right):
        whole_numbers_on_x(axes, range(1, max(len(run.table) for run in runs)))
        mark_start(axes)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)
    games = sorted({_title_of_game(run) for run in runs})
    write_source(figure, f"{', '.join(games)}: {'1 run' if len(runs) == 1 else f'{len(runs)} runs'}")
    return figure


def _columns(labels: Sequence[str]) -> int:
    """The number of columns of the legend, at most three, for which the figure is wide enough."""
    room = WIDTH / (BESIDE + LETTER * max(map(len, labels)))
    return max(1, min(len(labels), 3, int(room)))


def _title_of_game(run: FinishedRun) -> str:
    name = str(run.all_settings.get("game.name", "unknown game"))
    # The game of another package may not be installed here.
    return make_game(name).presentation.title if name in GAMES else name


def _share_won(run: FinishedRun, is_exact: bool) -> "pd.Series[float]":
    if is_exact:
        return _by_level(run, run.table["exact_win_vs_random"])
    wins, draws, losses = (run.table[f"{result}_vs_random"] for result in RESULTS)
    return _by_level(run, wins / (wins + draws + losses))


def _by_level(run: FinishedRun, values: "pd.Series[float]") -> "pd.Series[float]":
    """The values from level 1 on. Level 0, the random player, is the same in all runs and far below."""
    return pd.Series(values.to_numpy(dtype=float, na_value=np.nan), index=run.table["level"]).iloc[1:]


def _draw(axes: Axes, curves: "Sequence[pd.Series[float]]", colour: str, style: str, label: str) -> None:
    is_single = len(curves) == 1
    for curve in curves if not is_single else ():
        # A line through a single level would not be visible.
        axes.plot(curve.index, curve, "-" if len(curve) > 1 else ".", color=colour, linewidth=0.9, alpha=0.45)
    # If one run has fewer levels than another, the median ends with the shorter one.
    median = pd.concat(curves, axis=1, join="inner").median(axis=1)
    axes.plot(median.index, median, style, color=colour, linewidth=2.4, markersize=4, label=label)


def _groups(runs: Sequence[FinishedRun]) -> dict[str, list[FinishedRun]]:
    """Groups of runs that differ only in their seeds, by label."""
    names = [name for name in distinguishing_settings(runs) if name != "seed"]
    by_key: dict[str, list[FinishedRun]] = {}
    for run in runs:
        by_key.setdefault(settings_key(run, names), []).append(run)
    groups: dict[str, list[FinishedRun]] = {}
    for number, group in enumerate(by_key.values(), start=1):
        label = _label(group, names)
        groups[label if label not in groups else f"{label[: LONGEST_LABEL - 5]} ({number})"] = group
    return groups


def _label(group: Sequence[FinishedRun], names: Sequence[str]) -> str:
    first = group[0]
    label = ", ".join(f"{name}={text}" for name in names if (text := setting_in_table(first, name)))
    if len(label) > LONGEST_LABEL:
        label = first.name if len(first.name) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…"
    count = f"median of {len(group)} runs, each thin" if len(group) > 1 else "one run"
    return f"{label} ({count})" if label else count
