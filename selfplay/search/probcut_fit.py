"""Fitting ProbCut: how well a shallow search predicts a deep one, from the values of both in the same positions."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SMALLEST_DEPTH = 3
"""The smallest depth of a search that a shallower one may replace."""
LEAST_SLOPE = 0.1
"""Where a fitted line is less steep, the shallow search predicts too little; a line with slope 1 is used instead."""


class Check(NamedTuple):
    """The prediction of a deep search by a shallow one, in each of P phases of the match: see `probcut`."""

    deep: int
    shallow: int
    slope: tuple[float, ...]
    intercept: tuple[float, ...]
    sigma: tuple[float, ...]


def shallow_depth(deep: int) -> int:
    """The depth of the search that predicts one to depth `deep`: about half, and even if `deep` is even.

    Values of odd and even depths differ systematically, because one player has the last move.
    """
    half = deep // 2
    return half if (deep - half) % 2 == 0 else half - 1


def fit_check(values: Mapping[int, NDArray[np.float64]], phases: NDArray[np.int64], deep: int) -> Check:
    """Fit the prediction of the search to depth `deep` by least squares.

    Args:
        values: float64[N] by depth: the values of N positions.
        phases: int64[N]: the phase of each position; every phase from 0 to the last has positions.
    """
    shallow = shallow_depth(deep)
    one, other = values[shallow], values[deep]
    lines = [_line(one[phases == phase], other[phases == phase]) for phase in range(int(phases.max()) + 1)]
    slopes, intercepts, sigmas = zip(*lines, strict=True)
    return Check(deep, shallow, slopes, intercepts, sigmas)


def _line(one: NDArray[np.float64], other: NDArray[np.float64]) -> tuple[float, float, float]:
    """The slope and the intercept of the line of `other` over `one`, and the standard deviation around it."""
    spread = float(one.var())
    slope = float(np.mean((one - one.mean()) * (other - other.mean()))) / spread if spread > 0 else 1.0
    slope = slope if slope >= LEAST_SLOPE else 1.0
    intercept = float(other.mean() - slope * one.mean())
    return slope, intercept, float((other - slope * one - intercept).std())
