"""Nine features of Othello positions, each the count of the player to move minus that of the opponent.

docs/othello.md explains their use. Each function below makes one feature for a board of `width` x `width`
squares (width 4, 6 or 8): a function of two words `(own, opp)` that returns an integer. Exchanging the players changes
the sign of all features except `parity`; all are invariant under the eight symmetries of the board.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from selfplay.compute.bit_algebra import Word, bit_count, rule
from selfplay.games.othello_rules import board, corner_squares, neighbourhood, placing, squares_of
from selfplay.games.rules import Features, Position


@rule
def _wedges(own: Word, between: Word, step: Word) -> Word:
    """The squares with runs of `between` on both sides that end at `own`. On 8 squares, two runs are up to 4 long."""
    up, down = between & (own << step), between & (own >> step)
    for _ in range(3):
        up, down = up | (between & (up << step)), down | (between & (down >> step))
    return (up << step) & (down >> step)


@cache
def patterns(width: int) -> Callable[[Word, Word], Word]:
    """Number of wedges, minus the C-squares and twice the X-squares held beside an empty corner.

    A wedge is an empty square of an edge where a disc would turn opposing discs on both sides along that edge, as in
    h p p . p h: whoever plays there holds the whole edge. X-squares count twice, because they are more dangerous.
    """
    around, squares, corners = neighbourhood(width), board(width), corner_squares(width)
    inner, ends = range(1, width - 1), (0, width - 1)
    rows, columns = squares_of(width, ends, inner), squares_of(width, inner, ends)
    x_squares = x_squares_of(width)

    @rule
    def count_wedges(own: Word, opp: Word) -> Word:
        empty = ~(own | opp) & squares
        return bit_count(_wedges(own, opp & rows, 1) & empty) + bit_count(_wedges(own, opp & columns, width) & empty)

    @rule
    def count(own: Word, opp: Word) -> Word:
        risky = around(~(own | opp) & corners)
        mine = bit_count(own & risky) + bit_count(own & risky & x_squares)
        other = bit_count(opp & risky) + bit_count(opp & risky & x_squares)
        return count_wedges(own, opp) - count_wedges(opp, own) - mine + other

    return count


@cache
def discs_beside_corners(width: int) -> Callable[[Word, Word], tuple[Word, Word]]:
    """Numbers of X-squares and of C-squares held beside an empty corner.

    A C-square is next to a corner on the edge, the X-square next to it on the diagonal: while the corner is empty, a
    disc there may give it to the opponent.
    """
    around, corners, x_squares = neighbourhood(width), corner_squares(width), x_squares_of(width)

    @rule
    def counts(own: Word, opp: Word) -> tuple[Word, Word]:
        risky = around(~(own | opp) & corners)
        on_x = bit_count(own & risky & x_squares) - bit_count(opp & risky & x_squares)
        return on_x, bit_count(own & risky) - bit_count(opp & risky) - on_x

    return counts


def x_squares_of(width: int) -> int:
    """The X-squares."""
    return squares_of(width, (1, width - 2), (1, width - 2))


Feature = Callable[[Word, Word], Word]

BASIC_NAMES = ("discs", "corners", "stable", "mobility", "frontier", "parity", "patterns")
"""The features that `architecture=othello_features` has by default. Files of finished runs do not name them."""

NAMES = (*BASIC_NAMES, "x_squares", "c_squares")


@cache
def othello_features(width: int) -> Features:
    """All features, in the order of NAMES."""
    count_corners, count_stable, count_mobile = corners(width), stable(width), mobility(width)
    count_frontier, count_regions = frontier(width), parity(width)
    count_patterns, count_beside_corners = patterns(width), discs_beside_corners(width)

    @rule
    def basic_values(p: Position) -> tuple[Word, ...]:
        return (
            discs(p.own, p.opp),
            count_corners(p.own, p.opp),
            count_stable(p.own, p.opp),
            count_mobile(p.own, p.opp),
            count_frontier(p.own, p.opp),
            count_regions(p.own, p.opp),
            count_patterns(p.own, p.opp),
        )

    @rule
    def values(p: Position) -> tuple[Word, ...]:
        return basic_values(p) + count_beside_corners(p.own, p.opp)

    return Features(NAMES, values, basic=Features(BASIC_NAMES, basic_values))


# ---------------------------------------------------------------------- discs, corners, mobility, frontier


@rule
def discs(own: Word, opp: Word) -> Word:
    """Number of discs. A player with many discs early in a match has few moves, so the weight in evaluations is
    negative."""
    return bit_count(own) - bit_count(opp)


@cache
def corners(width: int) -> Feature:
    """Number of corners held. A disc there can never be turned."""
    squares = corner_squares(width)

    @rule
    def count(own: Word, opp: Word) -> Word:
        return bit_count(own & squares) - bit_count(opp & squares)

    return count


@cache
def mobility(width: int) -> Feature:
    """Number of squares on which a disc could be placed; for the opponent, as if it were the opponent's turn."""
    places = placing(width)

    @rule
    def count(own: Word, opp: Word) -> Word:
        return bit_count(places(own, opp)) - bit_count(places(opp, own))

    return count


