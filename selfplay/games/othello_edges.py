"""Features of the edges and corners of Othello positions: wedges, X-squares and C-squares.

As in `selfplay.games.othello_features`, each counts those of the player to move minus those of the opponent.
"""

from collections.abc import Callable
from functools import cache

from selfplay.compute.bit_algebra import Word, bit_count, rule
from selfplay.games.othello_squares import board, corner_squares, neighbourhood, squares_of


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
