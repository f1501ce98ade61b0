"""Ratings of many players on one scale, from the results of the matches between them."""

import math

import choix
import numpy as np
from numpy.typing import NDArray

ELO_PER_LOGIT = 400 / math.log(10)
NORMAL_QUANTILE = 1.959964
"""97.5 % of a normal distribution lie below it: the half-width of a 95 % interval in standard deviations."""
REGULARISATION = 0.01
"""Keeps the rating of a player finite who has won every match, as if each pair had a hundredth of a win more."""


def bradley_terry_ratings(wins: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[P]: ratings in Elo points, player 0 at 0, by the model of Bradley and Terry (1952).

    P(i beats j) = 1 / (1 + 10 ** ((rating[j] - rating[i]) / 400)), of greatest likelihood.

    Args:
        wins: float64[P, P], `wins[i, j]` how often i has won against j; a draw counts half a win for both.
    """
    strengths = choix.ilsr_pairwise_dense(wins, alpha=REGULARISATION)
    ratings: NDArray[np.float64] = (strengths - strengths[0]) * ELO_PER_LOGIT
    return ratings


def rating_half_widths(wins: NDArray[np.float64], ratings: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[P]: half the width of each rating's 95 % interval, in Elo points; 0 for player 0, the zero of the scale.

    The standard error is that of the likelihood's curvature: with n[i, j] matches between i and j, and p[i, j] the
    probability that i wins one, the information about the ratings is diag(w.sum(axis=1)) - w, w = n p (1 - p) (Hunter,
    "MM algorithms for generalized Bradley-Terry models", 2004). Draws count as half wins, which makes it too wide
    rather than too narrow.

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