@cache
def frontier(width: int) -> Feature:
    """Number of discs next to an empty square, in any of the eight directions. They give the opponent moves."""
    around, squares = neighbourhood(width), board(width)

    @rule
    def count(own: Word, opp: Word) -> Word:
        beside_empty = around(~(own | opp) & squares)
        return bit_count(own & beside_empty) - bit_count(opp & beside_empty)

    return count


# ---------------------------------------------------------------------- stable discs


class Line(NamedTuple):
    """One of the four directions of lines, and the squares from which few steps along it leave the board."""

    step: int
    """Difference between the numbers of neighbouring squares on a line."""
    end: int
    """The squares at either end of their line."""
    ups: tuple[int, ...]
    """The squares from which 1, 2 and 4 steps in the direction of `step` leave the board."""
    downs: tuple[int, ...]
    """The same for steps in the opposite direction."""


def _line(width: int, across: int, along: int) -> Line:
    """The line that moves by `across` columns and `along` rows per step."""

    def leaving(steps: int) -> int:
        kept_rows, kept_columns = (
            {place for place in range(width) if 0 <= place + steps * step < width} for step in (along, across)
        )
        return board(width) & ~squares_of(width, kept_rows, kept_columns)

    ups, downs = (tuple(leaving(sign * steps) for steps in (1, 2, 4)) for sign in (1, -1))
    return Line(width * along + across, ups[0] | downs[0], ups, downs)


@rule
def _held(occupied: Word, line: Line) -> Word:
    """The squares whose whole line is occupied, or that are at an end of it.

    Shifts may wrap around an edge, but only after the line has left the board.
    """
    up = occupied & (line.ups[0] | (occupied >> line.step))
    up = up & (line.ups[1] | (up >> (2 * line.step)))
    up = up & (line.ups[2] | (up >> (4 * line.step)))
    down = occupied & (line.downs[0] | (occupied << line.step))
    down = down & (line.downs[1] | (down << (2 * line.step)))
    down = down & (line.downs[2] | (down << (4 * line.step)))
    return (up & down) | line.end


@cache
def stable(width: int) -> Feature:
    """Number of discs that provably can never be turned: those protected along all four lines through them.

    A line protects a disc if it is full, if the disc is at an end of it, or if a stable disc of the same player is next
    to it on the line. So corners are stable, then the edge discs connected to them, then the discs next to those.
    """
    row, column = _line(width, 1, 0), _line(width, 0, 1)
    falling, rising = _line(width, 1, 1), _line(width, -1, 1)

    @rule
    def grow(stones: Word, by_row: Word, by_column: Word, by_falling: Word, by_rising: Word) -> Word:
        found = stones & by_row & by_column & by_falling & by_rising
        while True:
            # A shift that wraps around an edge lands at the end of a line, where a disc is protected anyway.
            held = stones & (by_row | (found << 1) | (found >> 1))
            held &= by_column | (found << width) | (found >> width)
            held &= by_falling | (found << (width + 1)) | (found >> (width + 1))
            held &= by_rising | (found << (width - 1)) | (found >> (width - 1))
            if held == found:
                return found
            found = held

    @rule
    def count(own: Word, opp: Word) -> Word:
        occupied = own | opp
        by_row, by_column = _held(occupied, row), _held(occupied, column)
        by_falling, by_rising = _held(occupied, falling), _held(occupied, rising)
        mine = grow(own, by_row, by_column, by_falling, by_rising)
        return bit_count(mine) - bit_count(grow(opp, by_row, by_column, by_falling, by_rising))

    return count


# ---------------------------------------------------------------------- parity


@cache
def parity(width: int) -> Feature:
    """Number of regions of empty squares of odd size, minus the number of regions of even size.

    If both players alternate in a region, the player to move places the last disc in an odd region, and the opponent in
    an even one. Squares that touch, also at a corner, belong to the same region.
    """
    around, squares = neighbourhood(width), board(width)

    @rule
    def count(own: Word, opp: Word) -> Word:
        empty = ~(own | opp) & squares
        lead = bit_count(empty & 0)
        while empty != 0:
            region, grown = empty & 0, empty & -empty
            while grown != region:
                region, grown = grown, around(grown) & empty
            empty ^= region
            lead += 2 * (bit_count(region) & 1) - 1
        return lead

    return count
