"""The compiled search for the exact score of a Connect Four position.

One call determines whether the score is above a bound (a null-window search). The methods are those of published
descriptions (John Tromp's Fhourstones, Pascal Pons's "Solving Connect Four", BitBully): moves that lose at once are
left out, moves that make more threats are tried first, and bounds are kept in a table for positions and their mirror
images.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Bits, bit_count
from selfplay.compute.compilation import part_of_compiled, recursive_part
from selfplay.games.connect_four import COLUMNS
from selfplay.search.connect_four.board import (
    COLUMN,
    NEAR_ENTRIES,
    STEP,
    Table,
    bounds_at,
    completing_squares,
    entry_index,
    entry_with,
    mirrored,
    playable_squares,
    position_key,
)
from selfplay.search.connect_four.opening_book import BOOK_EMPTIES, NO_SCORE, Book, book_score
from selfplay.search.threads import Progress, StopFlag, count_position

TABLE_EMPTIES = 8
"""Positions with at least this many empty squares are kept in the table."""
MIRROR_EMPTIES = 18
"""Positions with at least this many empty squares have one entry together with their mirror image."""
CENTRE_FIRST = np.array([COLUMN << STEP * column for column in (3, 2, 4, 1, 5, 0, 6)], dtype=np.int64)
MOVE_MASK = (1 << STEP * COLUMNS) - 1


class ConnectFourSearch(NamedTuple):
    """What the searches of one solver look up and write into."""

    table: Table
    book: Book
    moves: NDArray[np.int64]
    """int64[(SQUARES + 1) * COLUMNS]: the sorted moves of the positions on the way to the current one."""
    progress: Progress
    stop: StopFlag


@part_of_compiled
def moves_that_do_not_lose(own: int, stones: int) -> Bits:
    """The squares that can be played without letting the opponent win at once; 0 if there are none."""
    threats = completing_squares(stones ^ own, stones)
    moves = playable_squares(stones)
    forced = moves & threats
    if forced != 0:
        moves = forced if forced & (forced - 1) == 0 else 0
    return moves & ~(threats >> 1)


@part_of_compiled
def wins_next(own: int, stones: int, winning: int) -> Bits:
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
        winning = completing_squares(own | move, stones | move)
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
def table_key(own: int, stones: int, empties: int) -> Bits:
    """The key under which a position is kept."""
    key = position_key(own, stones)
    return min(key, mirrored(key)) if empties >= MIRROR_EMPTIES else key


@recursive_part
def score_of(own: int, stones: int, empties: int, bound: int, search: ConnectFourSearch) -> Bits:
    """A value v of a position with score s and this number of empty squares: s >= v > bound, or s <= v <= bound.

    The player to move must not be able to win at once. Meaningless once the search is stopped.
    """
    table, (codes, scores), moves, progress, stop = search
    if count_position(progress, stop, stop):
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
        place = entry_index(key, empties, bit_count(table.shape[0] - NEAR_ENTRIES - 1))
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
        reached = -score_of(own ^ stones, stones | move, empties - 1, -bound - 1, search)
        if progress.is_stopped != 0:
            return 0
        best = max(best, reached)
    if key != 0:
        lower, upper = bounds_at(table, place, key)
        lower, upper = (max(lower, best), upper) if best > bound else (lower, min(upper, best))
        table[place] = entry_with(key, lower, upper)
    return best
