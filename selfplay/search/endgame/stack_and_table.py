"""The memory of the endgame search: the stack of the positions on the way to the current one, and the table.

The table holds bounds of the values of positions. It is int64[4 N]; an entry has four words: own, opp, what is known
about the value, and the best move. Several threads may use a table at once, and their writes may mix in an entry. So
own and opp are combined with what is known ("lockless hashing": Hyatt & Mann, "A lockless transposition-table
implementation for parallel search", 2002): a mixed entry belongs to no position. Known are a lower and an upper bound,
the number of empty squares, whether the bounds are certain, and the number of the search that found them; a search
trusts bounds that are certain or that it has found itself. Two consecutive entries make a bucket: the first keeps the
position with the most empty squares, the second the latest. A position can only be in the bucket given by its hash.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word
from selfplay.compute.compilation import part_of_compiled
from selfplay.compute.random_numbers import fold
from selfplay.search.endgame.last_squares import NO_VALUE
from selfplay.search.threads import Threads, is_marked, is_shared, put_mark

MAX_PLIES = 130
"""At most 64 discs are placed, and there are never two passes in a row."""
MAX_CHILDREN = 64 * 65 // 2


class EndgameFrame(Protocol):
    """One position on the way from the root to the current position, a record of the stack."""

    own: int
    opp: int
    bound: int
    best_value: int
    """The largest value found so far; NO_VALUE at first."""
    best_move: int
    current_move: int
    """The move whose position is being searched."""
    num_untried: int
    num_tried: int
    empties: int
    bucket: int
    """The index of the position's bucket in the table; -1 if it is not stored."""
    mark: int
    """The index of the mark that this thread is searching the position; -1 if there is none."""
    first_child: int
    """The index in the array of children at which the positions after the untried moves begin."""


class Child(Protocol):
    """A position that an untried move leads to, a record of the array of children."""

    own: int
    opp: int
    move: int
    rating: int
    """The rating of the move; the lowest is tried first."""


ENDGAME_FRAME = np.dtype([(name, np.int64) for name in EndgameFrame.__annotations__])
CHILD = np.dtype([(name, np.int64) for name in Child.__annotations__])
Frames = NDArray[np.void]
"""Records of dtype ENDGAME_FRAME."""
Children = NDArray[np.void]
"""Records of dtype CHILD."""


@part_of_compiled
def take_next_child(frame: EndgameFrame, children: Children) -> int:
    """The number of the untried child with the lowest rating, which is moved to the end and removed."""
    first = frame.first_child
    last = first + frame.num_untried - 1
    least = first
    for number in range(first + 1, last + 1):
        if children[number].rating < children[least].rating:
            least = number
    one, other = children[least], children[last]
    one.own, other.own = other.own, one.own
    one.opp, other.opp = other.opp, one.opp
    one.move, other.move = other.move, one.move
    one.rating, other.rating = other.rating, one.rating
    frame.num_untried -= 1
    frame.num_tried += 1
    frame.current_move = other.move
    return last


@part_of_compiled
def descend(frame: EndgameFrame, below: EndgameFrame, children: Children) -> None:
    """Prepare the frame of the next child."""
    number = take_next_child(frame, children)
    below.own, below.opp = children[number].own, children[number].opp
    below.bound = -frame.bound - 1
    # Its children overwrite its record and those after it, which have been tried.
    below.first_child = number


@part_of_compiled
def take_back(frame: EndgameFrame, below: EndgameFrame) -> None:
    """Take the value of a child into account."""
    value = -below.best_value
    if value > frame.best_value:
        frame.best_value, frame.best_move = value, frame.current_move


SHARED_FROM = 11
"""Positions with at least this many empty squares are marked."""
PUT_OFF = 1 << 45
"""Added to the rating of a move that is to be tried after those that no thread is searching."""


@part_of_compiled
def set_mark(frame: EndgameFrame, empties: int, threads: Threads) -> None:
    """Mark a position, if it has enough empty squares."""
    frame.mark = -1
    if empties >= SHARED_FROM and is_shared(threads):
        frame.mark = put_mark(frame.own, frame.opp, threads)


