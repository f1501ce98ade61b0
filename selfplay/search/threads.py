"""Several threads that search the same position, each from the root.

They share the table. A thread marks the positions that it is searching; the others, after the first move of a position,
try moves first that lead to no marked one, and later find the values of those in the table ("ABDADA": Weill, "The
ABDADA distributed minimax-search algorithm", 1996). Marks change only the order of moves.
"""

from collections.abc import Callable, Sequence
from threading import Thread
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word
from selfplay.compute.compilation import part_of_compiled
from selfplay.compute.random_numbers import fold

Result = TypeVar("Result")

MARKS = 1 << 12


class Threads(NamedTuple):
    """What the threads share besides the table."""

    marks: NDArray[np.int64]
    """int64[MARKS]: hashes of the positions being searched; of length 1 if there is only one thread, which marks none.
    """
    finished: NDArray[np.int64]
    """int64[1]: not 0 once a thread has found the value, so that the others stop."""


def make_threads(number: int) -> Threads:
    """What this number of threads share in one search."""
    return Threads(np.zeros(MARKS if number > 1 else 1, dtype=np.int64), np.zeros(1, dtype=np.int64))


def search_together(searches: Sequence[Callable[[], Result | None]]) -> Result | None:
    """Call each of the `searches` in a thread of its own, the first in this one.

    Returns a result that is not None, if one of them returns it, as soon as all have returned.
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


# ---------------------------------------------------------------------- compiled


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
