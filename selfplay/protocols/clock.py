"""The time of each colour, as the commands time_settings and time_left give it, and the part of it for one move."""

import math
from time import monotonic

MOVES_EXPECTED = 20
"""The main time that is left is shared among this number of moves, or half of those that there can still be."""

SHARE_USED = 0.9
"""The share of a period that is used; the rest is for the controller."""

RESERVE, SHARE_KEPT = 1.0, 0.2
"""Seconds of the main time that are never shared among moves, or this part of it if that is less: what a busy computer
and the controller take."""

MOVES_KEPT, MOST_KEPT = 200, 0.4
"""Where moves take long beside their searches, what this number of moves takes so is kept instead, at most this part of
the main time: where stones are captured, a match can go on for long."""


def share_of(left: float, whole: float, moves: float, lag: float) -> float:
    """The part of the time that is left for the next move, in seconds.

    Args:
        left: seconds of the main time that are left.
        whole: all of the main time.
        moves: the number of moves that are still expected.
        lag: seconds that a move takes beside its search.
    """
    kept = max(min(RESERVE, SHARE_KEPT * whole), min(MOVES_KEPT * lag, MOST_KEPT * whole))
    return SHARE_USED * max(0.0, left - kept) / max(MOVES_EXPECTED, moves)


class Clock:
    """The clocks of both colours: main time, then periods, each for a number of stones. Without a limit at first."""

    def __init__(self) -> None:
        self._period, self._stones, self._main, self._increment = 0.0, 0, math.inf, 0.0
        self._counts_periods = False
        self._left = [math.inf, math.inf]
        self._told: list[tuple[float, int] | None] = [None, None]

    def set(
        self, main: float, period: float, stones: int, increment: float = 0.0, *, counts_periods: bool = False
    ) -> None:
        """Begin with `main` seconds, then `period` seconds for each `stones` stones (0 for no limit).

        Args:
            increment: seconds that each move adds to the main time.
            counts_periods: whether `tell` is told the number of periods that are left in place of stones, as in
                Japanese byo-yomi, whose periods are of one stone.
        """
        self._counts_periods = counts_periods
        is_unlimited = period > 0 and stones == 0
        self._period, self._stones = (period, stones) if stones > 0 else (0.0, 0)
        self._main, self._increment = math.inf if is_unlimited else main, increment
        self.restart()

    def restart(self) -> None:
        """All time is left again, as at the start of a match."""
        self._left = [self._main] * 2
        self._told = [None, None]

    def tell(self, seat: int, seconds: float, stones: int) -> None:
        """`seat` has `seconds` left, of its main time (`stones` is 0) or for this number of stones."""
        self._left[seat] = seconds if stones == 0 else 0.0
        self._told[seat] = None if stones == 0 else (seconds, 1 if self._counts_periods else stones)

    def spend(self, seat: int, start: float) -> None:
        """Take the time since `start`, by `monotonic`, from the main time of `seat`."""
        self._left[seat] = max(0.0, self._left[seat] - (monotonic() - start) + self._increment)
        self._told[seat] = None

    def seconds_for_move(self, seat: int, moves: float = 0.0, lag: float = 0.0) -> float | None:
        """The time for the next move of `seat`, in seconds; None without a limit. `moves`, `lag`: as for `share_of`."""
        if self._left[seat] == math.inf:
            return None
        period, stones = self._told[seat] or (self._period, self._stones)
        if stones and self._left[seat] <= 0:
            return SHARE_USED * period / stones
        shared = share_of(self._left[seat], max(self._main, self._left[seat]), moves, lag)
        return max(shared, SHARE_USED * self._increment, SHARE_USED * period / stones if stones else 0.0)
