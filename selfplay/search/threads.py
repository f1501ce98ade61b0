"""Threads of compiled searches: work that can be stopped, and threads that search a position together.

Ctrl-C, a time limit and the deadline of the context (`selfplay.search.deadline`) stop work. Compiled code does not
handle signals. Therefore long work runs in a separate thread and checks a flag every few thousand steps; the calling
thread waits for it and sets the flag. Starting a thread takes as long as a short search,
and longer on a busy machine. So work that counts its steps can do the first steps in the calling thread.

Threads that search the same position, each from the root, share the table. A thread marks the positions that it is
searching. After the first move of a position, the other threads first try moves to positions without a mark; later they
find the values of the marked positions in the table ("ABDADA": Weill, "The ABDADA distributed minimax-search
algorithm", 1996). Marks only change the order of moves.
"""

import math
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from threading import Event, Thread
from time import monotonic
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from selfplay.checks import require
from selfplay.compute.bit_algebra import Bits
from selfplay.compute.compilation import part_of_compiled
from selfplay.compute.compiled_words import position_hash
from selfplay.errors import TimeLimitError
from selfplay.search.deadline import POLL_SECONDS, Deadline, StoppedError, current_deadline

Result = TypeVar("Result")

StopFlag = NDArray[np.int64]
"""int64[2]. [STOP]: 0 while the work should continue, 1 when it should return at once; its result is then ignored.
[LIMIT]: the number of steps after which the work that counts them sets [STOP] to 1 itself."""

STOP, LIMIT = 0, 1
UNLIMITED = np.iinfo(np.int64).max

SECONDS_TO_STOP = 2.0
"""How long to wait for the work after telling it to stop."""


PROGRAM_ENDS = Event()
"""Set when the program ends: all such work stops, because a thread that still runs then can abort the process."""


def make_stop_flag(steps: int = UNLIMITED) -> StopFlag:
    """A flag for work that should continue, for at most this many steps."""
    return np.array([0, steps], dtype=np.int64)


def run_interruptibly(
    function: Callable[[StopFlag], Result],
    time_limit: float | None = None,
    name: str = "the search",
    *,
    quick_steps: int = 0,
    must_finish: bool = False,
) -> Result:
    """Run `function(stop)`, which must poll `stop[STOP]` often and return soon after it becomes 1.

    Args:
        time_limit: seconds from now; None for no limit but that of the deadline of the context.
        name: what the error message calls the work.
        quick_steps: number of steps that are done in the calling thread, a few milliseconds in all; 0: none. If
            `function` needs more steps, it must raise StoppedError. It is then called again in another thread, where it
            may continue.
        must_finish: whether to finish short work after the deadline too, unless it is cancelled.

    Raises:
        SettingError: `time_limit` is not above 0.
        TimeLimitError: `function` does not finish in time.
        StoppedError: the program ends, or the deadline is cancelled.
        KeyboardInterrupt: Ctrl-C, if called in the main thread.
        Exception: whatever `function` raises.
    """
    require("time_limit", time_limit, time_limit is None or time_limit > 0, "seconds above 0")
    deadline = current_deadline()
    deadline.check()
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
    end = min(math.inf if must_finish else deadline.end, math.inf if time_limit is None else monotonic() + time_limit)
    try:
        thread.start()
        _wait(outcome, end, deadline)
        if outcome.done():
            return outcome.result()
        stop[STOP] = 1
        # Until it stops it may write into memory that the caller uses again. Compiling cannot be stopped.
        _wait(outcome, math.inf, Deadline())
        deadline.check()
        if PROGRAM_ENDS.is_set():
            raise StoppedError
        within = "in time" if time_limit is None else f"within {time_limit:g} seconds"
        raise TimeLimitError(f"{name} did not finish {within}; set a longer time limit")
    finally:
        if not outcome.done():
            stop[STOP] = 1
            wait([outcome], SECONDS_TO_STOP)


def _wait(work: Future[Any], end: float, deadline: Deadline) -> None:
    """Wait for the work until this time, the cancellation of the deadline, or the end of the program."""
    while not work.done() and monotonic() < end and not (deadline.is_cancelled or PROGRAM_ENDS.is_set()):
        # A signal that arrives just before the wait does not end it and is handled only afterwards.
        deadline.wait(work, min(POLL_SECONDS, max(0.0, end - monotonic())))


