"""Long compiled work that Ctrl-C and a time limit can end.

Compiled code never looks at signals. It therefore runs in a thread of its own, while the calling thread waits for it,
and looks every few thousand steps at a flag that the calling thread sets.
"""

import math
from collections.abc import Callable
from concurrent.futures import Future, wait
from threading import Thread
from time import monotonic
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from selfplay.errors import SettingError, TimeLimitError

Result = TypeVar("Result")

StopFlag = NDArray[np.int64]
"""int64[1]: 0 while the work is wanted, 1 when it should return at once with whatever result."""

SECONDS_BETWEEN_LOOKS = 0.1
"""How long a signal can go unnoticed."""

SECONDS_TO_STOP = 2.0
"""How long the work is waited for once it is told to stop."""


def run_interruptibly(
    function: Callable[[StopFlag], Result], time_limit: float | None = None, name: str = "the search"
) -> Result:
    """The result of `function(stop)`, which must look at `stop[0]` often and return soon after it is 1.

    Args:
        time_limit: seconds from now; None for no limit.
        name: what the work is called in the error.

    Raises:
        SettingError: `time_limit` is not above 0.
        TimeLimitError: `function` is not done in time.
        KeyboardInterrupt: Ctrl-C, while the main thread waits here.
        Exception: whatever `function` raises.
    """
    if time_limit is not None and not time_limit > 0:
        raise SettingError(f"time_limit={time_limit}: give a number of seconds above 0")
    stop = np.zeros(1, dtype=np.int64)
    outcome: Future[Result] = Future()

    def work() -> None:
        try:
            outcome.set_result(function(stop))
        except BaseException as error:
            outcome.set_exception(error)

    # A daemon, so that work that does not look at its flag cannot keep a program from ending.
    thread = Thread(target=work, daemon=True, name=name)
    end = math.inf if time_limit is None else monotonic() + time_limit
    try:
        thread.start()
        while not outcome.done() and monotonic() < end:
            # A signal that comes just before the wait does not end it, and is seen only after it.
            wait([outcome], min(SECONDS_BETWEEN_LOOKS, max(0.0, end - monotonic())))
        if outcome.done():
            return outcome.result()
        raise TimeLimitError(f"{name} is not done after {time_limit:g} seconds; give it a longer time limit")
    finally:
        if not outcome.done():
            stop[0] = 1
            wait([outcome], SECONDS_TO_STOP)
