"""Lines on a board, and checks of boards that a person sets up by hand or that are in files."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.positions import field_values, packed_fields
from selfplay.errors import IllegalActionError

Squares = NDArray[np.int8]
"""int8[S], in C order: 1 for a stone of player 0, -1 for one of player 1, 0 for an empty square."""

NEIGHBOURS = [(row, column) for row in (-1, 0, 1) for column in (-1, 0, 1) if (row, column) != (0, 0)]
DIRECTIONS = [(0, 1), (1, 0), (1, 1), (1, -1)]


def are_positions(of: Any, packed: NDArray[np.int64]) -> bool:
    """Whether these are int64[N, W], packed positions of class `of` whose boards `own` and `opp` share no square."""
    if packed.shape[1:] != (of.num_words,):
        return False
    fields = {place.name: field_values(of, packed, place.name) for place in of.places}
    return np.array_equal(packed_fields(of, fields), packed) and not (fields["own"] & fields["opp"]).any()


def check_turns(squares: Squares, to_move: int, names: tuple[str, str]) -> None:
    """Raise IllegalActionError unless the stones can have been placed in turns, with `to_move` to move next.

    Args:
        names: those of the two players.
    """
    first, second = names
    lead = int(squares.sum(dtype=np.int64))
    if lead not in (0, 1):
        raise IllegalActionError(f"{first} moves first, so it must have as many stones as {second}, or one more")
    if lead != to_move:
        raise IllegalActionError(f"with these stones it is the turn of {names[lead]}")


def check_no_line(squares: Squares, shape: tuple[int, int], length: int, exact: bool = False) -> None:
    """Raise IllegalActionError if a line of `length` stones has ended the match. For `exact` see `winning_squares`."""
    if winning_squares(squares, shape, length, exact):
        raise IllegalActionError("a line has ended the match; set up a position in which it is not over")


def check_connected(squares: Squares, shape: tuple[int, int], centre: Iterable[int]) -> None:
    """Raise IllegalActionError if a square of the centre is empty, or a stone is not connected to the centre."""
    found = set(centre)
    if not all(squares[square] for square in found):
        raise IllegalActionError("the four squares in the centre are never empty")
    waiting = list(found)
    while waiting:
        for square in _around(waiting.pop(), *shape):
            if squares[square] and square not in found:
                found.add(square)
                waiting.append(square)
    if len(found) < np.count_nonzero(squares):
        raise IllegalActionError("every disc must be connected to the centre")


def _around(square: int, rows: int, columns: int) -> list[int]:
    row, column = divmod(square, columns)
    places = [(row + down, column + right) for down, right in NEIGHBOURS]
    return [r * columns + c for r, c in places if 0 <= r < rows and 0 <= c < columns]


def winning_squares(squares: Squares, shape: tuple[int, int], length: int, exact: bool = False) -> list[int]:
    """The squares of all lines of `length` stones of one player on a board with this shape, in ascending order.

    `exact`: not of lines with another stone of the player at an end.
    """
    rows, columns = shape
    board, found = squares.reshape(shape), set[int]()

    def stone_on(place: tuple[int, int]) -> int:
        row, column = place
        return int(board[place]) if 0 <= row < rows and 0 <= column < columns else 0

    for row, column in np.argwhere(board).tolist():
        for down, right in DIRECTIONS:
            before, *places, after = [(row + down * step, column + right * step) for step in range(-1, length + 1)]
            stones = [stone_on(place) == board[row, column] for place in (before, *places, after)]
            if all(stones[1:-1]) and not (exact and (stones[0] or stones[-1])):
                found |= {r * columns + c for r, c in places}
    return sorted(found)
