"""No title, legend or note of a figure covers data or another of them, whatever the number of levels."""

from collections.abc import Callable, Iterator
from itertools import combinations

import pytest
from matplotlib.axis import Tick
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from selfplay.figures.comparison import exact_figures, mistakes, policies, ratings, versus_random, wins_minus_losses
from selfplay.figures.losses import loss_by_level, loss_curves, parts_by_level
from selfplay.figures.style import write_source
from selfplay.figures.sweep import run_curves
from selfplay.grading.solved_positions import MoveQuality, PositionGrade
from tests.figures.test_figures import losses_of, table_of
from tests.support.sweeps import level_table, run_of

SOURCE = "Tic-tac-toe, recipe=default, seed=0, " + ", ".join(f"training.setting_{n}=0.{n}" for n in range(9))
CHANGES = {1: "also on matches of earlier levels", 2: "no longer on random matches (level 0)"}
REFERENCES = {f"search:negascout?depth={depth}": 150.0 + depth for depth in range(5)}
QUALITY = MoveQuality(10, 0.5, 0.5, 0)
GRADE = PositionGrade(QUALITY, dict.fromkeys(("end-easy", "middle-easy", "begin-easy", "begin-hard"), QUALITY))

FIGURES: dict[str, Callable[[int], Figure]] = {
    "losses": lambda levels: loss_curves(losses_of(levels)),
    "loss_by_level": lambda levels: loss_by_level(losses_of(levels), CHANGES, merges_rows=True),
    "policy_loss": lambda levels: parts_by_level(losses_of(levels, has_policies=True)),
    "exact": lambda levels: exact_figures(table_of(levels), 0.9556),
    "mistakes": lambda levels: mistakes(dict.fromkeys(range(levels), GRADE), dict.fromkeys(REFERENCES, 0.5)),
    "policies": lambda levels: policies(range(levels), [1.0] * levels, [0.9] * levels),
    "ratings": lambda levels: ratings(table_of(levels), REFERENCES),
    "versus_random": lambda levels: versus_random(table_of(levels)),
    "wins_minus_losses": lambda levels: wins_minus_losses(table_of(levels)),
    "sweep": lambda levels: run_curves([run_of(f"seed={n}", level_table(), seed=n) for n in range(levels)]),
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


@pytest.mark.parametrize("name", FIGURES)
def test_nothing_covers_data(name: str) -> None:
    figure = FIGURES[name](40)
    write_source(figure, SOURCE)
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
