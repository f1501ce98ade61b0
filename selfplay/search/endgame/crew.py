"""Several threads that search the same position, each from the root.

They share the table. A thread marks the positions that it is searching; the others, after the first move of a position,
try moves first that lead to no marked one, and later find the values of those in the table ("ABDADA": Weill, "The
ABDADA distributed minimax-search algorithm", 1996). Marks change only the order of moves, so no result depends on them
or on the number of threads.
"""

from collections.abc import Callable
from threading import Thread
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word
from selfplay.compute.compilation import part_of_compiled
from selfplay.compute.random_numbers import fold
from selfplay.search.endgame.last_squares import NO_VALUE
from selfplay.search.endgame.stack import Children, EndgameFrame

SHARED_FROM = 11
"""Positions with at least this many empty squares are marked."""
PUT_OFF = 1 << 45
"""Added to the rating of a move that is to be tried after those that no thread is searching."""
MARKS = 1 << 12


class Crew(NamedTuple):
    """What the threads share besides the table."""

    marks: NDArray[np.int64]
    """int64[MARKS]: hashes of the positions being searched; of length 1 if there is only one thread, which marks none.
    """
    finished: NDArray[np.int64]
    """int64[1]: 1 as soon as a thread has found the value."""


def new_crew(threads: int) -> Crew:
    """What this number of threads share in one search."""
    return Crew(np.zeros(MARKS if threads > 1 else 1, dtype=np.int64), np.zeros(1, dtype=np.int64))


def search_together(search: Callable[[NDArray[np.int64]], int], works: list[NDArray[np.int64]]) -> int:
    """Call `search` with each of the `works` in a thread of its own, the first in this one.

    Returns a value that is not NO_VALUE, if one of them returns it, as soon as all have returned.
    """
    values = [NO_VALUE] * len(works)

    def run(number: int) -> None:
        values[number] = search(works[number])

    # Daemon threads, so that they do not keep the program from ending.
    others = [Thread(target=run, args=(number,), daemon=True) for number in range(1, len(works))]
    for thread in others:
        thread.start()
    run(0)
    for thread in others:
        thread.join()
    return next((value for value in values if value != NO_VALUE), NO_VALUE)


# ---------------------------------------------------------------------- compiled


@part_of_compiled
def mark_of(own: int, opp: int, crew: Crew) -> tuple[Word, Word]:
    """The index of the mark of a position, and the mark itself."""
    mark = fold(opp, own)
    return mark & (crew.marks.shape[0] - 1), mark


@part_of_compiled
def set_mark(frame: EndgameFrame, empties: int, crew: Crew) -> None:
    """Mark a position, if it has enough empty squares."""
    frame.mark = -1
    if empties >= SHARED_FROM and crew.marks.shape[0] > 1:
        frame.mark, mark = mark_of(frame.own, frame.opp, crew)
        crew.marks[frame.mark] = mark


@part_of_compiled
def clear_mark(frame: EndgameFrame, crew: Crew) -> None:
    """Remove the mark of a position."""
    if frame.mark >= 0:
        crew.marks[frame.mark] = 0


@part_of_compiled
def put_off_marked(frame: EndgameFrame, children: Children, crew: Crew) -> None:
    """Rate the untried children that are marked, by any thread, behind all others."""
    if crew.marks.shape[0] == 1:
        return
    for number in range(frame.first_child, frame.first_child + frame.num_untried):
        child = children[number]
        place, mark = mark_of(child.own, child.opp, crew)
        is_put_off = child.rating >= PUT_OFF // 2
        if (crew.marks[place] == mark) != is_put_off:
            child.rating += -PUT_OFF if is_put_off else PUT_OFF
