"""Matches won, drawn and lost by one of the two players: the one type for their counts, shares and probabilities."""

from collections.abc import Iterable
from typing import Generic, NamedTuple, TypeVar

Number = TypeVar("Number", bound=float)

CONFIDENCE = 0.95
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
    # Importing scipy.stats takes a second, and programs that only count matches do not need it.
    from scipy.stats import binomtest

    interval = binomtest(count, matches).proportion_ci(CONFIDENCE, method="wilson")
    return float(interval.low), float(interval.high)


def sign_test_interval(results: WinDrawLoss[int]) -> tuple[float, float]:
    """The 95 % interval of wins minus losses that belongs to `sign_test`: without 0 exactly where that decides.

    Of d = wins + losses matches a share p is won, with the exact interval of Clopper and Pearson (1934); the difference
    is d * (2 * p - 1).
    """
    from scipy.stats import binomtest

    if (decided := results.wins + results.losses) == 0:
        return 0.0, 0.0
    interval = binomtest(results.wins, decided).proportion_ci(CONFIDENCE, method="exact")
    return float(decided * (2 * interval.low - 1)), float(decided * (2 * interval.high - 1))


def sign_test(results: WinDrawLoss[int]) -> str:
    """BETTER or WORSE if the player won or lost significantly more matches, else UNDECIDED.

    An exact sign test of wins against losses at a significance of 5 %.
    """
    from scipy.stats import binomtest

    decided = results.wins + results.losses
    if decided == 0 or binomtest(results.wins, decided).pvalue >= 1 - CONFIDENCE:
        return UNDECIDED
    return BETTER if results.wins > results.losses else WORSE
