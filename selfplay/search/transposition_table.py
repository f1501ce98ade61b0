"""The transposition table: results for positions that can be reached in several ways.

It is int64[(W + 2) N], W the number of int64s of a packed position. An entry has the bits of the value, what is known
besides, and the W parts of the position. Each position has one place, given by its hash. A new entry replaces the
previous one.

Several threads may use a table at once, and their writes may mix in an entry. So the position is combined with the
rest, and a mixed entry belongs to no position ("lockless hashing": Hyatt & Mann, "A lockless transposition-table
implementation for parallel search", 2002).
"""

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Bits
from selfplay.compute.compilation import part_of_compiled, prefetch
from selfplay.compute.compiled_words import num_position_words, part, position_hash
from selfplay.compute.table_memory import zeros_of_table

NOTHING, EXACT, UPPER_BOUND, LOWER_BOUND = range(4)
"""Kinds of stored values; NOTHING where no position is stored."""

LEAST_STORED_DEPTH = 2
"""With fewer plies left, looking up a position takes longer than searching it."""

VALUE, KNOWN, POSITION = range(3)
"""Where the parts of an entry begin."""

NO_ACTION = -1
"""The best action where it is unknown."""

KNOWN_FACTOR, VALUE_FACTOR = 0x9E3779B97F4A7C15 - (1 << 64), 0xBF58476D1CE4E5B9 - (1 << 64)
"""Odd numbers with mixed bits, which spread a word."""

Table = NDArray[np.int64]
"""int64[(W + 2) N], N a power of two, at first 0; with N = 0 nothing is stored."""


def make_value_table(bits: int | None, num_words: int) -> Table:
    """An empty table of 2**bits entries of positions of W = `num_words`; None: one in which nothing is stored."""
    return zeros_of_table(0 if bits is None else (num_words + POSITION) << bits, np.int64)


@part_of_compiled
def entry_place(table: Table, packed: Bits) -> Bits:
    """The index at which the entry of a position begins."""
    size = num_position_words(packed) + POSITION
    return (position_hash(packed) & (table.shape[0] // size - 1)) * size


@part_of_compiled
def prefetch_entry(table: Table, packed: Bits) -> None:
    """Start to load the entry of a position that will soon be looked up."""
    if table.shape[0] > 0:
        prefetch(table, entry_place(table, packed))


@part_of_compiled
def mixed(known: Bits, value: Bits) -> Bits:
    """The word that each part of the position is combined with."""
    return known * KNOWN_FACTOR ^ value * VALUE_FACTOR


@part_of_compiled
def look_up_value(table: Table, packed: Bits, left: int, alpha: float, beta: float) -> tuple[bool, float, bool, int]:
    """What is known of a position that is to be searched `left` plies ahead.

    Only values outside the window are returned, because the table has no principal variations for values inside it.

    Returns:
        Whether the value is known, the value, whether a deeper search may change it, and the action to try first;
        NO_ACTION where it is unknown.
    """
    if left < LEAST_STORED_DEPTH or table.shape[0] == 0:
        return False, 0.0, False, NO_ACTION
    place = entry_place(table, packed)
    bits, known = table[place + VALUE], table[place + KNOWN]
    mask, kind = mixed(known, bits), known & 3
    is_here, place = kind != NOTHING, place + POSITION
    for k in range(num_position_words(packed)):
        is_here &= table[place + k] == part(packed, k) ^ mask
    if not is_here:
        return False, 0.0, False, NO_ACTION
    value = np.int64(bits).view(np.float64)
    is_answer = (known >> 8) & 255 == left and is_outside_window(value, kind, alpha, beta)
    return is_answer, value, (known >> 2) & 1 == 1, known >> 16


@part_of_compiled
def is_outside_window(value: float, kind: int, alpha: float, beta: float) -> bool:
    """Whether a stored value proves that the value is outside the window."""
    if value >= beta:
        return kind != UPPER_BOUND
    return value <= alpha and kind != LOWER_BOUND


@part_of_compiled
def store_value(
    table: Table, packed: Bits, left: int, window: tuple[float, float], value: float, is_open: bool, action: int
) -> None:
    """Store the result of a search of a position `left` plies ahead: its value and its best action."""
    if left < LEAST_STORED_DEPTH or table.shape[0] == 0:
        return
    alpha, beta = window
    kind_below_beta = UPPER_BOUND if value <= alpha else EXACT
    kind = LOWER_BOUND if value >= beta else kind_below_beta
    place, bits = entry_place(table, packed), np.float64(value).view(np.int64)
    known = np.int64(kind | is_open << 2 | left << 8) | action << 16
    mask = mixed(known, bits)
    table[place + VALUE], table[place + KNOWN] = bits, known
    place += POSITION
    for k in range(num_position_words(packed)):
        table[place + k] = part(packed, k) ^ mask