@part_of_compiled
def clear_mark(frame: EndgameFrame, threads: Threads) -> None:
    """Remove the mark of a position."""
    if frame.mark >= 0:
        threads.marks[frame.mark] = 0


@part_of_compiled
def put_off_marked(frame: EndgameFrame, children: Children, threads: Threads) -> None:
    """Rate the untried children that are marked, by any thread, behind all others."""
    if not is_shared(threads):
        return
    for number in range(frame.first_child, frame.first_child + frame.num_untried):
        child = children[number]
        is_put_off = child.rating >= PUT_OFF // 2
        if is_marked(child.own, child.opp, threads) != is_put_off:
            child.rating += -PUT_OFF if is_put_off else PUT_OFF


# ---------------------------------------------------------------------- the table

ENTRY, BUCKET = 4, 8
OWN, OPP, KNOWN, BEST_MOVE = range(ENTRY)
WORDS_OF_A_CACHE_LINE = 8

LOWEST, HIGHEST = NO_VALUE, -NO_VALUE
ZERO = 128
"""Added to a bound, which is stored as a number from 0 to 255."""


FIRST_FACTOR, SECOND_FACTOR = 0x9E3779B97F4A7C15 - (1 << 64), 0xBF58476D1CE4E5B9 - (1 << 64)
"""Odd numbers with mixed bits, which spread what is known over a word."""

Table = NDArray[np.int64]
"""int64[4 N]"""


def make_table(bits: int) -> Table:
    """An empty table of 2**bits entries, each bucket in one cache line."""
    words = np.zeros((ENTRY << bits) + WORDS_OF_A_CACHE_LINE, dtype=np.int64)
    start = -(words.ctypes.data // words.itemsize) % WORDS_OF_A_CACHE_LINE
    return words[start : start + (ENTRY << bits)]


@part_of_compiled
def bucket_of(table: Table, own: int, opp: int) -> Word:
    """The index at which the bucket of a position begins."""
    return (fold(own, opp) & (table.shape[0] // BUCKET - 1)) * BUCKET


@part_of_compiled
def entry_of(table: Table, bucket: int, own: int, opp: int) -> tuple[int, int]:
    """The index at which the entry of a position begins, and what is known there; -1 and 0 if there is none."""
    for entry in (bucket, bucket + ENTRY):
        known = table[entry + KNOWN]
        if table[entry + OWN] == own ^ known * FIRST_FACTOR and table[entry + OPP] == opp ^ known * SECOND_FACTOR:
            return entry, known
    return -1, 0


@part_of_compiled
def _is_trusted(known: int, search: int) -> bool:
    return (known >> 24) & 1 == 1 or known >> 25 == search


@part_of_compiled
def bounds_of(known: int, search: int) -> tuple[int, int]:
    """The lower and the upper bound that this search may trust."""
    if _is_trusted(known, search):
        return (known & 255) - ZERO, ((known >> 8) & 255) - ZERO
    return LOWEST, HIGHEST


@part_of_compiled
def remember(
    table: Table,
    bucket: int,
    own: int,
    opp: int,
    bounds: tuple[int, int],
    move: int,
    empties: int,
    search: int,
    certain: int,
) -> None:
    """Store bounds and the best move of a position; replaces the less valuable entry of the bucket."""
    lower, upper = bounds
    entry, known = entry_of(table, bucket, own, opp)
    if entry >= 0:
        if (known >> 24) & 1 > certain:
            return
        if _is_trusted(known, search):
            lower, upper = max(lower, (known & 255) - ZERO), min(upper, ((known >> 8) & 255) - ZERO)
    else:
        kept = table[bucket + KNOWN]
        entry = bucket if (kept >> 16) & 255 <= empties or kept >> 25 != search else bucket + ENTRY
    known = (lower + ZERO) | ((upper + ZERO) << 8) | (empties << 16) | (certain << 24) | (search << 25)
    table[entry + OWN], table[entry + OPP] = own ^ known * FIRST_FACTOR, opp ^ known * SECOND_FACTOR
    table[entry + KNOWN], table[entry + BEST_MOVE] = known, move
