"""Runs long compiled work so that Ctrl-C or a time limit can stop it.

Compiled code does not handle signals. It therefore runs in a separate thread and polls a flag every few thousand steps;
the calling thread waits for it and sets the flag.
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
"""int64[1]: 0 while the work should continue, 1 when it should return at once; its result is then ignored."""

POLL_SECONDS = 0.1
"""The longest time before a signal is noticed."""

SECONDS_TO_STOP = 2.0
"""How long to wait for the work after telling it to stop."""


def check_time_limit(time_limit: float | None) -> None:
    """Raise SettingError if `time_limit` is a number that is not above 0."""
    if time_limit is not None and not time_limit > 0:
        raise SettingError(f"time_limit={time_limit}: must be seconds above 0")


def run_interruptibly(
    function: Callable[[StopFlag], Result], time_limit: float | None = None, name: str = "the search"
) -> Result:
    """Run `function(stop)`, which must poll `stop[0]` often and return soon after it becomes 1.

    Args:
        time_limit: seconds from now; None for no limit.
        name: what the error message calls the work.

    Raises:
        SettingError: `time_limit` is not above 0.
        TimeLimitError: `function` does not finish in time.
        KeyboardInterrupt: Ctrl-C, if called in the main thread.
        Exception: whatever `function` raises.
    """
    check_time_limit(time_limit)
    stop = np.zeros(1, dtype=np.int64)
    outcome: Future[Result] = Future()

    def work() -> None:
        try:
            outcome.set_result(function(stop))
        except BaseException as error:
            outcome.set_exception(error)

    # A daemon thread, so that work that ignores its flag cannot keep the program from ending.
    thread = Thread(target=work, daemon=True, name=name)
    end = math.inf if time_limit is None else monotonic() + time_limit
    try:
        thread.start()
        while not outcome.done() and monotonic() < end:
            # A signal that arrives just before the wait does not end it and is handled only afterwards.
            wait([outcome], min(POLL_SECONDS, max(0.0, end - monotonic())))
        if outcome.done():
            return outcome.result()
        raise TimeLimitError(f"{name} did not finish within {time_limit:g} seconds; set a longer time limit")
    finally:
        if not outcome.done():
            stop[0] = 1
            wait([outcome], SECONDS_TO_STOP)
