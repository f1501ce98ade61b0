"""Connect Four positions in columns of seven bits, as the solver stores them, and its table of the bounds of scores.

Bit `7 * column + height` is a square, heights counted from 0 at the bottom. The seventh bit of each column is always
empty, so that shifted lines do not run into the next column:

     6 13 20 27 34 41 48
     5 12 19 26 33 40 47
     4 11 18 25 32 39 46
     3 10 17 24 31 38 45
     2  9 16 23 30 37 44
     1  8 15 22 29 36 43
     0  7 14 21 28 35 42

`own` holds the stones of the player to move, `stones` those of both players. The layout and the uses of `own` and
`stones` follow John Tromp's and Pascal Pons's published descriptions of their solvers.

The table is int64[N] in two parts. Positions with at least FAR_EMPTIES empty squares are in the large part. All others
are in a small part that fits into the processor's cache, because searching most of them again is faster than looking
them up in main memory. An entry is one word: the key of the position, a lower and an upper bound. A new entry replaces
the one in its place.
"""

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Bits, rule
from selfplay.compute.compilation import part_of_compiled
from selfplay.games.connect_four import COLUMNS, ROWS, SQUARES

STEP = ROWS + 1
"""The distance of the bits of two neighbouring squares of a row."""
BOTTOM_ROW = sum(1 << STEP * column for column in range(COLUMNS))
BOARD = sum(1 << STEP * column + height for column in range(COLUMNS) for height in range(ROWS))
COLUMN = (1 << ROWS) - 1
"""The squares of the left column."""
COLUMN_BITS = (1 << STEP) - 1


@rule
def from_words_of_game(own: Bits, opp: Bits) -> tuple[Bits, Bits]:
    """(own, stones) of a position in the words of the game."""
    mine, others = in_columns(own), in_columns(opp)
    return mine, mine | others


@rule
def in_columns(word: Bits) -> Bits:
    """A word of the game in this layout."""
    squares = word & 0
    for square in range(SQUARES):
        squares |= ((word >> square) & 1) << (STEP * (square % COLUMNS) + ROWS - 1 - square // COLUMNS)
    return squares


@rule
def playable_squares(stones: Bits) -> Bits:
    """The lowest empty square of each column that is not full."""
    return (stones + BOTTOM_ROW) & BOARD


@rule
def completing_squares(own: Bits, stones: Bits) -> Bits:
    """The empty squares that complete a line of four for the owner of `own`, whether or not they can be played now."""
    found = (own << 1) & (own << 2) & (own << 3)
    for step in (STEP - 1, STEP, STEP + 1):
        above, below = (own << step) & (own << 2 * step), (own >> step) & (own >> 2 * step)
        found |= above & ((own << 3 * step) | (own >> step))
        found |= below & ((own >> 3 * step) | (own << step))
    return found & (BOARD ^ stones)


@rule
def position_key(own: Bits, stones: Bits) -> Bits:
    """A number of 49 bits that no other position has: in each column, the stones of `own` below a marking bit."""
    return own + stones + BOTTOM_ROW


@rule
def mirrored(key: Bits) -> Bits:
    """The key of the position with left and right exchanged."""
    image = key & (COLUMN_BITS << 3 * STEP)
    for column in range(3):
        distance = (COLUMNS - 1 - 2 * column) * STEP
        image |= ((key & (COLUMN_BITS << column * STEP)) << distance) | (
            (key >> distance) & (COLUMN_BITS << column * STEP)
        )
    return image


# ---------------------------------------------------------------------- the table

FAR_EMPTIES = 18
NEAR_BITS = 14
NEAR_ENTRIES = 1 << NEAR_BITS
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
"""An odd number near 2**64 divided by the golden ratio, as in Fibonacci hashing (Knuth, volume 3, section 6.4)."""
BOUND_BITS, ZERO, HIGHEST = 7, 64, 63
BOUND_MASK = (1 << BOUND_BITS) - 1

Table = NDArray[np.int64]
"""int64[N]"""


def make_solver_table(bits: int) -> Table:
    """An empty table whose large part has 2**bits entries."""
    table = np.empty(NEAR_ENTRIES + (1 << bits), dtype=np.int64)
    # Writes to every page now, so that the first searches do not have to wait for memory.
    table.fill(0)
    return table


@part_of_compiled
def entry_index(key: int, empties: int, far_bits: int) -> Bits:
    """The index of the entry in which a position is kept."""
    product = np.uint64(key) * MULTIPLIER
    if empties < FAR_EMPTIES:
        return np.int64(product >> np.uint64(64 - NEAR_BITS))
    return NEAR_ENTRIES + np.int64(product >> np.uint64(64 - far_bits))


@part_of_compiled
def bounds_at(table: Table, place: int, key: int) -> tuple[int, int]:
    """The lower and the upper bound of a position; if the table does not have it, bounds that exclude nothing."""
    entry = table[place]
    if entry >> 2 * BOUND_BITS != key:
        return -ZERO, HIGHEST
    return ((entry >> BOUND_BITS) & BOUND_MASK) - ZERO, (entry & BOUND_MASK) - ZERO


@part_of_compiled
def entry_with(key: int, lower: int, upper: int) -> int:
    """The entry of a position with these bounds."""
    return (key << 2 * BOUND_BITS) | ((lower + ZERO) << BOUND_BITS) | (upper + ZERO)
