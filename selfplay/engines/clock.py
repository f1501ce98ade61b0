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


def share_of(left: float, whole: float, moves: float) -> float:
    """The part of the time that is left for the next of so many moves, in seconds; `whole` is all of the main time."""
    return SHARE_USED * max(0.0, left - min(RESERVE, SHARE_KEPT * whole)) / max(MOVES_EXPECTED, moves)


class Clock:
    """The clocks of both colours: main time, then periods, each for a number of stones. Without a limit at first."""

    def __init__(self) -> None:
        self._period, self._stones, self._main, self._increment = 0.0, 0, math.inf, 0.0
        self._left = [math.inf, math.inf]
        self._told: list[tuple[float, int] | None] = [None, None]

    def set(self, main: float, period: float, stones: int, increment: float = 0.0) -> None:
        """Begin with `main` seconds, then `period` seconds for each `stones` stones (0 for no limit).

        `increment`: seconds that each move adds to the main time.
        """
        is_unlimited = period > 0 and stones == 0
        self._period, self._stones = (period, stones) if stones > 0 else (0.0, 0)
        self._main, self._increment = math.inf if is_unlimited else main, increment
        self._left = [self._main] * 2
        self._told = [None, None]

    def tell(self, seat: int, seconds: float, stones: int) -> None:
        """`seat` has `seconds` left, of its main time (`stones` is 0) or for this number of stones."""
        self._left[seat] = seconds if stones == 0 else 0.0
        self._told[seat] = None if stones == 0 else (seconds, stones)

    def spend(self, seat: int, start: float) -> None:
        """Take the time since `start`, by `monotonic`, from the main time of `seat`."""
        self._left[seat] = max(0.0, self._left[seat] - (monotonic() - start) + self._increment)
        self._told[seat] = None

    def seconds_for_move(self, seat: int, moves: float = 0.0) -> float | None:
        """The time for the next move of `seat`, of which there can still be so many; None without a limit."""
        if self._left[seat] == math.inf:
            return None
        period, stones = self._told[seat] or (self._period, self._stones)
        if stones and self._left[seat] <= 0:
            return SHARE_USED * period / stones
        shared = share_of(self._left[seat], max(self._main, self._left[seat]), moves)
        return max(shared, SHARE_USED * self._increment, SHARE_USED * period / stones if stones else 0.0)
