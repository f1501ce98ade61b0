"""The transposition table: results for positions that can be reached in several ways.

It is int64[4 N]; an entry has four words: own, opp, the bits of the value, and what is known besides. Each position has
one place, given by its hash. A new entry replaces the previous one.

Several threads may use a table at once, and their writes may mix in an entry. So own and opp are combined with the
other words, and a mixed entry belongs to no position ("lockless hashing": Hyatt & Mann, "A lockless transposition-table
implementation for parallel search", 2002).
"""

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word, bit_count
from selfplay.compute.compilation import part_of_compiled
from selfplay.compute.random_numbers import fold

NOTHING, EXACT, UPPER_BOUND, LOWER_BOUND = range(4)
"""Kinds of stored values; NOTHING where no position is stored."""

LEAST_STORED_DEPTH = 2
"""With fewer plies left, looking up a position takes longer than searching it."""

ENTRY = 4
"""The number of words of an entry."""
OWN, OPP, VALUE, KNOWN = range(ENTRY)

NO_MOVE = 64
"""Stored for a pass; other moves are stored as the number of their square."""

KNOWN_FACTOR, VALUE_FACTOR = 0x9E3779B97F4A7C15 - (1 << 64), 0xBF58476D1CE4E5B9 - (1 << 64)
"""Odd numbers with mixed bits, which spread a word."""

Table = NDArray[np.int64]
"""int64[4 N], N a power of two, at first 0; with N = 1 nothing is stored."""


@part_of_compiled
def stores_nothing(table: Table) -> bool:
    """Whether nothing is ever stored in this table."""
    return bool(table.shape[0] == ENTRY)


@part_of_compiled
def place_of(table: Table, own: int, opp: int) -> Word:
    """The index at which the entry of a position begins."""
    return (fold(own, opp) & (table.shape[0] // ENTRY - 1)) * ENTRY


@part_of_compiled
def mixed(known: Word, value: Word) -> Word:
    """The word that own is combined with; opp is combined with its complement."""
    return known * KNOWN_FACTOR ^ value * VALUE_FACTOR


@part_of_compiled
def look_up(table: Table, own: int, opp: int, left: int, alpha: float, beta: float) -> tuple[bool, float, bool, int]:
    """What is known of a position that is to be searched `left` plies ahead.

    Only values outside the window are returned, because the table has no principal variations for values inside it.

    Returns:
        Whether the value is known, the value, whether a deeper search may change it, and the move to try first; 0 where
        it is a pass or unknown.
    """
    if left < LEAST_STORED_DEPTH or stores_nothing(table):
        return False, 0.0, False, 0
    place = place_of(table, own, opp)
    bits, known = table[place + VALUE], table[place + KNOWN]
    mask, kind = mixed(known, bits), known & 3
    if kind == NOTHING or table[place + OWN] != own ^ mask or table[place + OPP] != opp ^ ~mask:
        return False, 0.0, False, 0
    square = known >> 16
    move = 0 if square == NO_MOVE else np.int64(1) << square
    value = np.int64(bits).view(np.float64)
    is_answer = (known >> 8) & 255 == left and is_outside(value, kind, alpha, beta)
    return is_answer, value, (known >> 2) & 1 == 1, move


@part_of_compiled
def is_outside(value: float, kind: int, alpha: float, beta: float) -> bool:
    """Whether a stored value proves that the value is outside the window."""
    if value >= beta:
        return kind != UPPER_BOUND
    return value <= alpha and kind != LOWER_BOUND


@part_of_compiled
def store(
    table: Table,
    own: int,
    opp: int,
    left: int,
    window: tuple[float, float],
    value: float,
    is_open: bool,
    move: int,
) -> None:
    """Store the result of a search of a position `left` plies ahead: its value and its best move."""
    if left < LEAST_STORED_DEPTH or stores_nothing(table):
        return
    alpha, beta = window
    kind_below_beta = UPPER_BOUND if value <= alpha else EXACT
    kind = LOWER_BOUND if value >= beta else kind_below_beta
    square = NO_MOVE if move == 0 else bit_count(move - 1)
    place, bits = place_of(table, own, opp), np.float64(value).view(np.int64)
    known = np.int64(kind | is_open << 2 | left << 8 | square << 16)
    mask = mixed(known, bits)
    table[place + OWN], table[place + OPP] = own ^ mask, opp ^ ~mask
    table[place + VALUE], table[place + KNOWN] = bits, known
