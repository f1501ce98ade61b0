"""Learned values of positions, by which the endgame search orders moves where many squares are empty.

They come from the tables of patterns of a learned evaluation, rounded and laid out for speed. They decide only which
move is tried first, so they change the time of a search and no result.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word
from selfplay.compute.compilation import part_of_compiled
from selfplay.games.patterns import phase_of
from selfplay.registry import Registry
from selfplay.search.pattern_evaluation import PatternTables

BYTES, BYTE_VALUES = 8, 256
LARGEST_INDEX = np.iinfo(np.uint16).max
IMAGES_AT_ONCE = 8
"""The number of images is rounded up to a multiple of this, for instructions that do the same with several."""
UNITS_PER_SQUARE = 16
"""Of a value, which counts squares: with this unit, all but a few extreme values fit into 16 bits."""


class LearnedValues(NamedTuple):
    """The tables of I images of patterns, for compiled code."""

    contributions: NDArray[np.uint16]
    """uint16[8, 2, 256, I]: what each value of each byte of a player's word adds to the index of each image; the player
    who has just moved first."""
    first: NDArray[np.int32]
    """int32[I]: where the table of each image begins in a phase."""
    weights: NDArray[np.int16]
    """int16[phases, E]"""
    squares: int
    """Number of squares of the board; 0 if there are no learned values."""
    parities: int


NO_LEARNED_VALUES = LearnedValues(
    np.zeros((BYTES, 2, BYTE_VALUES, 1), dtype=np.uint16),
    np.zeros(1, dtype=np.int32),
    np.zeros((1, 1), dtype=np.int16),
    0,
    1,
)
"""What a search is given that orders moves by other means."""

PATTERN_TABLES: Registry[Callable[[], PatternTables | None]] = Registry(
    "evaluation for ordering moves",
    {"othello": "selfplay.players.agent:pretrained_othello_tables"},
    "selfplay.ordering_evaluations",
)
"""Functions that read the tables for a game, by its name."""


@cache
def learned_values_of(game: str) -> LearnedValues:
    """The learned values of the game with this name; NO_LEARNED_VALUES if there are none. Takes half a second.

    Raises InvalidFileError if their file is broken.
    """
    tables = PATTERN_TABLES[game]() if game in PATTERN_TABLES else None
    return NO_LEARNED_VALUES if tables is None else learned_values(tables)


def learned_values(tables: PatternTables) -> LearnedValues:
    """The values of these tables; NO_LEARNED_VALUES if a pattern has more than ten squares."""
    contributions, offsets, weights, squares, parities, _ = tables
    if contributions.max(axis=(1, 2)).sum(axis=0).max() > LARGEST_INDEX:
        return NO_LEARNED_VALUES
    images, phases = len(offsets), len(weights)
    added = np.zeros((BYTES, 2, BYTE_VALUES, images + -images % IMAGES_AT_ONCE), dtype=np.uint16)
    added[: len(contributions), :, :, :images] = contributions
    # One more entry, always 0, for the images that fill up the number.
    rounded = np.zeros((phases, weights.shape[1] + 1), dtype=np.int16)
    limits = np.iinfo(np.int16)
    rounded[:, :-1] = np.clip(np.round(weights * (squares * UNITS_PER_SQUARE)), limits.min, limits.max)
    first = np.full(added.shape[-1], weights.shape[1], dtype=np.int32)
    first[:images] = offsets
    return LearnedValues(added, first, rounded, squares, parities)


@part_of_compiled
def learned_value(own: int, opp: int, learned: LearnedValues) -> Word:
    """The value of a position to the player who has just moved (`opp`), in UNITS_PER_SQUARE."""
    contributions, first, weights, squares, parities = learned
    just_moved, to_move = np.uint64(opp), np.uint64(own)
    phase = np.uint64(phase_of(opp, own, weights.shape[0], squares, parities))
    total = 0
    for image in range(first.shape[0]):
        index = np.uint16(0)
        # Unrolled by the compiler, which then works on several images at once.
        for byte in range(BYTES):
            shift = np.uint64(8 * byte)
            one, other = (just_moved >> shift) & np.uint64(0xFF), (to_move >> shift) & np.uint64(0xFF)
            index = np.uint16(index + contributions[byte, 0, one, image] + contributions[byte, 1, other, image])
        total += weights[phase, np.uint64(first[image]) + np.uint64(index)]
    return total
