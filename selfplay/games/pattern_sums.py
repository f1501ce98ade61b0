"""Sums of weights of patterns while a match is played.

A stone changes only the entries of the images that contain its square, or, where stones drop, the square above it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Bits, bit_count
from selfplay.compute.compilation import part_of_compiled
from selfplay.games.pattern_planes import Seen
from selfplay.games.patterns import TrainableTables, added_by_squares


class SquareImages(NamedTuple):
    """For each square, the images whose entries a stone on it changes, one square after another."""

    first: NDArray[np.int64]
    """int64[S + 1]: where the images of each square begin."""
    image: NDArray[np.uint32]
    """uint32[T]: the number of the image."""
    added: NDArray[np.int32]
    """int32[K, T]: what a stone adds to the entry of the image: of the player who has just moved, of the player to
    move; and what a mark adds."""


def images_of_squares(tables: TrainableTables) -> SquareImages:
    """The images that each square changes."""
    added = added_by_squares(tables.contributions, tables.squares)
    touched = [np.flatnonzero(of_square.any(axis=0)) for of_square in added]
    first = np.cumsum([0, *map(len, touched)])
    columns = [of_square[:, images] for of_square, images in zip(added, touched, strict=True)]
    # Always in this order, because code is compiled for one; concatenate chooses it by those of its parts.
    together = np.asfortranarray(np.concatenate(columns, axis=1))
    return SquareImages(first, np.concatenate(touched).astype(np.uint32), together)


# ---------------------------------------------------------------------- compiled


@part_of_compiled
def weight_index(entry: Bits, weight_of_entry: NDArray[np.int32]) -> Bits:
    """The number of the weight of an entry; where no entries share weights, `weight_of_entry` is empty."""
    # Numbers without a sign, because numba counts negative indices from the end.
    return np.uint32(entry) if weight_of_entry.shape[0] == 0 else np.uint32(weight_of_entry[np.uint32(entry)])


@part_of_compiled
def sum_of_weights(
    entries: NDArray[np.int32],
    weights: NDArray[np.float32],
    weight_of_entry: NDArray[np.int32],
    current: NDArray[np.float32],
) -> Bits:
    """The sum of the weights of these entries, which are written into `current`.

    It is made of four partial sums, because a processor computes these at the same time.
    """
    for i in range(len(entries)):
        current[i] = weights[weight_index(entries[i], weight_of_entry)]
    rest = len(current) & 3
    one: Bits = 0.0
    two: Bits = 0.0
    three: Bits = 0.0
    four: Bits = 0.0
    for i in range(rest):
        one += current[i]
    for i in range(rest, len(current), 4):
        one += current[i]
        two += current[i + 1]
        three += current[i + 2]
        four += current[i + 3]
    return (one + two) + (three + four)


@part_of_compiled
def change_entries(entries: NDArray[np.int32], images: SquareImages, square: Bits, one: int, other: int) -> None:
    """Change the entries of a position where a square gets (1), loses (-1) or keeps (0) a stone of each player."""
    image, added = images.image, images.added
    for i in range(images.first[square], images.first[square + 1]):
        entries[image[i]] += one * added[0, i] + other * added[1, i]


@part_of_compiled
def change_of_sum(
    entries: NDArray[np.int32],
    current: NDArray[np.float32],
    images: SquareImages,
    square: Bits,
    weights: NDArray[np.float32],
    weight_of_entry: NDArray[np.int32],
) -> float:
    """How a new stone of the player who has just moved changes the sum; `current`: the weights of the entries."""
    one = two = 0.0
    start, end = images.first[square], images.first[square + 1]
    for i in range(start, end - 1, 2):
        image, following = images.image[i], images.image[i + 1]
        entry = entries[image] + images.added[0, i]
        next_entry = entries[following] + images.added[0, i + 1]
        one += weights[weight_index(entry, weight_of_entry)] - current[image]
        two += weights[weight_index(next_entry, weight_of_entry)] - current[following]
    if (end - start) & 1:
        image = images.image[end - 1]
        one += weights[weight_index(entries[image] + images.added[0, end - 1], weight_of_entry)] - current[image]
    return one + two


@part_of_compiled
def change_position(entries: NDArray[np.int32], images: SquareImages, old: Seen, new: Seen) -> None:
    """Change the entries of a position to those of another one."""
    one, new_one, other, new_other = old.just_moved, new.just_moved, old.to_move, new.to_move
    changed = (one ^ new_one) | (other ^ new_other)
    while changed:
        square = bit_count((changed & -changed) - 1)
        changed &= changed - 1
        more = ((new_one >> square) & 1) - ((one >> square) & 1)
        more_of_other = ((new_other >> square) & 1) - ((other >> square) & 1)
        change_entries(entries, images, square, more, more_of_other)
    changed = old.marks ^ new.marks
    while changed:
        square = bit_count((changed & -changed) - 1)
        changed &= changed - 1
        more = 2 * ((new.marks >> square) & 1) - 1
        for i in range(images.first[square], images.first[square + 1]):
            entries[images.image[i]] += more * images.added[2, i]
