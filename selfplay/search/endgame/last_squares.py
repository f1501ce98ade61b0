"""The discs that a move turns, and searches of positions with at most five empty squares, faster than the general ones.

The discs are found by the rays of squares that begin at each square. On a ray, the first square without a disc of the
opponent must be found. On a ray towards higher bits, a bit is added just above the move, with all squares off the ray
set: the carry passes through these and through the opponent's discs to that square. On a ray towards lower bits, that
square is the highest one of the ray without a disc of the opponent.

There is one search for each number of empty squares. All are fail-soft null-window searches: they tell whether the
value to the player to move is above a bound. A result above the bound is a lower bound of the true value, any other
result an upper bound.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Bits, bit_count
from selfplay.compute.compilation import leading_zeros, part_of_compiled
from selfplay.compute.words import WordInt
from selfplay.games.rules import Rules, TurningRules
from selfplay.search.endgame.number_rules import number_rules
from selfplay.search.threads import Progress

Squares = NDArray[np.uint64]

BITS, RAYS = 64, 4
ONE, TOP = np.uint64(1), np.uint64(1 << 63)


@cache
def compiled_flips(turning: TurningRules) -> Callable[..., Any]:
    """`turning.flips` for compiled code; the move must be an empty square."""
    upward, downward = rays(turning)

    @part_of_compiled
    def up(own: Bits, opp: Bits, above: Bits, ray: Bits) -> Bits:
        end = ((opp | ~ray) + above) & own & ray
        return (end - np.uint64(end != 0)) & ray

    @part_of_compiled
    def down(own: Bits, opp: Bits, ray: Bits) -> Bits:
        end = (TOP >> leading_zeros((ray & ~opp) | ONE)) & own & ray
        return (~end + ONE << ONE) & ray

    # The rays are written out, so that the compiler does the same with four of them in one instruction.
    @part_of_compiled
    def flips(own: Bits, opp: Bits, move: Bits) -> Bits:
        square = np.uint64(bit_count(move - 1))
        mine, others, above = np.uint64(own), np.uint64(opp), np.uint64(move) << ONE
        turned = up(mine, others, above, upward[square, 0]) | up(mine, others, above, upward[square, 1])
        turned |= up(mine, others, above, upward[square, 2]) | up(mine, others, above, upward[square, 3])
        turned |= down(mine, others, downward[square, 0]) | down(mine, others, downward[square, 1])
        turned |= down(mine, others, downward[square, 2]) | down(mine, others, downward[square, 3])
        return np.int64(turned)

    return flips


def rays(turning: TurningRules) -> tuple[Squares, Squares]:
    """uint64[64, 4] twice: the rays of squares from each square towards higher bits, and towards lower bits; else 0.

    A ray ends at the edge of the board. Rays of a single square are left out, because no disc can be flanked there.
    """
    upward, downward = np.zeros((BITS, RAYS), dtype=np.uint64), np.zeros((BITS, RAYS), dtype=np.uint64)
    near = [_neighbours(turning, square) for square in range(BITS)]
    for square, beside in enumerate(near):
        found = [_ray(near, square, other - square) for other in beside]
        longer = sorted(ray for ray in found if ray.bit_count() > 1)
        higher = [ray for ray in longer if ray >> square]
        upward[square, : len(higher)] = higher
        lower = [ray for ray in longer if not ray >> square]
        downward[square, : len(lower)] = lower
    return upward, downward


def _neighbours(turning: TurningRules, square: int) -> set[int]:
    """The squares beside this one; none if it is not on the board."""
    board, near = int(turning.board), int(turning.neighbours(WordInt(1 << square, 1)))
    beside = (near & board) * (board >> square & 1)
    return {other for other in range(BITS) if other != square and beside >> other & 1}


def _ray(near: list[set[int]], square: int, step: int) -> int:
    """The squares that are reached from a square by steps in the same direction, each to a neighbour."""
    ray = 0
    while square + step in near[square]:
        square += step
        ray |= 1 << square
    return ray


LAST_SQUARES = 5
"""The largest number of empty squares for which these searches are faster than the general one."""

NO_VALUE = -127


class Count(Progress, Protocol):
    """What each thread of a search of endgames counts."""

    empties_to_winner: int
    """Whether squares that are empty at the end count for the winner (1 or 0)."""


Part = Callable[..., Any]


@cache
def odd_quarters(quarters: tuple[int, ...]) -> Part:
    """(empty squares) to all squares of the quarters with an odd number of empty squares, for compiled code."""
    first, second, third, fourth = quarters

    @part_of_compiled
    def squares_of_odd_quarters(empty: int) -> Bits:
        return (
            (-(bit_count(empty & first) & 1) & first)
            | (-(bit_count(empty & second) & 1) & second)
            | (-(bit_count(empty & third) & 1) & third)
            | (-(bit_count(empty & fourth) & 1) & fourth)
        )

    return squares_of_odd_quarters


def last_squares_search(rules: Rules, turning: TurningRules) -> tuple[Part, Part]:
    """Two functions for compiled code.

    (own, opp, empty squares, bound, count) to a value, with 0 to LAST_SQUARES empty squares; and (own, opp, number of
    empty squares, count) to the points by which the player to move has won.
    """
    _, lead, neighbours, _, _, quarters = number_rules(rules, turning)
    flips, squares_of_odd_quarters = compiled_flips(turning), odd_quarters(quarters)

    @part_of_compiled
    def final(own: int, opp: int, empties: int, count: Count) -> Bits:
        discs = lead(own, opp)
        return discs + count.empties_to_winner * empties * ((discs > 0) * 1 - (discs < 0) * 1)

    @part_of_compiled
    def last_1(own: int, opp: int, empty: int, bound: int, count: Count) -> Bits:
        count.visited += 1
        turned = flips(own, opp, empty)
        if turned != 0:
            return lead(own | empty | turned, opp ^ turned)
        turned = flips(opp, own, empty)
        if turned != 0:
            return -lead(opp | empty | turned, own ^ turned)
        return final(own, opp, 1, count)

    @part_of_compiled
    def last_2(own: int, opp: int, empty: int, bound: int, count: Count) -> Bits:
        count.visited += 1
        one = empty & -empty
        other = empty ^ one
        sign = 1
        for _ in range(2):  # the player to move and, if that player must pass, the other one
            best = NO_VALUE
            near = neighbours(opp)
            turned = flips(own, opp, one) if one & near else 0
            if turned != 0:
                best = -last_1(opp ^ turned, own | one | turned, other, 0, count)
            if best <= bound and other & near:
                turned = flips(own, opp, other)
                if turned != 0:
                    best = max(best, -last_1(opp ^ turned, own | other | turned, one, 0, count))
            if best != NO_VALUE:
                return sign * best
            own, opp, bound, sign = opp, own, -bound - 1, -sign
        return final(own, opp, 2, count)

    def with_one_more(below: Part, empties: int) -> Part:
        @part_of_compiled
        def last(own: int, opp: int, empty: int, bound: int, count: Count) -> Bits:
            count.visited += 1
            odd = squares_of_odd_quarters(empty)
            sign = 1
            for _ in range(2):
                best = NO_VALUE
                near = neighbours(opp) & empty
                squares, later = near & odd, near & ~odd
                while squares | later:
                    if squares == 0:
                        squares, later = later, squares
                    move = squares & -squares
                    squares ^= move
                    turned = flips(own, opp, move)
                    if turned != 0:
                        reached = -below(opp ^ turned, own | move | turned, empty ^ move, -bound - 1, count)
                        if reached > bound:
                            return sign * reached
                        best = max(best, reached)
                if best != NO_VALUE:
                    return sign * best
                own, opp, bound, sign = opp, own, -bound - 1, -sign
            return final(own, opp, empties, count)

        return last

    last_3 = with_one_more(last_2, 3)
    last_4 = with_one_more(last_3, 4)
    last_5 = with_one_more(last_4, LAST_SQUARES)

    @part_of_compiled
    def value(own: int, opp: int, empty: int, bound: int, count: Count) -> Bits:
        empties = bit_count(empty)
        if empties == LAST_SQUARES:
            return last_5(own, opp, empty, bound, count)
        if empties == 4:
            return last_4(own, opp, empty, bound, count)
        if empties == 3:
            return last_3(own, opp, empty, bound, count)
        if empties == 2:
            return last_2(own, opp, empty, bound, count)
        if empties == 1:
            return last_1(own, opp, empty, bound, count)
        return final(own, opp, 0, count)

    return value, final
