"""The memory of a compiled search: the stack of positions on the way to the current one, and the transposition table.

The table holds what is known about positions that can be reached in several ways. It is int64[4 N]; an entry has four
words: own, opp, the bits of the value, and what is known besides. Each position has one place, given by its hash. A new
entry replaces the previous one.

Several threads may use a table at once, and their writes may mix in an entry. So own and opp are combined with the
other words ("lockless hashing": Hyatt & Mann, "A lockless transposition-table implementation for parallel search",
2002): a mixed entry belongs to no position.
"""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word, bit_count
from selfplay.compute.compilation import part_of_compiled
from selfplay.compute.random_numbers import fold


class Frame(Protocol):
    """One position on the way from the root to the current position, read and written by compiled code."""

    own: int
    opp: int
    alpha: float
    beta: float
    best: float
    """The largest value found so far, -inf at first; the value of the position once all moves are tried."""
    best_move: int
    """The move with that value, as a word; 0 for a pass."""
    num_moves: int
    """Number of moves; 0 where the value is known without trying them."""
    num_tried: int
    low: float
    """The value that the child being searched must exceed to matter."""
    is_scouted: int
    """1 if the child is being searched with a null window, else 0."""
    is_open: int
    """1 if the value may rest on the evaluation of an unfinished position, so that a deeper search may change it."""
    mark: int
    """The index of its mark (see `selfplay.search.threads`), or -1 if it has none."""


FRAME = np.dtype([(name, np.float64 if kind is float else np.int64) for name, kind in Frame.__annotations__.items()])


class Stack(NamedTuple):
    """The memory of a search to depth D, one row per ply."""

    frames: NDArray[np.void]
    """D + 1 records of dtype FRAME."""
    moves: NDArray[np.int64]
    """int64[D + 1, 64]: the moves of each position, in the order in which they are tried."""
    ranks: NDArray[np.float64]
    """float64[64]: the rank of each move of the position whose moves are being ordered."""
    lines: NDArray[np.int64]
    """int64[D + 1, D + 2]: row p holds, from column p on, the best actions found from ply p; -1 after the last."""


def make_stack(depth: int) -> Stack:
    """A stack for searches to this depth. Searches that run at the same time each need their own."""
    moves, ranks = np.zeros((depth + 1, 64), dtype=np.int64), np.zeros(64)
    lines = np.full((depth + 1, depth + 2), -1, dtype=np.int64)
    return Stack(np.zeros(depth + 1, dtype=FRAME), moves, ranks, lines)


@part_of_compiled
def begin(frame: Frame, own: int, opp: int) -> None:
    """Prepare the frame of the root."""
    frame.own, frame.opp = own, opp
    frame.alpha, frame.beta = -np.inf, np.inf
    frame.best_move = 0


@part_of_compiled
def write_line(lines: NDArray[np.int64], ply: int, action: int) -> None:
    """Set the best line from `ply` to this action followed by the best line from the next ply."""
    lines[ply, ply] = action
    column = ply
    while lines[ply, column] != -1:
        column += 1
        lines[ply, column] = lines[ply + 1, column]


# ---------------------------------------------------------------------- the table

NOTHING, EXACT, UPPER_BOUND, LOWER_BOUND = range(4)
"""Kinds of stored values; NOTHING where no position is stored."""

LEAST_STORED_DEPTH = 2
"""Closer to the leaves, looking a position up takes longer than searching it."""

ENTRY = 4
OWN, OPP, VALUE, KNOWN = range(ENTRY)

NO_MOVE = 64
"""Stored for a pass; other moves are stored as the number of their square."""

KNOWN_FACTOR, VALUE_FACTOR = 0x9E3779B97F4A7C15 - (1 << 64), 0xBF58476D1CE4E5B9 - (1 << 64)
"""Odd numbers with mixed bits, which spread a word."""

Table = NDArray[np.int64]
"""int64[4 N], N a power of two; with N = 1 nothing is stored."""


def make_table(bits: int) -> Table:
    """An empty table of 2**bits entries; with 0 bits nothing is ever stored."""
    return np.zeros(ENTRY << bits, dtype=np.int64)


@part_of_compiled
def stores_nothing(table: Table) -> bool:
    """Whether nothing is ever stored in this table."""
    return bool(table.shape[0] == ENTRY)


@part_of_compiled
def clear_table(table: Table) -> None:
    """Remove all entries."""
    table[:] = 0


@part_of_compiled
def place_of(table: Table, own: int, opp: int) -> Word:
    """The index at which the entry of a position begins."""
    return (fold(own, opp) & (table.shape[0] // ENTRY - 1)) * ENTRY


@part_of_compiled
def mixed(known: Word, value: Word) -> Word:
    """The word that own is combined with; opp is combined with its complement."""
    return known * KNOWN_FACTOR ^ value * VALUE_FACTOR


@part_of_compiled
def look_up(table: Table, frame: Frame, left: int, is_root: bool) -> tuple[bool, int]:
    """Whether the table answers the search of a position `left` plies ahead, and the move to try first (0 if unknown).

    The answer is written to `frame.best` and `frame.is_open`. Only values outside the window are answers: one inside it
    would come without its principal variation.
    """
    if left < LEAST_STORED_DEPTH or stores_nothing(table):
        return False, 0
    place = place_of(table, frame.own, frame.opp)
    bits, known = table[place + VALUE], table[place + KNOWN]
    mask, kind = mixed(known, bits), known & 3
    if kind == NOTHING or table[place + OWN] != frame.own ^ mask or table[place + OPP] != frame.opp ^ ~mask:
        return False, 0
    square = known >> 16
    move = 0 if square == NO_MOVE else np.int64(1) << square
    value = np.int64(bits).view(np.float64)
    if is_root or (known >> 8) & 255 != left or not is_outside(value, kind, frame.alpha, frame.beta):
        return False, move
    frame.best, frame.is_open = value, (known >> 2) & 1
    return True, move


@part_of_compiled
def is_outside(value: float, kind: int, alpha: float, beta: float) -> bool:
    """Whether a stored value proves that the value is outside the window."""
    if value >= beta:
        return kind != UPPER_BOUND
    return value <= alpha and kind != LOWER_BOUND


@part_of_compiled
def store(table: Table, frame: Frame, left: int) -> None:
    """Store the result of a search of a position `left` plies ahead."""
    if left < LEAST_STORED_DEPTH or stores_nothing(table):
        return
    kind_below_beta = UPPER_BOUND if frame.best <= frame.alpha else EXACT
    kind = LOWER_BOUND if frame.best >= frame.beta else kind_below_beta
    square = NO_MOVE if frame.best_move == 0 else bit_count(frame.best_move - 1)
    place, bits = place_of(table, frame.own, frame.opp), np.float64(frame.best).view(np.int64)
    known = np.int64(kind | frame.is_open << 2 | left << 8 | square << 16)
    mask = mixed(known, bits)
    table[place + OWN], table[place + OPP] = frame.own ^ mask, frame.opp ^ ~mask
    table[place + VALUE], table[place + KNOWN] = bits, known
