"""Which squares a pattern has: drawn, all windows of a size, or chosen by random walks; and its images on the board."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.random_numbers import Purpose, random_bits, uniform_bits
from selfplay.errors import SettingError

LARGEST_PATTERN = 12
MOST_WALKS = 1000
DRAWS_AT_ONCE = 256


def board_symmetries(kind: str, rows: int, columns: int) -> NDArray[np.int64]:
    """int64[K, S]: images of the board, the identity first; square i of the board goes to square `[k, i]`.

    Args:
        kind: "square" for the eight symmetries of a square, "mirror" for left-right reflection, or "none".

    Raises SettingError for an unknown kind, or if the board does not have these symmetries.
    """
    board = np.arange(rows * columns).reshape(rows, columns)
    if kind == "none":
        images = [board]
    elif kind == "mirror":
        images = [board, board[:, ::-1]]
    elif kind == "square" and rows == columns:
        images = [np.rot90(side, quarter) for side in (board, board.T) for quarter in range(4)]
    else:
        raise SettingError(f"symmetries={kind}: must be none, mirror or, on a square board, square")
    return np.stack([np.argsort(image.reshape(-1)) for image in images])


def read_pattern(drawing: str, rows: int, columns: int) -> tuple[int, ...]:
    """The squares of a pattern drawn row by row from the top, with / between rows: x one of its squares, . another.

    Squares left out at the end of a row or of the board count as `.`: "xxx/xxx/xxx" is the corner at the top left.

    Raises SettingError if the drawing has other characters, does not fit the board, or has no squares or too many.
    """
    if not isinstance(drawing, str):
        raise SettingError(f"patterns: {drawing!r} must be a drawing such as xxx/xxx/xxx")
    lines = drawing.split("/")
    signs = {(row, column): sign for row, line in enumerate(lines) for column, sign in enumerate(line)}
    squares = tuple(sorted(columns * row + column for (row, column), sign in signs.items() if sign == "x"))
    if set(signs.values()) - set("x.") or len(lines) > rows or max(map(len, lines)) > columns:
        raise SettingError(
            f"patterns: {drawing!r} is not x and . in up to {rows} rows of {columns} with / between them; "
            "set architecture=ntuple for a board of another size"
        )
    if not 1 <= len(squares) <= LARGEST_PATTERN:
        raise SettingError(f"patterns: {drawing!r} has {len(squares)} squares; it must have 1 to {LARGEST_PATTERN}")
    return squares


def windows(rows: int, columns: int, size: int = 3) -> list[str]:
    """All windows of `size` x `size` squares, drawn as for `read_pattern`; a smaller board is one window."""
    high, wide = min(size, rows), min(size, columns)
    return [
        "/" * row + "/".join(["." * column + "x" * wide] * high)
        for row in range(rows - high + 1)
        for column in range(columns - wide + 1)
    ]


def random_walks(number: int, length: int, seed: int, rows: int, columns: int) -> Iterator[tuple[int, ...]]:
    """Patterns of `length` squares each, visited by walks to neighbours in all eight directions (Lucas, 2008).

    A walk may return to squares that it has visited; it ends when it has visited `length` different squares.

    Raises SettingError if there are too many, or a pattern cannot have this many squares.
    """
    for name, value, least, most in (
        ("walks", number, 0, MOST_WALKS),
        ("walk_length", length, 1, min(LARGEST_PATTERN, rows * columns) if number else LARGEST_PATTERN),
        ("walk_seed", seed, 0, 2**31),
    ):
        if type(value) is not int or not least <= value <= most:
            raise SettingError(f"{name}={value}: must be from {least} to {most}")
    for walk in range(number):
        draws = _random_draws(seed, walk)
        row, column = divmod(next(draws) % (rows * columns), columns)
        squares = {columns * row + column}
        while len(squares) < length:
            down, right = divmod(next(draws) % 9, 3)
            row = min(max(row + down - 1, 0), rows - 1)
            column = min(max(column + right - 1, 0), columns - 1)
            squares.add(columns * row + column)
        yield tuple(sorted(squares))


def _random_draws(seed: int, walk: int) -> Iterator[int]:
    """Random numbers of a walk."""
    for first in range(0, 1 << 62, DRAWS_AT_ONCE):
        steps = np.arange(first, first + DRAWS_AT_ONCE)
        # Arrays, not numbers, because their arithmetic wraps around at 64 bits.
        key, number, purpose = np.array([[seed], [walk], [int(Purpose.RANDOM_ACTION)]])
        yield from uniform_bits(random_bits(key, number, steps, purpose)).tolist()
