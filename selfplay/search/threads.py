"""Threads of compiled searches: work that Ctrl-C or a time limit can stop, and threads that search a position together.

Compiled code does not handle signals. Therefore long work runs in a separate thread and checks a flag every few
thousand steps; the calling thread waits for it and sets the flag. Starting a thread takes as long as a short search,
and longer on a busy machine. So work that counts its steps can do the first steps in the calling thread.

Threads that search the same position, each from the root, share the table. A thread marks the positions that it is
searching. After the first move of a position, the other threads first try moves to positions without a mark; later they
find the values of the marked positions in the table ("ABDADA": Weill, "The ABDADA distributed minimax-search
algorithm", 1996). Marks only change the order of moves.
"""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from threading import Event, Thread
from time import monotonic
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from selfplay.checks import require
from selfplay.compute.bit_algebra import Word
from selfplay.compute.compilation import part_of_compiled
from selfplay.compute.random_numbers import fold
from selfplay.errors import TimeLimitError

Result = TypeVar("Result")

StopFlag = NDArray[np.int64]
"""int64[2]. [STOP]: 0 while the work should continue, 1 when it should return at once; its result is then ignored.
[LIMIT]: the number of steps after which the work that counts them sets [STOP] to 1 itself."""

STOP, LIMIT = 0, 1
UNLIMITED = np.iinfo(np.int64).max

POLL_SECONDS = 0.1
"""The longest time before a signal is noticed."""

SECONDS_TO_STOP = 2.0
"""How long to wait for the work after telling it to stop."""


PROGRAM_ENDS = Event()
"""Set when the program ends: all such work stops, because a thread that still runs then can abort the process."""


class StoppedError(Exception):
    """Raised by work that was stopped."""


def make_stop_flag(steps: int = UNLIMITED) -> StopFlag:
    """A flag for work that should continue, for at most this many steps."""
    return np.array([0, steps], dtype=np.int64)


def run_interruptibly(
    function: Callable[[StopFlag], Result],
    time_limit: float | None = None,
    name: str = "the search",
    *,
    quick_steps: int = 0,
) -> Result:
    """Run `function(stop)`, which must poll `stop[STOP]` often and return soon after it becomes 1.

    Args:
        time_limit: seconds from now; None for no limit.
        name: what the error message calls the work.
        quick_steps: number of steps that are done in the calling thread, a few milliseconds in all; 0: none. If
            `function` needs more steps, it must raise StoppedError. It is then called again in another thread, where it
            may continue.

    Raises:
        SettingError: `time_limit` is not above 0.
        TimeLimitError: `function` does not finish in time.
        StoppedError: the program ends.
        KeyboardInterrupt: Ctrl-C, if called in the main thread.
        Exception: whatever `function` raises.
    """
    require("time_limit", time_limit, time_limit is None or time_limit > 0, "seconds above 0")
    if quick_steps > 0:
        with suppress(StoppedError):
            return function(make_stop_flag(quick_steps))
    stop = make_stop_flag()
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
        while not outcome.done() and monotonic() < end and not PROGRAM_ENDS.is_set():
            # A signal that arrives just before the wait does not end it and is handled only afterwards.
            wait([outcome], min(POLL_SECONDS, max(0.0, end - monotonic())))
        if outcome.done():
            return outcome.result()
        if PROGRAM_ENDS.is_set():
            raise StoppedError
        raise TimeLimitError(f"{name} did not finish within {time_limit:g} seconds; set a longer time limit")
    finally:
        if not outcome.done():
            stop[STOP] = 1
            wait([outcome], SECONDS_TO_STOP)


# ---------------------------------------------------------------------- together

MARKS = 1 << 12


class Threads(NamedTuple):
    """What the threads of one search share besides the table."""

    stop: StopFlag
    marks: NDArray[np.int64]
    """int64[MARKS]: hashes of the positions being searched; of length 1 if there is only one thread, which marks none.
    """
    finished: NDArray[np.int64]
    """int64[1]: not 0 once a thread has found the value, so that the others stop."""


def make_threads(number: int, stop: StopFlag) -> Threads:
    """What this number of threads share in one search."""
    return Threads(stop, np.zeros(MARKS if number > 1 else 1, dtype=np.int64), np.zeros(1, dtype=np.int64))


def search_together(searches: Sequence[Callable[[], Result | None]]) -> Result | None:
    """Call the first of the `searches` in this thread, and each other one in a thread of its own.

    Waits until all have returned. Returns a result that is not None, if there is one.
    """
    results: list[Result | None] = [None] * len(searches)

    def run(number: int) -> None:
        results[number] = searches[number]()

    # Daemon threads, so that they do not keep the program from ending.
    others = [Thread(target=run, args=(number,), daemon=True) for number in range(1, len(searches))]
    for thread in others:
        thread.start()
    run(0)
    for thread in others:
        thread.join()
    return next((result for result in results if result is not None), None)


@part_of_compiled
def is_shared(threads: Threads) -> bool:
    """Whether there are several threads."""
    return bool(threads.marks.shape[0] > 1)


@part_of_compiled
def mark_of(own: int, opp: int, threads: Threads) -> tuple[Word, Word]:
    """The index of the mark of a position, and the mark itself."""
    mark = fold(opp, own)
    return mark & (threads.marks.shape[0] - 1), mark


@part_of_compiled
def put_mark(own: int, opp: int, threads: Threads) -> Word:
    """Mark a position; returns the index of its mark."""
    place, mark = mark_of(own, opp, threads)
    threads.marks[place] = mark
    return place


@part_of_compiled
def is_marked(own: int, opp: int, threads: Threads) -> bool:
    """Whether a thread is searching the position."""
    place, mark = mark_of(own, opp, threads)
    return bool(threads.marks[place] == mark)
