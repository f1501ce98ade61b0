"""ProbCut: the rule that cuts, the fit, the file of its parameters, and searches that cut."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from selfplay.errors import InvalidFileError, SettingError
from selfplay.games import State, make_game
from selfplay.named_players.evaluations import make_evaluation
from selfplay.search.probcut import (
    Check,
    ProbCutParameters,
    compile_probe,
    fit_check,
    probcut_text,
    read_probcut,
    shallow_depth,
)
from selfplay.search.searcher import Searcher
from tests.support.searches import evaluation_for, position_after

# The deep value is predicted as 2 * shallow + 1, with sigma 1.5 in the first phase and 6 from 20 stones on.
CHECK = Check(deep=4, shallow=2, slope=(2.0, 2.0), intercept=(1.0, 1.0), sigma=(1.5, 6.0))
PARAMETERS = ProbCutParameters("othello", "0" * 64, 600, (20,), (CHECK,))


def probe(alpha, beta, *, guess=0.0, left=4, stones=4):
    """Run the rule as Python, with threshold 2: the depth of the search, the limit, and whether to be at least that."""
    search = SimpleNamespace(probing=PARAMETERS.probing(2.0), parameters=SimpleNamespace(unfinished=None))
    rule = compile_probe(lambda position, parameters: guess)
    return rule(SimpleNamespace(own=(1 << stones) - 1, opp=0), left, alpha, beta, search)


def test_a_position_is_cut_where_the_prediction_is_above_beta_by_the_threshold():
    # 2 * s + 1 >= 10 + 2 * 1.5 from s = 6 on.
    assert probe(-10.0, 10.0, guess=1.0) == (2, 6.0, True)


def test_a_position_is_cut_where_the_prediction_is_below_alpha_by_the_threshold():
    # 2 * s + 1 <= -10 - 2 * 1.5 down from s = -7.
    assert probe(-10.0, 10.0, guess=-1.0) == (2, -7.0, False)


def test_nothing_is_searched_without_a_check_or_a_window():
    assert probe(-10.0, 10.0, left=3)[0] == 0
    assert probe(-10.0, 10.0, left=5)[0] == 0
    assert probe(-np.inf, np.inf)[0] == 0


def test_the_fit_finds_the_line_and_the_deviation_in_each_phase():
    shallow = np.array([-2.0, -1.0, 1.0, 2.0, 0.0, 0.0])
    error = np.array([0.5, -0.5, -0.5, 0.5, 0.1, -0.1])
    phases = np.array([0, 0, 0, 0, 1, 1])
    check = fit_check({1: shallow, 3: 1.25 * shallow + 0.25 + error}, phases, 3)
    assert (check.deep, check.shallow) == (3, 1)
    assert check.slope == pytest.approx((1.25, 1.0)), "a line with slope 1 where all shallow values are equal"
    assert check.intercept == pytest.approx((0.25, 0.25))
    assert check.sigma == pytest.approx((0.5, 0.1))


def test_the_file_keeps_the_parameters(tmp_path):
    path = tmp_path / "probcut.yaml"
    path.write_text(probcut_text(PARAMETERS))
    assert read_probcut(path) == PARAMETERS


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("shallow: 2", "shallow: 4", "a check has deep=4 and shallow=4, not less"),
        ("phases: [20]", "phases: [20, 30]", "the check with deep=4 needs 3 numbers of each kind"),
        ("phases: [20]", "phases: [30, 20]", "phases must be ascending numbers of stones"),
        ("sigma: [1.5000", "sigma: [-1.5", "is not a file of ProbCut parameters"),
    ],
)
def test_a_broken_file_is_refused(old, new, reason, tmp_path):
    path = tmp_path / "probcut.yaml"
    path.write_text(probcut_text(PARAMETERS).replace(old, new))
    with pytest.raises(InvalidFileError, match=reason):
        read_probcut(path)


@pytest.mark.parametrize(
    ("algorithm", "threshold", "reason"),
    [
        ("minimax", 1.5, "probcut: minimax searches every position; use negascout or alpha_beta"),
        ("negascout", 0.0, "probcut=0.0: must be a number of standard deviations above 0"),
    ],
)
def test_settings_that_do_not_fit_are_refused(algorithm, threshold, reason):
    game = make_game("othello")
    with pytest.raises(SettingError, match=reason):
        Searcher(game, make_evaluation("none", game), algorithm, probcut=PARAMETERS.probing(threshold))


# ---------------------------------------------------------------------- compiled searches

OTHELLO = make_game("othello")
FITTED = replace(
    PARAMETERS,
    phases=(),
    checks=tuple(Check(deep, shallow_depth(deep), (1.0,), (0.0,), (20.0,)) for deep in range(3, 7)),
)


def searcher(threshold):
    probcut = None if threshold is None else FITTED.probing(threshold)
    return Searcher(OTHELLO, evaluation_for(OTHELLO), probcut=probcut)


@pytest.mark.slow
def test_cutting_visits_fewer_positions_and_is_repeatable():
    states = [position_after(OTHELLO, 20, seed) for seed in range(10)]
    batch = State(*map(torch.cat, zip(*states, strict=True)))
    exact, cut = (searcher(threshold).search_batch(batch, 6) for threshold in (None, 0.5))
    assert cut.visited.sum() < 0.8 * exact.visited.sum()
    # A result depends on the position and the depth alone, not on what was searched before.
    # Several threads would change it, so they search only where a time limit allows that.
    one = searcher(0.5)
    one.num_threads = 2
    one.search_batch(batch, 5)
    alone = [one.search_batch(state, 6) for state in reversed(states)]
    assert [float(found.values[0]) for found in reversed(alone)] == cut.values.tolist()
    assert [int(found.visited[0]) for found in reversed(alone)] == cut.visited.tolist()
