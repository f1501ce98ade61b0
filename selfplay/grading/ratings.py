"""Ratings of many players on one scale, from the results of the matches between them."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from selfplay.games.win_draw_loss import NORMAL_QUANTILE, WinDrawLoss
from selfplay.grading.tables import Row

ELO_PER_LOGIT = 400 / math.log(10)
REGULARISATION = 0.01
"""Wins added to each pair, so that the rating of a player who won every match stays finite."""
TOLERANCE = 1e-8
"""The mean change of a logarithm of strength at which ratings are final."""

Name = TypeVar("Name")


class Rating(NamedTuple):
    """Elo points relative to the first player, and their 95 % interval."""

    points: float
    low: float
    high: float

    def fields(self) -> Row:
        """The fields of `selfplay.grading.tables.RATING_COLUMNS`."""
        return {"rating": self.points, "rating_low": self.low, "rating_high": self.high}


def rate(players: Sequence[Name], results: Iterable[tuple[tuple[Name, Name], WinDrawLoss[int]]]) -> dict[Name, Rating]:
    """The rating of each player from all matches, the first player at 0; a draw counts as half a win.

    `results`: pairs of players and their results, counted for the first of the pair. A pair may occur several times.
    """
    points = points_won(players, results)
    ratings = bradley_terry_ratings(points)
    half_widths = rating_half_widths(points, ratings)
    ends = zip(ratings, ratings - half_widths, ratings + half_widths, strict=True)
    return {player: Rating(*map(float, three)) for player, three in zip(players, ends, strict=True)}


def points_won(
    players: Sequence[Name], results: Iterable[tuple[tuple[Name, Name], WinDrawLoss[int]]]
) -> NDArray[np.float64]:
    """float64[P, P]: the points that each player won against each other, a draw half a point; 0 on the diagonal."""
    number = {player: place for place, player in enumerate(players)}
    points = np.zeros((len(players), len(players)))
    for (one, other), result in results:
        points[number[one], number[other]] += result.points
        points[number[other], number[one]] += result.reversed().points
    return points


def bradley_terry_ratings(wins: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[P]: maximum likelihood ratings in Elo points, player 0 at 0, by the model of Bradley and Terry (1952).

    P(i beats j) = 1 / (1 + 10 ** ((rating[j] - rating[i]) / 400))

    They are found as the stationary distribution of a Markov chain that steps from losers to winners, repeated until it
    stays the same (Maystre & Grossglauser, "Fast and accurate inference of Plackett-Luce models", 2015).

    Args:
        wins: float64[P, P], `wins[i, j]` is how often i won against j; a draw counts as half a win for both.
    """
    weights, change = np.ones(len(wins)), 1.0
    while change > TOLERANCE:
        rates = REGULARISATION + wins.T / (weights[:, None] + weights[None, :])
        # In the stationary distribution as much flows into each player as out; its sum is the number of players.
        flows = rates.T - np.diag(rates.sum(axis=1))
        flows[-1] = 1
        stationary = np.linalg.solve(flows, np.append(np.zeros(len(wins) - 1), len(wins)))
        ratio = np.log(stationary / weights)
        weights, change = stationary, np.abs(ratio - ratio.mean()).mean()
    strengths = np.log(weights)
    ratings: NDArray[np.float64] = (strengths - strengths[0]) * ELO_PER_LOGIT
    return ratings


def rating_half_widths(wins: NDArray[np.float64], ratings: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[P]: half the width of each rating's 95 % interval, in Elo points; 0 for player 0, the zero of the scale.

    The standard errors follow from the curvature of the likelihood: with n[i, j] matches between i and j, and p[i, j]
    the probability that i wins one, the information about the ratings is diag(w.sum(axis=1)) - w, w = n p (1 - p)
    (Hunter, "MM algorithms for generalized Bradley-Terry models", 2004). Counting draws as half wins makes the
    intervals too wide rather than too narrow.

    Args:
        wins: as in `bradley_terry_ratings`, which gives `ratings`.
    """
    strengths = ratings / ELO_PER_LOGIT
    matches = wins + wins.T + 2 * REGULARISATION
    np.fill_diagonal(matches, 0)
    chances = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
    weights = matches * chances * (1 - chances)
    information = np.diag(weights.sum(axis=1)) - weights
    variances = np.diag(np.linalg.inv(information[1:, 1:]))
    half_widths: NDArray[np.float64] = np.append(0.0, NORMAL_QUANTILE * np.sqrt(variances)) * ELO_PER_LOGIT
    return half_widths
