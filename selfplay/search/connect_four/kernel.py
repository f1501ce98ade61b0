"""The compiled search for the exact score of a Connect Four position.

One call determines whether the score is above a bound (a null-window search). The methods are those of published
descriptions (John Tromp's Fhourstones, Pascal Pons's "Solving Connect Four", BitBully): moves that lose at once are
left out, moves that make more threats are tried first, and bounds are kept in a table for positions and their mirror
images.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word, bit_count
from selfplay.compute.compilation import compiled, part_of_compiled, recursive_part, register_rules
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


class Memory(NamedTuple):
    """What the searches of one solver look up and write into."""

    table: Table
    book: Book
    work: NDArray[np.int64]
    """int64[2]: [VISITED] the number of positions visited; [NEXT_POLL] the number at which the stop flag is checked
    next."""
    moves: NDArray[np.int64]
    """int64[(SQUARES + 1) * COLUMNS]: the sorted moves of the positions on the way to the current one."""


VISITED, NEXT_POLL = 0, 1


def make_memory(table_bits: int, book: Book) -> Memory:
    """The memory of a new solver, whose table has 2**table_bits entries."""
    moves = np.zeros((SQUARES + 1) * COLUMNS, dtype=np.int64)
    return Memory(make_table(table_bits), book, np.zeros(2, dtype=np.int64), moves)


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
def is_stopped(memory: Memory, stop: StopFlag) -> bool:
    """Count a position, and from time to time check the stop flag and the limit. Returns whether the search is
    stopped."""
    work = memory.work
    work[VISITED] += 1
    if work[VISITED] > work[NEXT_POLL]:
        work[NEXT_POLL] = min(work[VISITED] + POLL_INTERVAL, stop[LIMIT])
        if work[VISITED] > stop[LIMIT]:
            stop[STOP] = 1
        return bool(stop[STOP] != 0)
    return False


@recursive_part
def score_of(own: int, stones: int, empties: int, bound: int, memory: Memory, stop: StopFlag) -> Word:
    """As the search of `compile_null_window_search`, of a position with this number of empty squares."""
    table, (codes, scores), _, moves = memory
    if is_stopped(memory, stop):
        return 0
    if empties == BOOK_EMPTIES:
        score = book_score(codes, scores, own, stones)
        if score != NO_SCORE:
            return score
    safe = moves_that_do_not_lose(own, stones)
    if safe == 0:
        return -(empties // 2)
    # Neither player can win at once, so with one square left the match is a draw.
    if empties <= 2:
        return 0
    lowest, highest = -((empties - 2) // 2), (empties - 1) // 2
    if lowest > bound:
        return lowest
    if highest <= bound:
        return highest
    key, place = 0, 0
    if empties >= TABLE_EMPTIES:
        key = table_key(own, stones, empties)
        place = place_of(key, empties, bit_count(table.shape[0] - NEAR_ENTRIES - 1))
        lower, upper = bounds_at(table, place, key)
        if lower > bound:
            return lower
        if upper <= bound:
            return upper
    first_move = COLUMNS * empties
    number = sort_moves(own, stones, safe, first_move, moves)
    if number < 0:
        return highest
    # The win can come only one stone later.
    highest = max(highest - 1, 0)
    if highest <= bound:
        return highest
    best = NO_SCORE
    while best <= bound and number > 0:
        number -= 1
        move = moves[first_move + number] & MOVE_MASK
        reached = -score_of(own ^ stones, stones | move, empties - 1, -bound - 1, memory, stop)
        if stop[STOP] != 0:
            return 0
        best = max(best, reached)
    if key != 0:
        lower, upper = bounds_at(table, place, key)
        lower, upper = (max(lower, best), upper) if best > bound else (lower, min(upper, best))
        table[place] = entry_with(key, lower, upper)
    return best


@cache
def compile_null_window_search() -> Callable[[int, int, int, Memory, StopFlag], int]:
    """(own, stones, bound, memory, stop) to a value v of a position with score s: s >= v > bound, or s <= v <= bound.

    The player to move must not be able to win at once. The search stops when `stop[STOP]` is 1; the result is then
    meaningless. It sets `stop[STOP]` itself after more than `stop[LIMIT]` positions.
    """
    register_rules()

    @compiled
    def null_window_search(own: int, stones: int, bound: int, memory: Memory, stop: StopFlag) -> int:
        work = memory.work
        work[NEXT_POLL] = min(work[VISITED] + POLL_INTERVAL, stop[LIMIT])
        return int(score_of(own, stones, SQUARES - bit_count(stones), bound, memory, stop))

    memory: Any = numba.typeof(make_memory(0, NO_BOOK))  # type: ignore[no-untyped-call]
    word = numba.int64
    null_window_search.compile((word, word, word, memory, word[::1]))  # type: ignore[attr-defined]
    return null_window_search
