"""The compiled search for the exact score of a Connect Four position.

One call determines whether the score is above a bound (a null-window search). It walks the tree depth first with a
stack. The methods are those of published descriptions (John Tromp's Fhourstones, Pascal Pons's "Solving Connect Four",
BitBully): moves that lose at once are left out, moves that make more threats are tried first, and bounds are kept in
a table for positions and their mirror images.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, Protocol

import numba
import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word, bit_count
from selfplay.compute.compilation import compiled, part_of_compiled, register_rules
from selfplay.games.connect_four import COLUMNS, SQUARES
from selfplay.search.connect_four.board import (
    COLUMN,
    NEAR_ENTRIES,
    STEP,
    Table,
    bounds_at,
    entry_with,
    key_of,
    make_table,
    mirrored,
    place_of,
    playable_squares,
    winning_squares,
)
from selfplay.search.connect_four.book import BOOK_EMPTIES, NO_BOOK, NO_SCORE, Book, book_score
from selfplay.search.threads import LIMIT, STOP, StopFlag

TABLE_EMPTIES = 8
"""Positions with at least this many empty squares are kept in the table."""
MIRROR_EMPTIES = 18
"""Positions with at least this many empty squares have one entry together with their mirror image."""
POLL_INTERVAL = 65536
"""Number of positions visited between two checks of the stop flag; at most 10 ms."""
CENTRE_FIRST = np.array([COLUMN << STEP * column for column in (3, 2, 4, 1, 5, 0, 6)], dtype=np.int64)
MOVE_MASK = (1 << STEP * COLUMNS) - 1


class Frame(Protocol):
    """One position on the way from the root to the current position, a record of the stack."""

    own: int
    stones: int
    bound: int
    best: int
    """The largest score found so far; NO_SCORE at first."""
    key: int
    """The key of the position in the table; 0 if it is not kept there."""
    num_untried: int


FRAME = np.dtype([(name, np.int64) for name in Frame.__annotations__])


class Memory(NamedTuple):
    """What the searches of one solver look up and write into."""

    table: Table
    book: Book
    visited: NDArray[np.int64]
    """int64[1]: the number of positions visited."""
    frames: NDArray[np.void]
    """SQUARES + 1 records of dtype FRAME: the stack of a search."""
    moves: NDArray[np.int64]
    """int64[(SQUARES + 1) * COLUMNS]: the sorted moves of every frame."""


def make_memory(table_bits: int, book: Book) -> Memory:
    """The memory of a new solver, whose table has 2**table_bits entries."""
    frames, moves = np.zeros(SQUARES + 1, dtype=FRAME), np.zeros((SQUARES + 1) * COLUMNS, dtype=np.int64)
    return Memory(make_table(table_bits), book, np.zeros(1, dtype=np.int64), frames, moves)


NullWindowSearch = Callable[[int, int, int, Memory, StopFlag], int]
"""(own, stones, bound, memory, stop) to a value v of a position with score s: s >= v > bound, or s <= v <= bound.

