"""The table of the endgame search: bounds of the values of positions.

It is int64[4 N]; an entry has four words: own, opp, what is known about the value, and the best move. Several threads
may use a table at once, and their writes may mix in an entry. So own and opp are combined with what is known, and a
mixed entry belongs to no position ("lockless hashing": Hyatt & Mann, "A lockless transposition-table implementation for
parallel search", 2002). What is known about a value: a lower and an upper bound, the number of empty squares, whether
the bounds are certain, and the number of the search that found them. A search trusts bounds that are certain or that it
has found itself. Two consecutive entries are a bucket: the first keeps the position with the most empty squares, the
second the latest. A position can only be in the bucket of its hash.
"""

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Bits
from selfplay.compute.compilation import part_of_compiled
from selfplay.compute.random_numbers import fold
from selfplay.compute.table_memory import zeros_of_table
from selfplay.search.endgame.last_squares import NO_VALUE

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


def make_endgame_table(bits: int) -> Table:
    """An empty table of 2**bits entries, each bucket in one cache line."""
    words = zeros_of_table((ENTRY << bits) + WORDS_OF_A_CACHE_LINE, np.int64)
    start = -(words.ctypes.data // words.itemsize) % WORDS_OF_A_CACHE_LINE
    return words[start : start + (ENTRY << bits)]


@part_of_compiled
def bucket_of(table: Table, own: int, opp: int) -> Bits:
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
def look_up_bounds(table: Table, bucket: int, own: int, opp: int, bound: int, search: int) -> tuple[int, int]:
    """The value of a position, or NO_VALUE if the table does not decide the search; and the best known move, or 0."""
    entry, known = entry_of(table, bucket, own, opp)
    if entry < 0:
        return NO_VALUE, 0
    lower, upper = bounds_of(known, search)
    if lower > bound:
        return lower, 0
    return (upper if upper <= bound else NO_VALUE), table[entry + BEST_MOVE]


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
