"""The time of each colour, as the commands time_settings and time_left give it, and the part of it for one move."""

import math
from time import monotonic

MOVES_EXPECTED = 20
"""The main time that is left is shared among this number of moves."""

SHARE_USED = 0.9
"""The share of a period that is used; the rest is for the controller."""


class Clock:
    """The clocks of both colours: main time, then periods, each for a number of stones. Without a limit at first."""

    def __init__(self) -> None:
        self._period, self._stones = 0.0, 0
        self._left = [math.inf, math.inf]
        self._told: list[tuple[float, int] | None] = [None, None]

    def set(self, main: float, period: float, stones: int) -> None:
        """Begin with `main` seconds, then `period` seconds for each `stones` stones (0 for no limit)."""
        is_unlimited = period > 0 and stones == 0
        self._period, self._stones = (period, stones) if stones > 0 else (0.0, 0)
        self._left = [math.inf if is_unlimited else main] * 2
        self._told = [None, None]

    def tell(self, seat: int, seconds: float, stones: int) -> None:
        """`seat` has `seconds` left, of its main time (`stones` is 0) or for this number of stones."""
        self._left[seat] = seconds if stones == 0 else 0.0
        self._told[seat] = None if stones == 0 else (seconds, stones)

    def spend(self, seat: int, start: float) -> None:
        """Take the time since `start`, by `monotonic`, from the main time of `seat`."""
        self._left[seat] = max(0.0, self._left[seat] - (monotonic() - start))
        self._told[seat] = None

    def seconds_for_move(self, seat: int) -> float | None:
        """The time for the next move of `seat`; None without a limit."""
        if self._left[seat] == math.inf:
            return None
        period, stones = self._told[seat] or (self._period, self._stones)
        in_period = period / stones if stones else 0.0
        return SHARE_USED * max(self._left[seat] / MOVES_EXPECTED, 0.0 if self._left[seat] else in_period)