The player to move must not be able to win at once. The search sets `stop[STOP]` to 1 once more than `stop[LIMIT]`
positions are visited, and stops if somebody else does; the result is then meaningless."""


@part_of_compiled
def moves_that_do_not_lose(own: int, stones: int) -> Word:
    """The squares that can be played without letting the opponent win at once; 0 if there are none."""
    threats = winning_squares(stones ^ own, stones)
    moves = playable_squares(stones)
    forced = moves & threats
    if forced != 0:
        moves = forced if forced & (forced - 1) == 0 else 0
    return moves & ~(threats >> 1)


@part_of_compiled
def wins_next(own: int, stones: int, winning: int) -> Word:
    """Whether the player who has just moved wins with the next stone, whatever the opponent replies.

    `winning`: the winning squares of that player. The opponent cannot win at once.
    """
    replies = playable_squares(stones)
    threats = replies & winning
    if threats & (threats - 1) != 0:
        return True
    if threats != 0:
        replies = threats
    return replies & ~(winning >> 1) == 0


@part_of_compiled
def sort_moves(own: int, stones: int, moves: int, start: int, sorted_moves: NDArray[np.int64]) -> int:
    """Write the moves with the number of winning squares that they make, the best last; returns their number.

    Returns -1 if one of the moves wins with the next stone.
    """
    number = 0
    for column in CENTRE_FIRST:
        move = moves & column
        if move == 0:
            continue
        winning = winning_squares(own | move, stones | move)
        if wins_next(own | move, stones | move, winning):
            return -1
        rated = (((bit_count(winning) << 3) | (COLUMNS - number)) << STEP * COLUMNS) | move
        place = start + number
        while place > start and sorted_moves[place - 1] > rated:
            sorted_moves[place] = sorted_moves[place - 1]
            place -= 1
        sorted_moves[place] = rated
        number += 1
    return number


@part_of_compiled
def table_key(own: int, stones: int, empties: int) -> Word:
    """The key under which a position is kept."""
    key = key_of(own, stones)
    return min(key, mirrored(key)) if empties >= MIRROR_EMPTIES else key


@part_of_compiled
def open_frame(
    frame: Frame, empties: int, table: Table, far_bits: int, first_move: int, moves: NDArray[np.int64]
) -> int:
    """The score of a position, or a bound that decides the search; NO_SCORE if its moves must be searched.

    In that case they are written to `moves`, and their number to the frame.
    """
    own, stones, bound = frame.own, frame.stones, frame.bound
    safe = moves_that_do_not_lose(own, stones)
    if safe == 0:
        return -(empties // 2)
    # Without a win at once on either side, the last square is filled by a draw.
    if empties <= 2:
        return 0
    lowest, highest = -((empties - 2) // 2), (empties - 1) // 2
    if lowest > bound:
        return lowest
    if highest <= bound:
        return highest
    frame.key = 0
    if empties >= TABLE_EMPTIES:
        frame.key = table_key(own, stones, empties)
        lower, upper = bounds_at(table, place_of(frame.key, empties, far_bits), frame.key)
        if lower > bound:
            return lower
        if upper <= bound:
            return upper
    frame.num_untried = sort_moves(own, stones, safe, first_move, moves)
    if frame.num_untried < 0:
        return highest
    # The win can come only one stone later.
    highest = max(highest - 1, 0)
    if highest <= bound:
        return highest
    frame.best = NO_SCORE
    return NO_SCORE


@part_of_compiled
def keep(frame: Frame, empties: int, table: Table, far_bits: int) -> None:
    """Store in the table what the search of a position has proved."""
    place = place_of(frame.key, empties, far_bits)
    lower, upper = bounds_at(table, place, frame.key)
    if frame.best > frame.bound:
        lower = max(lower, frame.best)
    else:
        upper = min(upper, frame.best)
    table[place] = entry_with(frame.key, lower, upper)


@cache
def compile_null_window_search() -> NullWindowSearch:
    """Compile the search."""
    register_rules()

    @compiled
    def null_window_search(own: int, stones: int, bound: int, memory: Memory, stop: StopFlag) -> int:
        table, (codes, scores), work, frames, moves = memory
        far_bits = bit_count(table.shape[0] - NEAR_ENTRIES - 1)
        root = frames[0]
        root.own, root.stones, root.bound = own, stones, bound
        root_empties = SQUARES - bit_count(stones)
        ply, is_new = 0, True
        visited, limit = work[0], stop[LIMIT]
        next_poll = min(visited + POLL_INTERVAL, limit)
        while True:
            frame = frames[ply]
            score = NO_SCORE
            if is_new:
                visited += 1
                if visited > next_poll:
                    next_poll = min(visited + POLL_INTERVAL, limit)
                    if visited > limit:
                        stop[STOP] = 1
                    if stop[STOP] != 0:
                        break
                if root_empties - ply == BOOK_EMPTIES:
                    score = book_score(codes, scores, frame.own, frame.stones)
                if score == NO_SCORE:
                    score = open_frame(frame, root_empties - ply, table, far_bits, COLUMNS * ply, moves)
            if score == NO_SCORE:
                if frame.best <= frame.bound and frame.num_untried > 0:
                    frame.num_untried -= 1
                    child = frames[ply + 1]
                    child.own = frame.own ^ frame.stones
                    child.stones = frame.stones | (moves[COLUMNS * ply + frame.num_untried] & MOVE_MASK)
                    child.bound = -frame.bound - 1
                    ply, is_new = ply + 1, True
                    continue
                score = frame.best
                if frame.key != 0:
                    keep(frame, root_empties - ply, table, far_bits)
            if ply == 0:
                break
            ply, is_new = ply - 1, False
            frames[ply].best = max(frames[ply].best, -score)
        work[0] = visited
        return int(score)

    memory: Any = numba.typeof(make_memory(0, NO_BOOK))  # type: ignore[no-untyped-call]
    word = numba.int64
    null_window_search.compile((word, word, word, memory, word[::1]))  # type: ignore[attr-defined]
    return null_window_search
