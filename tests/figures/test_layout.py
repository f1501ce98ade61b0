"""No title, legend or note of a figure covers data or another of them, whatever the number of levels."""

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
import pytest
from matplotlib.artist import Artist
from matplotlib.axis import Tick
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from selfplay.figures.comparison import (
    exact_figures,
    mistakes,
    panels_by_level,
    ratings,
    versus_random,
    wins_minus_losses,
)
from selfplay.figures.losses import loss_by_level, loss_curves, parts_by_level
from selfplay.figures.style import write_source
from selfplay.figures.sweep import run_curves
from selfplay.figures.tournament import score_map
from selfplay.grading.measures import Panel
from selfplay.grading.solved_positions import MoveQuality, PositionGrade
from tests.figures.test_figures import losses_of, table_of
from tests.support.sweeps import level_table, run_of

SOURCE = "Tic-tac-toe, recipe=default, seed=0, " + ", ".join(f"training.setting_{n}=0.{n}" for n in range(9))
CHANGES = {1: "also on matches of earlier levels", 2: "no longer on random matches (level 0)"}
REFERENCES = {f"search:negascout?depth={depth}": 150.0 + depth for depth in range(5)}
LONG = "architecture.hidden_sizes=[{0},{0},{0}],learner.epochs={0}"
QUALITY = MoveQuality(10, 0.5, 0.5, 0)
GRADE = PositionGrade(QUALITY, dict.fromkeys(("end-easy", "middle-easy", "begin-easy", "begin-hard"), QUALITY))

FIGURES: dict[str, Callable[[int], Figure]] = {
    "losses": lambda levels: loss_curves(losses_of(levels)),
    "loss_by_level": lambda levels: loss_by_level(losses_of(levels), CHANGES, merges_rows=True),
    "policy_loss": lambda levels: parts_by_level(losses_of(levels, has_policies=True)),
    "exact": lambda levels: exact_figures(table_of(levels), 0.9556),
    "mistakes": lambda levels: mistakes(dict.fromkeys(range(levels), GRADE), dict.fromkeys(REFERENCES, 0.5)),
    "policies": lambda levels: panels_by_level(
        [Panel(f"{title} of a level", "share", range(levels), [0.9] * levels) for title in ("First", "Second")]
    ),
    "ratings": lambda levels: ratings(table_of(levels), REFERENCES),
    "versus_random": lambda levels: versus_random(table_of(levels)),
    "wins_minus_losses": lambda levels: wins_minus_losses(table_of(levels)),
    "sweep": lambda levels: run_curves([run_of(f"seed={n}", level_table(), seed=n) for n in range(levels)]),
    "sweep of many settings": lambda levels: run_curves([run_of(LONG.format(n), level_table()) for n in range(levels)]),
}


def explanations(figure: Figure) -> Iterator[tuple[str, Bbox]]:
    """The places of titles, labels of axes, legends and notes that are not empty."""
    legends = [*figure.legends, *filter(None, (axes.get_legend() for axes in figure.axes))]
    within = [text for parts in legends for text in parts.findobj(Text)]
    within += [text for tick in figure.findobj(Tick) for text in tick.findobj(Text)]
    for legend in legends:
        yield "legend", legend.get_window_extent()
    for text in figure.findobj(Text):
        if text.get_text() and text.get_visible() and text not in within:
            # The extent of the text alone, without the line of an annotation.
            yield text.get_text(), Text.get_window_extent(text)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("levels", "source"), [(1, 3 * SOURCE), (40, SOURCE)], ids=["one level", "40 levels"])
@pytest.mark.parametrize("name", FIGURES)
def test_nothing_covers_data(name: str, levels: int, source: str) -> None:
    figure = FIGURES[name](levels)
    write_source(figure, source)
    figure.get_layout_engine().execute(figure)
    found = list(explanations(figure))
    for what, place in found:
        assert figure.bbox.x0 <= place.x0 < place.x1 <= figure.bbox.x1, what
        assert figure.bbox.y0 <= place.y0 < place.y1 <= figure.bbox.y1, what
        for axes in figure.axes:
            assert not axes.get_visible() or not overlap(place, axes.bbox), what
    for (one, place), (other, beside) in combinations(found, 2):
        assert not overlap(place, beside), (one, other)


def overlap(one: Bbox, other: Bbox) -> bool:
    return min(one.x1, other.x1) > max(one.x0, other.x0) and min(one.y1, other.y1) > max(one.y0, other.y0)


def text_of(artist: Artist, text: str) -> Text:
    """What draws this text."""
    return next(one for one in artist.findobj(Text) if one.get_text() == text)


@pytest.mark.parametrize("name", ["loss_by_level", "exact", "mistakes", "policies", "sweep"])
@pytest.mark.parametrize("levels", [1, 6])
def test_titles_of_panels_beside_each_other_are_at_the_same_height(name: str, levels: int) -> None:
    figure = FIGURES[name](levels)
    figure.get_layout_engine().execute(figure)
    rows: dict[int, set[float]] = {}
    for axes in figure.axes:
        title = text_of(axes, axes.get_title("left"))
        rows.setdefault(axes.get_subplotspec().rowspan.start, set()).add(round(title.get_window_extent().y0, 3))
    assert {len(heights) for heights in rows.values()} == {1}


@pytest.mark.parametrize("name", FIGURES)
def test_lines_differ_by_more_than_their_colour_and_axes_say_where_they_begin(name: str) -> None:
    for axes in FIGURES[name](6).axes:
        handles = axes.get_legend_handles_labels()[0]
        lines = [handle[0] if isinstance(handle, ErrorbarContainer) else handle for handle in handles]
        styles = [(line.get_marker(), line.get_linestyle()) for line in lines if isinstance(line, Line2D)]
        assert len(set(styles)) == len(styles)
        low = axes.get_ylim()[0]
        assert low <= 0 or axes.get_ylabel().endswith(f"(the axis begins at {low:.3g}, not at 0)")


@pytest.mark.parametrize("names", [["random", "perfect"], [*REFERENCES, "greedy_discs"]], ids=len)
def test_the_heat_map_of_a_tournament_fills_its_figure(names: list[str]) -> None:
    figure = score_map(names, np.ones((len(names), len(names))) - np.eye(len(names)))
    write_source(figure, SOURCE[:60])
    figure.get_layout_engine().execute(figure)
    cells, scale = figure.axes
    drawn = cells.get_tightbbox()
    below = figure.bbox.y1 - text_of(figure, figure.get_suptitle()).get_window_extent().y0
    assert drawn.height > 0.8 * (figure.bbox.height - below)
    assert scale.get_tightbbox().x1 - drawn.x0 > (0.8 if len(names) > 2 else 0.5) * figure.bbox.width
    assert [text.get_text() for text in cells.get_xticklabels()] == [f"{n}" for n in range(1, len(names) + 1)]
    for label, number in zip(cells.get_yticklabels(), range(1, len(names) + 1), strict=True):
        assert label.get_text().startswith(f"{number}  ")
