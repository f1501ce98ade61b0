"""A proof who wins an m,n,k game: every defence is tried against threats, with symmetries and a table of positions.

It shares nothing with the rules but the lines, which it asks them for.
"""

from itertools import combinations
from typing import Any

import numba
import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.compute.positions import packed_fields
from selfplay.games.gomoku import Gomoku

Words = NDArray[np.uint64]

TABLE_BITS = 24
WON, NOT_WON = 1, 2
"""Added to a position in the table."""


def lines_of(game: Gomoku) -> Words:
    """The sets of `length` crossings with which a match is over, according to the rules."""
    sets = [sum(1 << square for square in some) for some in combinations(range(game.num_distinct_actions), game.length)]
    packed = packed_fields(game.rules.position, {"opp": np.array(sets, dtype=np.int64)})
    is_won = game.state_at(torch.from_numpy(packed)).terminated.numpy()
    return np.array(sets, dtype=np.uint64)[is_won]


def first_can_win(game: Gomoku) -> tuple[bool, int]:
    """Whether the player who moves first wins by force, and the number of positions that were searched."""
    visited = np.zeros(1, dtype=np.int64)
    images = game.symmetries.actions.astype(np.uint64)
    is_won = _wins(np.uint64(0), np.uint64(0), lines_of(game), images, np.zeros(1 << TABLE_BITS, np.uint64), visited)
    return bool(is_won), int(visited[0])


@numba.njit
def _completing(stones: Any, others: Any, lines: Words) -> Any:
    """The empty crossings that complete a line of `stones`."""
    found = np.uint64(0)
    for line in lines:
        rest = line & ~stones
        if rest & (rest - np.uint64(1)) == 0 and rest & others == 0:
            found |= rest
    return found


@numba.njit
def _open_lines(square: Any, others: Any, lines: Words) -> int:
    """The number of lines through a crossing that have none of the other player's stones."""
    count = 0
    for line in lines:
        count += line & square != 0 and line & others == 0
    return count


@numba.njit
def _ordered(squares: Any, others: Any, lines: Words) -> tuple[Words, int]:
    """The crossings, those with the most open lines first, and how many they are."""
    found, ranks, count = np.zeros(64, np.uint64), np.zeros(64, np.int64), 0
    while squares != 0:
        square = squares & (~squares + np.uint64(1))
        squares ^= square
        rank, place = _open_lines(square, others, lines), count
        while place > 0 and ranks[place - 1] < rank:
            found[place], ranks[place] = found[place - 1], ranks[place - 1]
            place -= 1
        found[place], ranks[place] = square, rank
        count += 1
    return found, count


@numba.njit
def _key(first: Any, second: Any, images: Words) -> Any:
    """A number that a position shares with its images and with no other: the least of their two words, side by side."""
    least = ~np.uint64(0)
    for image in images:
        key = np.uint64(0)
        for square in range(len(image)):
            key |= ((first >> np.uint64(square)) & np.uint64(1)) << image[square]
            key |= ((second >> np.uint64(square)) & np.uint64(1)) << (image[square] + np.uint64(len(image)))
        least = min(least, key)
    return least


@numba.njit
def _wins(first: Any, second: Any, lines: Words, images: Words, table: Words, visited: NDArray[np.int64]) -> bool:
    """Whether the player who moved first, and is to move, wins by force."""
    visited[0] += 1
    if _completing(first, second, lines) != 0:
        return True
    empty, is_open = (np.uint64(1) << np.uint64(images.shape[1])) - np.uint64(1) & ~(first | second), False
    for line in lines:
        is_open |= line & second == 0
    threats = _completing(second, first, lines)
    if not is_open or threats & (threats - np.uint64(1)) != 0:
        return False
    # With boards of at most 30 crossings, the two words leave bits for the result.
    key = _key(first, second, images)
    place = (key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - TABLE_BITS)
    if table[place] >> np.uint64(2) == key and table[place] != 0:
        return table[place] & np.uint64(3) == WON
    moves, count = _ordered(threats if threats != 0 else empty, second, lines)
    is_won = False
    for move in moves[:count]:
        stones = first | move
        threats = _completing(stones, second, lines)
        replies, number = _ordered(threats if threats != 0 else empty ^ move, second, lines)
        is_won = number > 0
        if threats & (threats - np.uint64(1)) == 0:
            for reply in replies[:number]:
                if not _wins(stones, second | reply, lines, images, table, visited):
                    is_won = False
                    break
        if is_won:
            break
    table[place] = key << np.uint64(2) | np.uint64(WON if is_won else NOT_WON)
    return is_won
