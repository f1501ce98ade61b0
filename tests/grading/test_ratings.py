"""Ratings: known odds, draws, and players that win every match."""

import numpy as np
import pytest

from selfplay.games.win_draw_loss import NORMAL_QUANTILE
from selfplay.grading.ratings import ELO_PER_LOGIT, bradley_terry_ratings, rating_half_widths


def test_ten_wins_to_one_are_four_hundred_points() -> None:
    wins = np.array([[0.0, 1000.0], [10000.0, 0.0]])
    first, second = bradley_terry_ratings(wins)
    assert first == 0
    assert second == pytest.approx(400, abs=0.1)


def test_the_interval_of_two_players_is_that_of_the_log_odds() -> None:
    """The variance of the log odds of a binomial count is 1 / (n p (1 - p))."""
    wins = np.array([[0.0, 600], [400, 0]])
    half_widths = rating_half_widths(wins, bradley_terry_ratings(wins))
    assert half_widths[0] == 0
    assert half_widths[1] == pytest.approx(NORMAL_QUANTILE * ELO_PER_LOGIT / np.sqrt(1000 * 0.6 * 0.4), rel=1e-3)


def test_intervals_cover_the_true_ratings_at_their_confidence_level() -> None:
    true = np.array([0.0, 150, 300, -80])
    chances = 1 / (1 + 10 ** ((true[None, :] - true[:, None]) / 400))
    rng = np.random.default_rng(0)
    held = []
    for _ in range(300):
        upper = np.triu(rng.binomial(200, chances), 1)
        wins = (upper + np.triu(200 - upper, 1).T).astype(float)
        ratings = bradley_terry_ratings(wins)
        held.append(np.abs(ratings - true) <= rating_half_widths(wins, ratings))
    # 95 % of 900, within five standard deviations.
    assert np.mean(np.array(held)[:, 1:]) == pytest.approx(0.95, abs=5 * np.sqrt(0.95 * 0.05 / 900))
