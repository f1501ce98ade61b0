"""Where handicap stones stand on a board of Go, as the command fixed_handicap places them."""

from contextlib import suppress

from selfplay.games.game import Game

SMALLEST_BOARD, FAR_FROM_EDGE = 7, 13
"""The smallest board with such points, and the smallest one on which they are on the fourth line."""


def handicap_squares(number: int, size: int) -> list[int]:
    """The squares of `number` stones on `size` x `size` crossings, numbered from the top left in rows.

    Raises ValueError for a number that the protocol does not allow on such a board: it allows 2 to 4, and up to 9 on
    boards with an odd size from 9 on.
    """
    most = 0 if size < SMALLEST_BOARD else 9 if size % 2 and size > SMALLEST_BOARD else 4
    if not 2 <= number <= most:
        raise ValueError("invalid number of stones")
    low = 3 if size >= FAR_FROM_EDGE else 2
    high, middle = size - 1 - low, size // 2
    corners, sides = [(high, low), (low, high), (low, low), (high, high)], [(middle, low), (middle, high)]
    others = [(low, middle), (high, middle)]
    order = [*corners[: min(number, 4)], *(sides if number >= 6 else []), *(others if number >= 8 else [])]
    if number in (5, 7, 9):
        order.append((middle, middle))
    return [size * row + column for row, column in order]


def handicaps(game: Game) -> dict[int, list[int]]:
    """The squares of the stones of each number that a game allows; empty if it has no handicap stones."""
    found = dict[int, list[int]]()
    if game.komi is None or not game.can_be_set_up:
        return found
    for number in range(2, 10):
        with suppress(ValueError):
            found[number] = handicap_squares(number, game.observation_shape[2])
    return found
