"""Patterns of squares: the contents of a few squares of the board as an index into a table.

A square is empty, has a stone of the player who has just moved, or one of the player to move, so a pattern of n squares
can be filled in 3**n ways. A value that is the sum of a table's entry for every pattern is called an n-tuple
network (Bledsoe & Browning, "Pattern recognition and reading by machine", 1959; for Othello Buro, "Experiments with
Multi-ProbCut and a new high-quality evaluation function", 1997, and Lucas, "Learning to play Othello with n-tuple
systems", 2008).

Where stones drop to the lowest empty square of a column, an empty square that the next stone can reach is a fourth kind
of contents (Thill, Koch & Konen, "Reinforcement learning with n-tuples on the game Connect-4", 2012). Most fillings
cannot occur, because no stone is above an empty square. Tables then have entries only for the fillings that can occur.

Where some stones are marked, such as kings, a square has five kinds of contents, and a pattern 5**n fillings. Where
something is on empty squares, such as arrows, there are four kinds; where both can be, six.

A pattern is placed on the board in all images under the symmetries of the game. All images share their weights.
Fillings of a pattern that are images of each other share a weight too.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Bits, bit_count, rule
from selfplay.compute.compilation import compiled
from selfplay.errors import SettingError
from selfplay.games.pattern_planes import Planes, Seen
from selfplay.games.pattern_shapes import board_symmetries

MOST_ENTRIES = 1 << 24
"""Entries of the tables of all patterns together: about 30 patterns of 12 squares."""
BYTE = 256
CONTENTS, CONTENTS_WITH_ARROWS, CONTENTS_WITH_MARKS, CONTENTS_WITH_BOARD = 3, 4, 5, 6
"""The number of contents of a square: without a further board, with one of empty squares, such as arrows, with one that
only marks stones, such as kings, and with any."""


class Patterns(NamedTuple):
    """I images of patterns on a board of S squares, with E entries that share W weights."""

    contributions: NDArray[np.int32]
    """int32[ceil(S / 8), K, 256, I]: what each value of each byte of each of K words adds to the entry of each image:
    the stones of the player who has just moved, those of the player to move and, with marks, the marked stones."""
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
    """float32[rows, W], in C order; changed in place."""
    squares: int
    phases: int
    """The number of phases in each set of weights, see `row_of_weights`."""
    parities: int
    """The last argument of `phase_of`."""
    planes: Planes = Planes()
    is_portable: bool = False
    """Whether values are the same bits on every processor (see `selfplay.compute.elementary.tangent`)."""


class Stack(NamedTuple):
    """Squares of a pattern that lie one on another in a column, and how they enter its index where stones drop.

    The contents of n such squares have a number. It is 0 if the next stone in the column cannot reach the lowest
    square. Otherwise it is 2**(number of stones) plus the sum of 2**i over the stones i, counted from the bottom, of
    the player to move. At the bottom of the board the first case cannot occur, so the number is one less.
    """

    places: tuple[int, ...]
    """The places of the squares in the pattern, from the bottom up."""
    is_at_bottom: bool
    """Whether the lowest one is at the bottom of the board."""
    stride: int
    """The factor of the number of the contents in the index of the pattern."""
    numbers: int


@cache
def make_patterns(
    patterns: tuple[tuple[int, ...], ...],
    symmetries: str,
    rows: int,
    columns: int,
    drops: bool = False,
    contents: int = CONTENTS,
) -> Patterns:
    """All images of these patterns (their squares) on a board.

    Args:
        drops: whether stones drop to the lowest empty square of a column, row 0 being at the top.
        contents: the number of contents of a square: CONTENTS or, if stones do not drop, one of the others.

    Raises SettingError as `board_symmetries`, and if there are more than MOST_ENTRIES entries.
    """
    images, offsets, shared = list[tuple[int, ...]](), list[int](), list[NDArray[np.int64]]()
    added = list[NDArray[np.int64]]()
    entries = weights = 0
    for squares in patterns:
        if any(set(squares) == set(image) for image in images):
            continue  # an image of an earlier pattern
        placed = [tuple(image[list(squares)].tolist()) for image in board_symmetries(symmetries, rows, columns)]
        if drops:
            # An image of the pattern on its own squares is one more image instead of one that shares weights.
            distinct = list(dict.fromkeys(placed))
            stacks = stacks_of(squares, rows, columns)
            weight_of = np.arange(stacks[-1].stride * stacks[-1].numbers)
            added += [_added_by_dropped_stones(image, stacks, rows, columns) for image in distinct]
        else:
            distinct = list({frozenset(image): image for image in reversed(placed)}.values())
            onto_itself = [
                [squares.index(square) for square in image] for image in placed if set(image) == set(squares)
            ]
            if entries + contents ** len(squares) > MOST_ENTRIES:
                raise _too_many_entries()
            weight_of = _weights_of_fillings(contents, len(squares), onto_itself)
            added += [_added_by_stones(image, rows * columns, contents) for image in distinct]
        if entries + len(weight_of) > MOST_ENTRIES:
            raise _too_many_entries()
        images += distinct
        offsets += [entries] * len(distinct)
        shared.append(weights + weight_of)
        entries, weights = entries + len(weight_of), weights + int(weight_of.max()) + 1
    return Patterns(
        contributions_of(np.stack(added)),
        np.array(offsets, dtype=np.int32),
        np.concatenate(shared).astype(np.int32),
        weights,
        tuple(images),
    )


def _too_many_entries() -> SettingError:
    return SettingError(f"patterns: their tables have more than {MOST_ENTRIES:,} entries; use fewer")


def stacks_of(squares: Sequence[int], rows: int, columns: int) -> list[Stack]:
    """The stacks of squares in columns that make up a pattern."""
    upward = sorted(range(len(squares)), key=lambda place: (squares[place] % columns, -squares[place]))
    stacks, stride = list[Stack](), 1
    while upward:
        places = [upward.pop(0)]
        while upward and squares[upward[0]] == squares[places[-1]] - columns:
            places.append(upward.pop(0))
        is_at_bottom = squares[places[0]] // columns == rows - 1
        stacks.append(Stack(tuple(places), is_at_bottom, stride, 2 ** (len(places) + 1) - is_at_bottom))
        stride *= stacks[-1].numbers
    return stacks


def stones_in_entries(
    patterns: Patterns, image: int, rows: int, columns: int, drops: bool, contents: int = CONTENTS
) -> NDArray[np.int64]:
    """int64[entries, n]: the contents of the n squares of an image, by its number, in each entry of its table.

    0: empty, 1: a stone of the player who has just moved, 2: one of the player to move; 3 and 4: marked ones, or, if
    something can be on empty squares, 3 to 5: the same as 0 to 2 with it.
    """
    # The squares of the first image of a pattern are those of the pattern itself.
    squares = patterns.images[int(np.searchsorted(patterns.offsets, patterns.offsets[image]))]
    if not drops:
        return np.arange(contents ** len(squares))[:, None] // contents ** np.arange(len(squares)) % contents
    stacks = stacks_of(squares, rows, columns)
    stones = np.zeros((stacks[-1].stride * stacks[-1].numbers, len(squares)), dtype=np.int64)
    for places, is_at_bottom, stride, numbers in stacks:
        number = np.arange(len(stones)) // stride % numbers + is_at_bottom
        stones_in_run = np.log2(np.maximum(number, 1)).astype(np.int64)
        for height, place in enumerate(places):
            stones[:, place] = np.where(height < stones_in_run, 1 + (number >> height & 1), 0)
    return stones


def _weights_of_fillings(contents: int, size: int, onto_itself: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """int64[contents**size]: the number of the weight of each filling; images of each other share one."""
    powers = contents ** np.arange(size)
    digits = np.arange(contents**size)[:, None] // powers % contents
    images = np.stack([digits @ powers[list(order)] for order in onto_itself])
    _, number = np.unique(images.min(axis=0), return_inverse=True)
    return number.reshape(-1)


def _added_by_stones(image: Sequence[int], num_squares: int, contents: int) -> NDArray[np.int64]:
    """int64[K, S]: what a stone of each player, and a mark, on each square adds to the index of an image."""
    added = np.zeros((2 if contents == CONTENTS else 3, num_squares), dtype=np.int64)
    added[0, list(image)] = contents ** np.arange(len(image))
    added[1:2] = 2 * added[0]
    added[2:] = (2 if contents == CONTENTS_WITH_MARKS else 3) * added[0]
    return added


def _added_by_dropped_stones(
    image: Sequence[int], stacks: Sequence[Stack], rows: int, columns: int
) -> NDArray[np.int64]:
    """int64[2, S]: as `_added_by_stones`, where stones drop."""
    added = np.zeros((2, rows * columns), dtype=np.int64)
    for places, is_at_bottom, stride, _ in stacks:
        for height, place in enumerate(places):
            added[:, image[place]] += stride * 2**height * np.array([1, 2])
        if not is_at_bottom:
            # The stone below brings the lowest square within reach.
            added[:, image[places[0]] + columns] += stride
    return added


def contributions_of(added: NDArray[np.int64]) -> NDArray[np.int32]:
    """The `contributions` of I images, from what each stone adds (int64[I, K, S])."""
    images, words, squares = added.shape
    padded = np.pad(added, ((0, 0), (0, 0), (0, -squares % 8))).reshape(images, words, -1, 8)
    bits = (np.arange(BYTE)[:, None] >> np.arange(8)) & 1
    return np.ascontiguousarray(np.einsum("vb,icsb->scvi", bits, padded)).astype(np.int32)


def added_by_squares(contributions: NDArray[np.int32], squares: int) -> NDArray[np.int32]:
    """int32[S, K, I]: what a stone of each player, and a mark, on each square adds to the entry of each image."""
    square = np.arange(squares)
    return contributions[square // 8, :, 1 << square % 8]


# ---------------------------------------------------------------------- compiled


@rule
def write_entries(
    seen: Seen, contributions: NDArray[np.int32], offsets: NDArray[np.int32], entries: NDArray[np.int32]
) -> None:
    """Write the entry of every image into `entries` (int32[I])."""
    for image in range(len(offsets)):
        entries[image] = offsets[image]
    for byte in range(len(contributions)):
        one, other = (seen.just_moved >> (8 * byte)) & 0xFF, (seen.to_move >> (8 * byte)) & 0xFF
        for image in range(len(offsets)):
            entries[image] += contributions[byte, 0, one, image] + contributions[byte, 1, other, image]
        marked = (seen.marks >> (8 * byte)) & 0xFF
        if marked != 0:
            for image in range(len(offsets)):
                entries[image] += contributions[byte, 2, marked, image]


@rule
def phase_of(just_moved: Bits, to_move: Bits, phases: int, squares: int, parities: int) -> Bits:
    """The phase of the match, from 0: the number of stones divided into bands of equal width.

    With `parities` 2 instead of 1 there are half as many bands, and each has one phase for even and one for odd
    numbers.
    """
    stones = bit_count(just_moved) + bit_count(to_move)
    return (stones * (phases // parities) // (squares + 1)) * parities + (stones & (parities - 1))


@rule
def row_of_weights(seen: Seen, phases: int, squares: int, parities: int) -> Bits:
    """The row of the weights of a position: each set has one for each of its phases."""
    return seen.set_number * phases + phase_of(seen.just_moved, seen.to_move, phases, squares, parities)


@compiled
def write_all_entries(
    seen: Seen, contributions: NDArray[np.int32], offsets: NDArray[np.int32], entries: NDArray[np.int32]
) -> None:
    """`write_entries` for N positions; `entries` is int32[N, I]."""
    for i in range(len(seen.to_move)):
        one = Seen(seen.to_move[i], seen.just_moved[i], seen.marks[i], seen.set_number[i])
        write_entries(one, contributions, offsets, entries[i])