# ---------------------------------------------------------------------- together

MARKS = 1 << 12


class Threads(NamedTuple):
    """What the threads of one search share besides the table."""

    stop: StopFlag
    marks: NDArray[np.int64]
    """int64[MARKS]: hashes of the positions being searched; of length 1 if there is only one thread, which marks none.
    """
    finished: NDArray[np.int64]
    """int64[1]: not 0 once a thread has found the result, so that the others stop."""


def make_threads(number: int, stop: StopFlag) -> Threads:
    """What this number of threads share in one search."""
    return Threads(stop, np.zeros(MARKS if number > 1 else 1, dtype=np.int64), np.zeros(1, dtype=np.int64))


def search_together(search: Callable[[Threads], Result | None], number: int, stop: StopFlag) -> Result:
    """Call `search(threads)` in this thread and `number - 1` further ones, and wait until all have returned.

    The first that finds the result sets `threads.finished`; those that are stopped return None.

    Returns the first result that is not None. Raises StoppedError if there is none.
    """
    threads, results = make_threads(number, stop), list[Result | None]()

    def run() -> None:
        results.append(search(threads))

    # Daemon threads, so that they do not keep the program from ending.
    others = [Thread(target=run, daemon=True) for _ in range(number - 1)]
    for thread in others:
        thread.start()
    run()
    for thread in others:
        thread.join()
    for result in results:
        if result is not None:
            return result
    raise StoppedError


@part_of_compiled
def is_shared(threads: Threads) -> bool:
    """Whether there are several threads."""
    return bool(threads.marks.shape[0] > 1)


@part_of_compiled
def mark_of(packed: Bits, threads: Threads) -> tuple[Bits, Bits]:
    """The index of the mark of a position, and the mark itself."""
    mark = position_hash(packed)
    return mark & (threads.marks.shape[0] - 1), mark


@part_of_compiled
def put_mark(packed: Bits, threads: Threads) -> Bits:
    """Mark a position; returns the index of its mark."""
    place, mark = mark_of(packed, threads)
    threads.marks[place] = mark
    return place


@part_of_compiled
def is_marked(packed: Bits, threads: Threads) -> bool:
    """Whether a thread is searching the position."""
    place, mark = mark_of(packed, threads)
    return bool(threads.marks[place] == mark)


# ---------------------------------------------------------------------- positions counted

POLL_INTERVAL = 1024
"""Number of positions visited between two checks of the stop flag; at most a few milliseconds."""


class Progress(Protocol):
    """What each thread of a search counts, a record that compiled code reads and writes.

    Compiled code passes a record as one word, but an array as seven words.
    """

    visited: int
    """The number of positions visited."""
    next_poll: int
    """The number of positions visited after which the stop flag is checked."""
    is_stopped: int
    """1 once the search is stopped, or another thread has finished it."""


ProgressRecord = NDArray[np.void]
"""One record with at least the fields of `Progress`."""


def make_progress(*further: str) -> ProgressRecord:
    """A record of 0 for one thread, with the fields of `Progress` and these further ones."""
    # np.record, because uncompiled code reads the fields as attributes too.
    return np.zeros(1, np.dtype((np.record, [(name, np.int64) for name in (*Progress.__annotations__, *further)])))


@part_of_compiled
def start_counting(progress: Progress, stop: StopFlag) -> None:
    """Begin a search; the positions that it visits are added to those counted before."""
    progress.next_poll, progress.is_stopped = min(progress.visited + POLL_INTERVAL, stop[LIMIT]), 0


@part_of_compiled
def poll(progress: Progress, stop: StopFlag, finished: NDArray[np.int64]) -> None:
    """Check whether the search is stopped."""
    progress.next_poll = min(progress.visited + POLL_INTERVAL, stop[LIMIT])
    if progress.visited > stop[LIMIT]:
        stop[STOP] = 1
    if stop[STOP] != 0 or finished[0] != 0:
        progress.is_stopped = 1


@part_of_compiled
def count_position(progress: Progress, stop: StopFlag, finished: NDArray[np.int64]) -> bool:
    """Count a position, and check the flags from time to time; whether the search is stopped.

    `finished`: that of `Threads`; in a search of one thread, `stop` can take its place.
    """
    progress.visited += 1
    if progress.visited > progress.next_poll:
        poll(progress, stop, finished)
    return progress.is_stopped != 0
