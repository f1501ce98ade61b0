"""The rules of Othello on boards of 4x4, 6x6 and 8x8 squares, as bit algebra.

Bit `width * row + column` of a word is the square in that column and row; `selfplay.games.othello` draws them.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple

from selfplay.compute.bit_algebra import Word, bit_count, rule, word_of
from selfplay.compute.positions import position, squares
from selfplay.games.rules import Rules, TurningRules


def squares_of(width: int, rows: Iterable[int], columns: Iterable[int]) -> int:
    """The word with the squares in these rows and columns set."""
    columns = list(columns)
    return word_of(width * row + column for row in rows for column in columns)


def board(width: int) -> int:
    """All squares."""
    return word_of(range(width * width))


def corner_squares(width: int) -> int:
    """The four corners."""
    return squares_of(width, (0, width - 1), (0, width - 1))


@cache
def neighbourhood(width: int) -> Callable[[Word], Word]:
    """A function that adds to squares their neighbours in all eight directions; it may set bits outside the board."""
    last = width - 1
    before_last_column, after_first_column = (
        squares_of(width, range(width), c) for c in (range(last), range(1, width))
    )

    @rule
    def around(squares: Word) -> Word:
        wide = squares | ((squares & before_last_column) << 1) | ((squares & after_first_column) >> 1)
        return wide | (wide << width) | (wide >> width)

    return around


@rule
def _ends_of_runs(own: Word, between: Word, step: Word) -> Word:
    """The squares just beyond the runs of `between` that begin next to `own`, both ways along a line.

    Runs have up to 6 squares.
    """
    up, down = between & (own << step), between & (own >> step)
    up, down = up | (between & (up << step)), down | (between & (down >> step))
    pairs = between & (between << step)
    pairs_down = pairs >> step
    up, down = up | (pairs & (up << (2 * step))), down | (pairs_down & (down >> (2 * step)))
    up, down = up | (pairs & (up << (2 * step))), down | (pairs_down & (down >> (2 * step)))
    return (up << step) | (down >> step)


@rule
def _flanked_runs(own: Word, between: Word, move: Word, step: Word) -> Word:
    """The runs of `between` from `move` to a square of `own`, both ways along a line. Runs have up to 6 squares."""
    up, down = between & (move << step), between & (move >> step)
    up, down = up | (between & (up << step)), down | (between & (down >> step))
    pairs = between & (between << step)
    pairs_down = pairs >> step
    up, down = up | (pairs & (up << (2 * step))), down | (pairs_down & (down >> (2 * step)))
    up, down = up | (pairs & (up << (2 * step))), down | (pairs_down & (down >> (2 * step)))
    return up * (((up << step) & own) != 0) | down * (((down >> step) & own) != 0)


def _inner_squares(width: int) -> tuple[int, int, int]:
    """Where discs can be flanked along a row, along a column and along a diagonal.

    A flanked disc has a neighbour on both sides, so it is not on an edge that crosses its line. Masking these edges
    also prevents runs from wrapping around.
    """
    inner = range(1, width - 1)
    along_row, along_column = squares_of(width, range(width), inner), squares_of(width, inner, range(width))
    return along_row, along_column, along_row & along_column


@cache
def turning_rules(width: int) -> TurningRules:
    """How discs are turned on a board of `width` x `width` squares (4, 6 or 8)."""
    along_row, along_column, along_diagonal = _inner_squares(width)
    halves = range(width // 2), range(width // 2, width)
    first, second, third, fourth = (squares_of(width, rows, columns) for rows in halves for columns in halves)

    @rule
    def flips(own: Word, opp: Word, move: Word) -> Word:
        """The discs that `move` turns; none for a pass."""
        turned = _flanked_runs(own, opp & along_row, move, 1)
        turned = turned | _flanked_runs(own, opp & along_column, move, width)
        turned = turned | _flanked_runs(own, opp & along_diagonal, move, width - 1)
        return turned | _flanked_runs(own, opp & along_diagonal, move, width + 1)

    quarters = first, second, third, fourth
    return TurningRules(flips, neighbourhood(width), board(width), corner_squares(width), quarters)


@cache
def placing(width: int) -> Callable[[Word, Word], Word]:
    """A function (own, opp) to the squares on which the player with the discs `own` could place one."""
    along_row, along_column, along_diagonal = _inner_squares(width)
    squares = board(width)

    @rule
    def places(own: Word, opp: Word) -> Word:
        """The empty squares from which a run of the opponent's discs leads to a disc of the player."""
        found = _ends_of_runs(own, opp & along_row, 1)
        found = found | _ends_of_runs(own, opp & along_column, width)
        found = found | _ends_of_runs(own, opp & along_diagonal, width - 1)
        found = found | _ends_of_runs(own, opp & along_diagonal, width + 1)
        return found & ~(own | opp) & squares

    return places


@cache
def othello_rules(width: int) -> Rules:
    """The rules on a board of `width` x `width` squares (4, 6 or 8)."""
    pass_action, first_square = width * width, word_of([0])
    places, flips = placing(width), turning_rules(width).flips

    @position
    class Position(NamedTuple):
        own: Word = squares(width * width)
        opp: Word = squares(width * width)

    @rule
    def legal_actions(p: Position) -> Word:
        return places(p.own, p.opp)

    @rule
    def play(p: Position, action: int) -> Position:
        """Place a disc and turn the flanked ones."""
        if action == pass_action:
            return Position(p.opp, p.own)
        disc = first_square << action
        turned = flips(p.own, p.opp, disc)
        return Position(p.opp & ~turned, p.own | disc | turned)

    @rule
    def is_terminal(p: Position) -> bool:
        """Neither player can place a disc."""
        return places(p.own, p.opp) == 0 and places(p.opp, p.own) == 0

    @rule
    def left_empty(p: Position) -> int:
        """The squares that are empty at the end, which count for the winner; 0 before the end."""
        empty = width * width - bit_count(p.own | p.opp)
        return empty if empty != 0 and is_terminal(p) else 0

    @rule
    def margin(p: Position) -> int:
        """The lead in discs, at the end with the empty squares."""
        lead = bit_count(p.own) - bit_count(p.opp)
        if lead == 0:
            return 0
        return lead + left_empty(p) if lead > 0 else lead - left_empty(p)

    @rule
    def return_to_move(p: Position) -> int:
        lead = bit_count(p.own) - bit_count(p.opp)
        if lead == 0:
            return 0
        return 1 if lead > 0 else -1

    @rule
    def points(p: Position) -> tuple[int, int]:
        own, opp = bit_count(p.own), bit_count(p.opp)
        if own > opp:
            own += left_empty(p)
        elif opp > own:
            opp += left_empty(p)
        return own, opp

    row = width // 2 - 1
    black = word_of([width * row + row + 1, width * (row + 1) + row])
    white = word_of([width * row + row, width * (row + 1) + row + 1])
    start = Position(black, white)
    return Rules(start, legal_actions, play, is_terminal, return_to_move, margin=margin, points=points)
