"""The table of the endgame search: bounds of the values of positions.

The table is int64[4 N]. An entry has four words: own, opp, what is known about the value, and the best move. Known
are a lower and an upper bound, the number of empty squares, whether the bounds are certain, and the number of
the search that found them; a search trusts bounds that are certain or that it has found itself. Two
consecutive entries make a bucket: the first keeps the position with the most empty squares, the second the latest. A
position can only be in the bucket given by its hash.
"""

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word
from selfplay.compute.compilation import part_of_compiled
from selfplay.compute.random_numbers import fold
from selfplay.search.endgame.last_squares import NO_VALUE

ENTRY, BUCKET = 4, 8
OWN, OPP, KNOWN, BEST_MOVE = range(ENTRY)
WORDS_OF_A_CACHE_LINE = 8

LOWEST, HIGHEST = NO_VALUE, -NO_VALUE
ZERO = 128
"""Added to a bound, which is stored as a number from 0 to 255."""


Table = NDArray[np.int64]
"""int64[4 N]"""


def new_table(bits: int) -> Table:
    """An empty table of 2**bits entries, each bucket in one cache line."""
    words = np.zeros((ENTRY << bits) + WORDS_OF_A_CACHE_LINE, dtype=np.int64)
    start = -(words.ctypes.data // words.itemsize) % WORDS_OF_A_CACHE_LINE
    return words[start : start + (ENTRY << bits)]


@part_of_compiled
def bucket_of(table: Table, own: int, opp: int) -> Word:
    """The index at which the bucket of a position begins."""
    return (fold(own, opp) & (table.shape[0] // BUCKET - 1)) * BUCKET


@part_of_compiled
def entry_of(table: Table, bucket: int, own: int, opp: int) -> int:
    """The index at which the entry of a position begins; -1 if there is none."""
    for entry in (bucket, bucket + ENTRY):
        if table[entry + OWN] == own and table[entry + OPP] == opp:
            return entry
    return -1


@part_of_compiled
def _is_trusted(known: int, search: int) -> bool:
    return (known >> 24) & 1 == 1 or known >> 25 == search


@part_of_compiled
def bounds_of(table: Table, entry: int, search: int) -> tuple[int, int]:
    """The lower and the upper bound that this search may trust."""
    known = table[entry + KNOWN]
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
    entry = entry_of(table, bucket, own, opp)
    if entry >= 0:
        known = table[entry + KNOWN]
        if (known >> 24) & 1 > certain:
            return
        if _is_trusted(known, search):
            lower, upper = max(lower, (known & 255) - ZERO), min(upper, ((known >> 8) & 255) - ZERO)
    else:
        kept = table[bucket + KNOWN]
        entry = bucket if (kept >> 16) & 255 <= empties or kept >> 25 != search else bucket + ENTRY
    table[entry + OWN], table[entry + OPP], table[entry + BEST_MOVE] = own, opp, move
    table[entry + KNOWN] = (lower + ZERO) | ((upper + ZERO) << 8) | (empties << 16) | (certain << 24) | (search << 25)
