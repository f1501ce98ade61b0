"""The discs that a move turns, by the rays of squares that begin at each square: faster than the rules of the game.

Along a ray towards higher bits, adding a bit just above the move carries through the opponent's discs, and through all
squares off the ray, to the first other square of the ray. Along a ray towards lower bits, this is the highest square of
the ray that does not hold one of the opponent's discs.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word, bit_count
from selfplay.compute.compilation import leading_zeros, part_of_compiled
from selfplay.games.rules import TurningRules

Squares = NDArray[np.uint64]

BITS, RAYS = 64, 4
ONE, TOP = np.uint64(1), np.uint64(1 << 63)


@cache
def compiled_flips(turning: TurningRules) -> Callable[..., Any]:
    """`turning.flips` for compiled code; the move must be an empty square."""
    upward, downward = rays(turning)

    def up(own: Word, opp: Word, above: Word, ray: Word) -> Word:
        end = ((opp | ~ray) + above) & own & ray
        return (end - np.uint64(end != 0)) & ray

    def down(own: Word, opp: Word, ray: Word) -> Word:
        end = (TOP >> leading_zeros((ray & ~opp) | ONE)) & own & ray
        return (~end + ONE << ONE) & ray

    up, down = part_of_compiled(up), part_of_compiled(down)

    # The rays are written out, so that the compiler does the same with four of them in one instruction.
    def flips(own: Word, opp: Word, move: Word) -> Word:
        square = np.uint64(bit_count(move - 1))
        mine, others, above = np.uint64(own), np.uint64(opp), np.uint64(move) << ONE
        turned = up(mine, others, above, upward[square, 0]) | up(mine, others, above, upward[square, 1])
        turned |= up(mine, others, above, upward[square, 2]) | up(mine, others, above, upward[square, 3])
        turned |= down(mine, others, downward[square, 0]) | down(mine, others, downward[square, 1])
        turned |= down(mine, others, downward[square, 2]) | down(mine, others, downward[square, 3])
        return np.int64(turned)

    return part_of_compiled(flips)


def rays(turning: TurningRules) -> tuple[Squares, Squares]:
    """uint64[64, 4] twice: the rays of squares from each square towards higher bits, and towards lower bits; else 0.

    A ray ends at the edge of the board. Rays of a single square are left out, because no disc can be flanked there.
    """
    upward, downward = np.zeros((BITS, RAYS), dtype=np.uint64), np.zeros((BITS, RAYS), dtype=np.uint64)
    for square, flanked in enumerate(_flanked(turning)):
        # The farther the flanking disc, the longer the run up to it: the longest of each direction is a ray.
        runs = {run | 1 << end for end, run in enumerate(flanked) if run}
        longest = sorted(run for run in runs if not any(run != other and run | other == other for other in runs))
        higher = [run for run in longest if run >> square]
        upward[square, : len(higher)] = higher
        lower = [run for run in longest if not run >> square]
        downward[square, : len(lower)] = lower
    return upward, downward


def _flanked(turning: TurningRules) -> list[list[int]]:
    """[64][64]: the discs turned by a move, if a single disc is the player's own and all others are the opponent's."""
    bits = np.uint64(1) << np.arange(BITS, dtype=np.uint64)
    move, own = (square.reshape(-1) for square in np.meshgrid(bits, bits, indexing="ij"))
    opp = np.uint64(turning.board % (1 << BITS)) & ~(move | own)
    turned = turning.flips(own.view(np.int64), opp.view(np.int64), move.view(np.int64))
    is_on_board = (move != own) & ((move | own) & ~np.uint64(turning.board % (1 << BITS)) == 0)
    return np.where(is_on_board, turned.view(np.uint64), np.uint64(0)).reshape(BITS, BITS).tolist()
