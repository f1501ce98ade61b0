"""The transposition table of the searches: what is known about positions that can be reached in several ways.

Each position has one place, given by its hash. A new entry replaces the previous one.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.compilation import part_of_compiled
from selfplay.compute.random_numbers import fold

NOTHING, EXACT, UPPER_BOUND, LOWER_BOUND = range(4)
"""Kinds of stored values; NOTHING where no position is stored."""

LEAST_STORED_DEPTH = 2
"""Closer to the leaves, looking a position up takes longer than searching it."""


class Entry(Protocol):
    """One record of a table, read and written by compiled code."""

    own: int
    opp: int
    move: int
    """The best move, as a word; tried first when the position is searched again."""
    value: float
    depth: int
    """How many plies ahead the position was searched."""
    kind: int
    """NOTHING, EXACT, UPPER_BOUND or LOWER_BOUND."""
    is_open: int
    """1 if a deeper search may find another value."""


WORD_FIELDS = [(name, np.int64) for name in ("own", "opp", "move")]
SMALL_FIELDS = [("depth", np.int32), ("kind", np.int16), ("is_open", np.int16)]
ENTRY = np.dtype([*WORD_FIELDS, ("value", np.float64), *SMALL_FIELDS])

Table = NDArray[np.void]
"""N records of dtype ENTRY, N a power of two; with N = 1 nothing is stored."""


class SearchedPosition(Protocol):
    """The fields that the table reads and writes of a searched position; see `selfplay.search.stack.Frame`."""

    own: int
    opp: int
    alpha: float
    beta: float
    best: float
    best_move: int
    is_open: int


def make_table(bits: int) -> Table:
    """An empty table of 2**bits entries; with 0 bits nothing is ever stored."""
    return np.zeros(1 << bits, dtype=ENTRY)


@part_of_compiled
def clear_table(table: Table) -> None:
    """Remove all entries."""
    for place in range(len(table)):
        table[place].kind = NOTHING


@part_of_compiled
def look_up(table: Table, frame: SearchedPosition, left: int, is_root: bool) -> tuple[bool, int]:
    """Whether the table answers the search of a position `left` plies ahead, and the move to try first (0 if unknown).

    The answer is written to `frame.best` and `frame.is_open`. Only values outside the window are answers: one inside it
    would come without its principal variation.
    """
    if left < LEAST_STORED_DEPTH or len(table) == 1:
        return False, 0
    entry = table[fold(frame.own, frame.opp) & (len(table) - 1)]
    if entry.own != frame.own or entry.opp != frame.opp or entry.kind == NOTHING:
        return False, 0
    if is_root or entry.depth != left or not is_outside(entry, frame.alpha, frame.beta):
        return False, entry.move
    frame.best, frame.is_open = entry.value, entry.is_open
    return True, entry.move


@part_of_compiled
def is_outside(entry: Entry, alpha: float, beta: float) -> bool:
    """Whether the entry proves that the value is outside the window."""
    if entry.value >= beta:
        return entry.kind != UPPER_BOUND
    return entry.value <= alpha and entry.kind != LOWER_BOUND


@part_of_compiled
def store(table: Table, frame: SearchedPosition, left: int) -> None:
    """Store the result of a search of a position `left` plies ahead."""
    if left < LEAST_STORED_DEPTH or len(table) == 1:
        return
    entry = table[fold(frame.own, frame.opp) & (len(table) - 1)]
    entry.own, entry.opp, entry.move = frame.own, frame.opp, frame.best_move
    entry.value, entry.depth, entry.is_open = frame.best, left, frame.is_open
    if frame.best >= frame.beta:
        entry.kind = LOWER_BOUND
    else:
        entry.kind = UPPER_BOUND if frame.best <= frame.alpha else EXACT
