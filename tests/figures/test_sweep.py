"""The curves of all runs of a sweep."""

import numpy as np

from selfplay.figures.sweep import run_curves
from tests.support.sweeps import level_table, run_of


def lines_of(axes):
    """The colour, width and values of each line."""
    return [(line.get_color(), line.get_linewidth(), np.round(line.get_ydata(), 6).tolist()) for line in axes.lines]


def test_runs_are_thin_lines_and_medians_of_equal_settings_are_thick_ones():
    shares = {"article": [(0.5, 0.6), (0.6, 0.8), (0.9, 0.7)], "default": [(0.9, 0.95)]}
    runs = [
        run_of(f"recipe={recipe},seed={seed}", level_table((0.4, *pair), ratings=(0, seed, 10 * seed)), seed=seed)
        for recipe, pairs in shares.items()
        for seed, pair in enumerate(pairs)
    ]
    figure = run_curves(runs)
    won, rated = map(lines_of, figure.axes)
    assert [values for _, _, values in won] == [[0.5, 0.6], [0.6, 0.8], [0.9, 0.7], [0.6, 0.7], [0.9, 0.95]]
    assert [values for _, _, values in rated] == [[0, 0], [1, 10], [2, 20], [1, 10], [0, 0]]
    colours, widths = [line[0] for line in won], [line[1] for line in won]
    assert len(set(colours[:4])) == 1
    assert colours[4] != colours[0]
    assert max(widths[:3]) < min(widths[3:])
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["recipe=article (median of 3 runs, each thin)", "recipe=default (one run)"]
    assert "exact" in figure.axes[0].get_title(loc="left")


def test_all_shares_are_sampled_if_one_run_is_not_graded_exactly():
    runs = [run_of("a", level_table((0.4, 0.5, 0.75), exact=False), game="othello"), run_of("b", level_table())]
    figure = run_curves(runs)
    assert "sampled" in figure.axes[0].get_title(loc="left")
    assert figure.get_suptitle() == "Othello, Tic-tac-toe: 2 runs"
    assert figure.axes[1].get_ylabel().startswith("rating (Elo points, random = 0)")
    assert [values for _, _, values in lines_of(figure.axes[0])] == [[0.5, 0.75], [0.8, 0.9]]


def test_a_single_level_is_a_dot_for_each_run_and_groups_differ_by_their_markers():
    runs = [
        run_of(f"recipe={recipe},seed={seed}", level_table((0.4, 0.5 + seed / 10, 0)).iloc[:2], seed=seed)
        for recipe in ("article", "default")
        for seed in range(2)
    ]
    lines = run_curves(runs).axes[0].lines
    assert [line.get_marker() for line in lines] == [".", ".", "o", ".", ".", "s"]
