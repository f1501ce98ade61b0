"""The table of the Connect Four search: bounds of the scores of positions.

The table is int64[N] in two parts. Positions with at least FAR_EMPTIES empty squares are in the large part. All others
are in a small part that fits into the processor's cache: looking up a position in main memory takes longer than
searching most of them again. An entry is one word: the key of the position, a lower and an upper bound. A new
entry replaces the one in its place.
"""

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word
from selfplay.compute.compilation import part_of_compiled

FAR_EMPTIES = 18
NEAR_BITS = 14
NEAR_ENTRIES = 1 << NEAR_BITS
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
"""An odd number near 2**64 divided by the golden ratio, as in Fibonacci hashing (Knuth, volume 3, section 6.4)."""
BOUND_BITS, ZERO, HIGHEST = 7, 64, 63
BOUND_MASK = (1 << BOUND_BITS) - 1

Table = NDArray[np.int64]
"""int64[N]"""


def make_table(bits: int) -> Table:
    """An empty table whose large part has 2**bits entries."""
    table = np.empty(NEAR_ENTRIES + (1 << bits), dtype=np.int64)
    # Writes to every page now, so that the first searches do not have to wait for memory.
    table.fill(0)
    return table


@part_of_compiled
def place_of(key: int, empties: int, far_bits: int) -> Word:
    """The index of the entry in which a position is kept."""
    product = np.uint64(key) * MULTIPLIER
    if empties < FAR_EMPTIES:
        return np.int64(product >> np.uint64(64 - NEAR_BITS))
    return NEAR_ENTRIES + np.int64(product >> np.uint64(64 - far_bits))


@part_of_compiled
def bounds_at(table: Table, place: int, key: int) -> tuple[int, int]:
    """The lower and the upper bound of a position, if its place holds it; else bounds that exclude nothing."""
    entry = table[place]
    if entry >> 2 * BOUND_BITS != key:
        return -ZERO, HIGHEST
    return ((entry >> BOUND_BITS) & BOUND_MASK) - ZERO, (entry & BOUND_MASK) - ZERO


@part_of_compiled
def entry_with(key: int, lower: int, upper: int) -> int:
    """The entry of a position with these bounds."""
    return (key << 2 * BOUND_BITS) | ((lower + ZERO) << BOUND_BITS) | (upper + ZERO)
