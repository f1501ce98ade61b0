"""Patterns of squares: the contents of a few squares of the board as an index into a table.

A pattern of n squares can be filled in 3**n ways, each square empty, with a stone of the player who has just moved, or
with one of the player to move. A value that is the sum of a table's entry for every pattern is called an n-tuple
network (Bledsoe & Browning, "Pattern recognition and reading by machine", 1959; for Othello Buro, "Experiments with
Multi-ProbCut and a new high-quality evaluation function", 1997, and Lucas, "Learning to play Othello with n-tuple
systems", 2008).

A pattern is placed on the board in all images under the symmetries of the game. All images share their weights, and so
do fillings of a pattern that are images of each other.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word, bit_count, rule, scalar_rule
from selfplay.compute.compilation import Words, compiled
from selfplay.errors import SettingError

LARGEST_PATTERN = 12
MOST_ENTRIES = 1 << 24
"""Entries of the tables of all patterns together: about 30 patterns of 12 squares."""
BYTE = 256


class Patterns(NamedTuple):
    """I images of patterns on a board of S squares, with E entries that share W weights."""

    contributions: NDArray[np.int32]
    """int32[ceil(S / 8), 256, I]: what each value of each byte of a player's word adds to the entry of each image."""
    offsets: NDArray[np.int32]
    """int32[I]: the first entry of each image, which is its entry on an empty board."""
    weight_of_entry: NDArray[np.int32]
    """int32[E]: the number of the weight of each entry."""
    num_weights: int
    images: tuple[tuple[int, ...], ...]
    """The squares of each image."""


class TrainableTables(NamedTuple):
    """The arrays of `Patterns` that compiled training reads, and the weights that it changes."""

    contributions: NDArray[np.int32]
    offsets: NDArray[np.int32]
    weight_of_entry: NDArray[np.int32]
    weights: NDArray[np.float32]
    """float32[phases, W], in C order; changed in place."""
    squares: int
    """Number of squares of the board."""


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
        raise SettingError(f"architecture.symmetries={kind}: must be none, mirror or, on a square board, square")
    return np.stack([np.argsort(image.reshape(-1)) for image in images])


def read_pattern(drawing: str, rows: int, columns: int) -> tuple[int, ...]:
    """The squares of a pattern drawn row by row from the top, with / between rows: x one of its squares, . another.

    Squares left out at the end of a row or of the board count as `.`: "xxx/xxx/xxx" is the corner at the top left.

    Raises SettingError if the drawing has other characters, does not fit the board, or has no squares or too many.
    """
    if not isinstance(drawing, str):
        raise SettingError(f"pattern {drawing!r}: must be a drawing such as xxx/xxx/xxx")
    lines = drawing.split("/")
    signs = {(row, column): sign for row, line in enumerate(lines) for column, sign in enumerate(line)}
    squares = tuple(sorted(columns * row + column for (row, column), sign in signs.items() if sign == "x"))
    if set(signs.values()) - set("x.") or len(lines) > rows or max(map(len, lines)) > columns:
        raise SettingError(f"pattern {drawing!r}: draw x and . in {rows} rows of {columns} with / between them")
    if not 1 <= len(squares) <= LARGEST_PATTERN:
        raise SettingError(f"pattern {drawing!r}: it has {len(squares)} squares; it must have 1 to {LARGEST_PATTERN}")
    return squares


def windows(rows: int, columns: int, size: int = 3) -> list[str]:
    """All windows of `size` x `size` squares, drawn as for `read_pattern`; a smaller board is one window."""
    high, wide = min(size, rows), min(size, columns)
    return [
        "/" * row + "/".join(["." * column + "x" * wide] * high)
        for row in range(rows - high + 1)
        for column in range(columns - wide + 1)
    ]


@cache
def make_patterns(patterns: tuple[tuple[int, ...], ...], symmetries: str, rows: int, columns: int) -> Patterns:
    """All images of these patterns (their squares) on a board.

    Raises SettingError as `board_symmetries`, and if there are more than MOST_ENTRIES entries.
    """
    images, offsets, shared = list[tuple[int, ...]](), list[int](), list[NDArray[np.int64]]()
    entries = weights = 0
    for squares in patterns:
        if any(set(squares) == set(image) for image in images):
            continue  # an image of an earlier pattern
        placed = [tuple(image[list(squares)].tolist()) for image in board_symmetries(symmetries, rows, columns)]
        distinct = {frozenset(image): image for image in reversed(placed)}
        images += distinct.values()
        offsets += [entries] * len(distinct)
        onto_itself = [[squares.index(square) for square in image] for image in placed if set(image) == set(squares)]
        if entries + 3 ** len(squares) > MOST_ENTRIES:
            raise SettingError(
                f"architecture.patterns: their tables have more than {MOST_ENTRIES:,} entries; use fewer"
            )
        weight_of = _weights_of_fillings(len(squares), onto_itself)
        shared.append(weights + weight_of)
        entries, weights = entries + len(weight_of), weights + int(weight_of.max()) + 1
    return Patterns(
        _contributions(images, rows * columns),
        np.array(offsets, dtype=np.int32),
        np.concatenate(shared).astype(np.int32),
        weights,
        tuple(images),
    )


def _weights_of_fillings(size: int, onto_itself: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """int64[3**size]: the number of the weight of each filling; fillings that are images of each other share one."""
    powers = 3 ** np.arange(size)
    digits = np.arange(3**size)[:, None] // powers % 3
    images = np.stack([digits @ powers[list(order)] for order in onto_itself])
    _, number = np.unique(images.min(axis=0), return_inverse=True)
    return number.reshape(-1)


def _contributions(images: Sequence[tuple[int, ...]], squares: int) -> NDArray[np.int32]:
    bits = (np.arange(BYTE)[:, None] >> np.arange(8)) & 1
    added = np.zeros((-(-squares // 8), 8, len(images)), dtype=np.int64)
    for number, image in enumerate(images):
        for digit, square in enumerate(image):
            added[square // 8, square % 8, number] = 3**digit
    return np.ascontiguousarray(bits @ added).astype(np.int32)


# ---------------------------------------------------------------------- compiled


@scalar_rule
def write_entries(
    just_moved: Word,
    to_move: Word,
    contributions: NDArray[np.int32],
    offsets: NDArray[np.int32],
    entries: NDArray[np.int32],
) -> None:
    """Write the entry of every image into `entries` (int32[I])."""
    for image in range(len(offsets)):
        entries[image] = offsets[image]
    for byte in range(len(contributions)):
        one, other = (just_moved >> (8 * byte)) & 0xFF, (to_move >> (8 * byte)) & 0xFF
        for image in range(len(offsets)):
            entries[image] += contributions[byte, one, image] + 2 * contributions[byte, other, image]


@rule
def phase_of(just_moved: Word, to_move: Word, phases: int, squares: int) -> Word:
    """The phase of the match, from 0: the number of stones divided into `phases` bands of equal width."""
    return (bit_count(just_moved) + bit_count(to_move)) * phases // (squares + 1)


@compiled
def write_all_entries(
    just_moved: Words,
    to_move: Words,
    contributions: NDArray[np.int32],
    offsets: NDArray[np.int32],
    entries: NDArray[np.int32],
) -> None:
    """`write_entries` for B positions; `entries` is int32[B, I]."""
    for i in range(len(just_moved)):
        write_entries(just_moved[i], to_move[i], contributions, offsets, entries[i])
