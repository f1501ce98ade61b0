"""Matches won, drawn and lost by one of the two players: counts, shares and probabilities, and running results."""

import math
from collections.abc import Iterable
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from selfplay.games.state import MatchRecord

Number = TypeVar("Number", bound=float)

TAIL = 0.025
"""The probability beyond each end of an interval of 95 %."""
NORMAL_QUANTILE = 1.959963984540054
"""The 97.5 % quantile of the normal distribution: the half-width of a 95 % interval in standard deviations."""
BISECTIONS = 50
BETTER, WORSE, UNDECIDED = "better", "worse", "not told apart"
"""The results of `sign_test`, as written in CSV files."""


class WinDrawLoss(NamedTuple, Generic[Number]):
    """Matches won, drawn and lost: counts (int) or probabilities (float), as seen by one of the two players.

    Examples:
        >>> results = selfplay.WinDrawLoss(wins=85, draws=15, losses=0)
        >>> results.matches, results.score, str(results.reversed())
        (100, 0.925, '0-15-85')
    """

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
        """The points per match, from 0 to 1; nan without matches."""
        return self.points / self._total

    @property
    def rates(self) -> "WinDrawLoss[float]":
        """The share of matches won, drawn and lost; nan without matches."""
        return WinDrawLoss(*(number / self._total for number in self))

    @property
    def _total(self) -> float:
        """All matches, or the sum of the probabilities, which can be 0.9999999999999999; nan in place of 0."""
        return sum(self) or math.nan

    def reversed(self) -> "WinDrawLoss[Number]":
        """The same matches as seen by the opponent."""
        return WinDrawLoss(self.losses, self.draws, self.wins)


RESULTS = WinDrawLoss._fields
"""The names of the counts, which are also columns of tables."""


def summed(results: Iterable[WinDrawLoss[int]]) -> WinDrawLoss[int]:
    """All results added up."""
    return WinDrawLoss(*map(sum, zip((0, 0, 0), *results, strict=True)))


def share_text(share: float, decimals: int = 4, unit: str = "f", *, rest: float | None = None) -> str:
    """An exact share as 0.1234, or with the unit "%" as 12.3%. It is only written as 0 or 1 if it is exactly that; else
    as <0.0001 or >0.9999.

    `rest`: the sum of the other shares, because `share` is rounded; None: 1 - `share`.
    """
    if 0 in (share, 1 - share if rest is None else rest):
        return f"{share:.0{unit}}"
    least = 10.0 ** -(decimals + 2 * (unit == "%"))
    sign, shown = ("<", least) if share < least else (">", 1 - least) if share > 1 - least else ("", share)
    return f"{sign}{shown:.{decimals}{unit}}"


def mean_of_seats(first: WinDrawLoss[float], second: WinDrawLoss[float]) -> WinDrawLoss[float]:
    """Probabilities over both seats, from those of a player that moves first and second."""
    return WinDrawLoss(*((a + b) / 2 for a, b in zip(first, second, strict=True)))


NO_MATCHES = WinDrawLoss(0, 0, 0)


class RunningResults(NamedTuple):
    """The matches played so far, counted by player and by seat."""

    by_player: WinDrawLoss[int] = NO_MATCHES
    """Counted for the first of the two players, in whichever seat."""
    by_seat: WinDrawLoss[int] = NO_MATCHES
    """Counted for the player who moves first."""
    forfeits: tuple[int, int] = (0, 0)
    """Number of matches that each of the two players forfeited, and so lost; those that it resigned do not count."""

    @property
    def matches(self) -> int:
        return self.by_player.matches

    def with_record(self, record: MatchRecord) -> "RunningResults":
        """The results with those of `record` added."""
        by_player, by_seat = (
            WinDrawLoss(*(int(ended.sum()) for ended in (returns > 0, returns == 0, returns < 0)))
            for returns in (record.returns(), record.states[-1].returns)
        )
        losers = [forfeit.player for forfeit in record.forfeits if not forfeit.has_resigned]
        forfeits = self.forfeits[0] + losers.count(0), self.forfeits[1] + losers.count(1)
        return RunningResults(summed([self.by_player, by_player]), summed([self.by_seat, by_seat]), forfeits)

    def text(self, names: tuple[str, str], *, by_player: bool = False) -> str:
        """Counts and shares by seat, or by player; `names`: those of the two seats, or of the two players."""
        counts = self.by_player if by_player else self.by_seat
        won, drawn, lost = (f"{count} ({rate:.3f})" for count, rate in zip(counts, counts.rates, strict=True))
        forfeits = f", by forfeit {sum(self.forfeits)}" if any(self.forfeits) else ""
        return f"{names[0]} won {won}, {names[1]} won {lost}, drawn {drawn}{forfeits}"


def wilson_interval(count: float, matches: int) -> tuple[float, float]:
    """The 95 % confidence interval (Wilson, 1927) of the rate of an event that occurred in `count` of the matches.

    If `count` is a number of points, it is that of the score. Counting draws as half wins makes it too wide rather than
    too narrow.
    """
    weight = NORMAL_QUANTILE**2 / matches
    rate = count / matches
    centre = (rate + weight / 2) / (1 + weight)
    half_width = math.sqrt(rate * (1 - rate) * weight + weight**2 / 4) / (1 + weight)
    return max(0.0, centre - half_width), min(1.0, centre + half_width)


def sign_test_interval(results: WinDrawLoss[int]) -> tuple[float, float]:
    """The 95 % interval of wins minus losses that agrees with `sign_test`: it excludes 0 exactly if that test decides.

    p is the share won of the d = wins + losses matches, with the exact interval of Clopper and Pearson (1934). The
    difference is d * (2 * p - 1).
    """
    decided = results.wins + results.losses
    # With a share below the interval, so many wins are unlikely; with a share above it, so many losses are unlikely.
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
