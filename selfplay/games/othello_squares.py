"""Sets of squares of an Othello board of `width` x `width` squares, as words."""

from collections.abc import Callable, Iterable
from functools import cache

from selfplay.compute.bit_algebra import Word, rule, word_of


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
    # >> copies the sign bit into the last row.
    before_last_row = squares_of(width, range(last), range(width))

    @rule
    def around(squares: Word) -> Word:
        wide = squares | ((squares & before_last_column) << 1) | ((squares & after_first_column) >> 1)
        return wide | (wide << width) | ((wide >> width) & before_last_row)

    return around
