"""Matches won, drawn and lost by one of the two players: the one type for their counts, shares and probabilities."""

import math
from collections.abc import Iterable
from typing import Generic, NamedTuple, TypeVar

import numpy as np

Number = TypeVar("Number", bound=float)

TAIL = 0.025
"""The probability beyond each end of an interval of 95 %."""
NORMAL_QUANTILE = 1.959963984540054
"""The 97.5 % quantile of the normal distribution: the half-width of a 95 % interval in standard deviations."""
BISECTIONS = 50
BETTER, WORSE, UNDECIDED = "better", "worse", "not told apart"
"""The results of `sign_test`, as written in CSV files."""


class WinDrawLoss(NamedTuple, Generic[Number]):
    """Matches won, drawn and lost: counts (int) or probabilities (float), as seen by one of the two players."""

    wins: Number
    draws: Number
    losses: Number

    def __str__(self) -> str:
        return f"{self.wins}-{self.draws}-{self.losses}"

    @property
    def matches(self) -> int:
        """The number of matches counted."""
        return int(self.wins + self.draws + self.losses)

    @property
    def points(self) -> float:
        """A win is one point, a draw half a point."""
        return self.wins + self.draws / 2

    @property
    def score(self) -> float:
        """The points per match, from 0 to 1."""
        return self.points / self.matches

    @property
    def rates(self) -> "WinDrawLoss[float]":
        """The share of matches won, drawn and lost."""
        return WinDrawLoss(self.wins / self.matches, self.draws / self.matches, self.losses / self.matches)

    def reversed(self) -> "WinDrawLoss[Number]":
        """The same matches as seen by the opponent."""
        return WinDrawLoss(self.losses, self.draws, self.wins)


def total(results: Iterable[WinDrawLoss[int]]) -> WinDrawLoss[int]:
    """All results added up."""
    return WinDrawLoss(*map(sum, zip((0, 0, 0), *results, strict=True)))


def mean_of_seats(first: WinDrawLoss[float], second: WinDrawLoss[float]) -> WinDrawLoss[float]:
    """Probabilities over both seats, from those of a player that moves first and second."""
    return WinDrawLoss(*((a + b) / 2 for a, b in zip(first, second, strict=True)))


def wilson_interval(count: int, matches: int) -> tuple[float, float]:
    """The 95 % confidence interval (Wilson, 1927) of the rate of an event that occurred in `count` of the matches."""
    weight = NORMAL_QUANTILE**2 / matches
    rate = count / matches
    centre = (rate + weight / 2) / (1 + weight)
    half_width = math.sqrt(rate * (1 - rate) * weight + weight**2 / 4) / (1 + weight)
    return max(0.0, centre - half_width), min(1.0, centre + half_width)


def sign_test_interval(results: WinDrawLoss[int]) -> tuple[float, float]:
    """The 95 % interval of wins minus losses that belongs to `sign_test`: without 0 exactly where that decides.

    Of d = wins + losses matches a share p is won, with the exact interval of Clopper and Pearson (1934); the difference
    is d * (2 * p - 1).
    """
    decided = results.wins + results.losses
    # No share below the interval makes as many wins likely, and no share above it as many losses.
    least = 0.0 if results.wins == 0 else _largest_share(decided, results.wins)
    most = 1.0 if results.losses == 0 else 1 - _largest_share(decided, results.losses)
    return decided * (2 * least - 1.0), decided * (2 * most - 1.0)


def sign_test(results: WinDrawLoss[int]) -> str:
    """BETTER or WORSE if the player won or lost significantly more matches, else UNDECIDED.

    An exact sign test of wins against losses at a significance of 5 %.
    """
    most = max(results.wins, results.losses)
    if _chance_of_at_least(results.wins + results.losses, most, 0.5) >= TAIL:
        return UNDECIDED
    return BETTER if results.wins > results.losses else WORSE


def _chance_of_at_least(matches: int, wins: int, share: float) -> float:
    """The probability of `wins` or more wins in independent matches that are won with probability `share` (0 to 1)."""
    counts = np.arange(1, matches + 1)
    # log(n! / (k! (n - k)!)) for k = 0 ... n.
    ways = np.concatenate([[0.0], np.cumsum(np.log(matches + 1 - counts) - np.log(counts))])
    won = np.arange(matches + 1)
    return float(np.exp(ways + won * math.log(share) + (matches - won) * math.log1p(-share))[wins:].sum())


def _largest_share(matches: int, wins: int) -> float:
    """The largest share of matches won with which `wins` or more of them are a chance of at most TAIL."""
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        share = (low + high) / 2
        low, high = (share, high) if _chance_of_at_least(matches, wins, share) <= TAIL else (low, share)
    return low
