"""The figure of levels against tree search with random matches."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from matplotlib.collections import LineCollection

from selfplay.figures import versus_rollouts
from selfplay.figures.versus_rollouts import rating_figures, scores_by_work
from selfplay.runs.levels import Rated

FIRST = Rated(1, 150, 1400, 0.1, score_low=0.0, score_high=0.2, work=2_000_000_000)
SECOND = Rated(2, 150, 1400, 0.6, 0.5, 8, score_low=0.45, score_high=0.75, work=5_000_000_000)
RATED = [FIRST, SECOND]


def test_scores_have_intervals_and_stand_at_their_work() -> None:
    (axes,) = scores_by_work(RATED).axes
    curve = axes.lines[0]
    assert curve.get_xdata().tolist() == [2, 5]
    assert curve.get_ydata().tolist() == [0.1, 0.6]
    (bars,) = [one for one in axes.collections if isinstance(one, LineCollection)]
    ends = [segment[:, 1].tolist() for segment in bars.get_segments()]
    assert ends == [pytest.approx([0.0, 0.2]), pytest.approx([0.45, 0.75])]


def test_without_rated_levels_there_is_no_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    run = cast(Any, SimpleNamespace(folder=None))
    for rated, names in (([], []), ([Rated(1, 150, 1400, 0.1)], []), (RATED, ["versus_rollouts.png"])):
        monkeypatch.setattr(versus_rollouts, "rated_levels", lambda _, rated=rated: rated)
        assert list(rating_figures(run)) == names
