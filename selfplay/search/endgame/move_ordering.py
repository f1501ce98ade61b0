"""Move ordering of the endgame search: if it tries a good move sooner, it visits fewer positions.

A move is promising if it leaves the opponent few moves and no corner, and if few of the player's discs are next to
empty squares. ("Fastest first": with few moves the subtree is small, and few moves are bad for the opponent.) Far from
the end, the position after the move is also valued by a learned evaluation, or, if there is none, by the position after
the best reply.

The learned values come from the tables of patterns of a learned evaluation, rounded and laid out for speed. They decide
only which move is tried first, so they change the time of a search and no result.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Bits, bit_count
from selfplay.compute.compilation import part_of_compiled
from selfplay.games.patterns import CONTENTS, contributions_of, phase_of
from selfplay.games.rules import Rules, TurningRules
from selfplay.registry import Registry
from selfplay.search.endgame.last_squares import compiled_flips, odd_quarters
from selfplay.search.endgame.number_rules import number_rules
from selfplay.search.pattern_evaluation import PatternTables

LEARNED_FROM = 11
"""With at least this number of empty squares, moves are also ordered by learned values, if there are any."""
LOOK_AHEAD_FROM = 12
"""Without learned values, with at least this number of empty squares, moves are also ordered by the best reply."""

# Weights, chosen for the fewest positions visited, or the least time, in 50 positions with 16 to 21 empty squares.
MOVE, CORNER_TO_TAKE, EXPOSED_DISC, ODD_QUARTER = 16, 40, 4, 4
"""Weights of `at_a_glance`: for each move of the opponent, in addition for each move into a corner, and for each disc
next to an empty square. The last one is subtracted for a move in a quarter with an odd number of empty squares."""
FORESEEN_MOVE, FORESEEN_CORNER_TO_TAKE, FORESEEN_EXPOSED_DISC, CORNER = 16, 40, 5, 48
"""Weights of `after_a_reply`: the first three as above, and one for corners taken."""
JUDGED_CORNER_TO_TAKE, UNITS_PER_POINT = 24, 4
"""Weights of `by_learned_value`, in addition to those for moves and exposed discs above: for moves into a corner, and
the units of the learned value that equal one point of rating."""

LOST_FOR_CERTAIN = 1 << 20
FIRST_OF_ALL = -(1 << 40)


class Child(Protocol):
    """A position that an untried move leads to, a record of the array of children."""

    own: int
    opp: int
    move: int
    rating: int
    """The rating of the move; the lowest is tried first."""


CHILD = np.dtype([(name, np.int64) for name in Child.__annotations__])
Children = NDArray[np.void]
"""Records of dtype CHILD."""

RateChildren = Callable[..., Any]
"""(own, opp, empty squares, move to be tried first or 0, children, learned values): write the rating of each child of a
position."""


def move_ordering(rules: Rules, turning: TurningRules) -> RateChildren:
    """The ordering for a game with these rules."""
    legal_actions, lead, neighbours, board, corners, quarters = number_rules(rules, turning)
    flips, squares_of_odd_quarters = compiled_flips(turning), odd_quarters(quarters)

    @part_of_compiled
    def at_a_glance(own: int, opp: int, is_odd: bool) -> Bits:
        moves = legal_actions(own, opp)
        exposed = neighbours(opp) & board & ~(own | opp)
        rating = MOVE * bit_count(moves) + CORNER_TO_TAKE * bit_count(moves & corners)
        return rating + EXPOSED_DISC * bit_count(exposed) - ODD_QUARTER * is_odd

    @part_of_compiled
    def prospects(own: int, opp: int) -> Bits:
        """How good the position is for the player to move."""
        empty = board & ~(own | opp)
        mine, others = legal_actions(own, opp), legal_actions(opp, own)
        moves = bit_count(mine) - bit_count(others)
        to_take = bit_count(mine & corners) - bit_count(others & corners)
        exposed = bit_count(neighbours(opp) & empty) - bit_count(neighbours(own) & empty)
        taken = bit_count(own & corners) - bit_count(opp & corners)
        return (
            FORESEEN_MOVE * moves + FORESEEN_CORNER_TO_TAKE * to_take + FORESEEN_EXPOSED_DISC * exposed + CORNER * taken
        )

    @part_of_compiled
    def after_a_reply(own: int, opp: int) -> Bits:
        moves = legal_actions(own, opp)
        if moves == 0:
            if legal_actions(opp, own) == 0:
                return LOST_FOR_CERTAIN * lead(own, opp)
            return -prospects(opp, own)
        best = -LOST_FOR_CERTAIN
        while moves != 0:
            move = moves & -moves
            moves ^= move
            turned = flips(own, opp, move)
            best = max(best, -prospects(opp ^ turned, own | move | turned))
        return best

    @part_of_compiled
    def by_learned_value(own: int, opp: int, learned: LearnedValues) -> Bits:
        moves = legal_actions(own, opp)
        exposed = neighbours(opp) & board & ~(own | opp)
        rating = MOVE * bit_count(moves) + JUDGED_CORNER_TO_TAKE * bit_count(moves & corners)
        return rating + EXPOSED_DISC * bit_count(exposed) - learned_value(own, opp, learned) // UNITS_PER_POINT

    @part_of_compiled
    def rate_children(own: int, opp: int, empties: int, hint: int, children: Children, learned: LearnedValues) -> None:
        odd = squares_of_odd_quarters(board & ~(own | opp))
        knows_values = learned.squares > 0
        for number in range(len(children)):
            child = children[number]
            if child.move == hint:
                child.rating = FIRST_OF_ALL
            elif knows_values and empties >= LEARNED_FROM:
                child.rating = by_learned_value(child.own, child.opp, learned)
            elif not knows_values and empties >= LOOK_AHEAD_FROM:
                child.rating = after_a_reply(child.own, child.opp)
            else:
                child.rating = at_a_glance(child.own, child.opp, (child.move & odd) != 0)

    return rate_children


# ---------------------------------------------------------------------- learned values

BYTES, BYTE_VALUES = 8, 256
LARGEST_INDEX = np.iinfo(np.uint16).max
IMAGES_AT_ONCE = 8
"""The number of images is rounded up to a multiple of this, for instructions that do the same with several."""
UNITS_PER_SQUARE = 16
"""The unit of values, which count squares. With it, all values except a few extreme ones fit into 16 bits."""


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
"""Given to a search that orders moves without learned values."""

PATTERN_TABLES: Registry[Callable[[], PatternTables | None]] = Registry(
    "evaluation for ordering moves",
    {"othello": "selfplay.agents.pretrained:pretrained_othello_tables"},
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
    images, squares, weights = tables.images, tables.squares, tables.weights
    of_stones = tables.changes.reshape(CONTENTS, CONTENTS, squares, -1)[0, 1:, :, :images]
    contributions = contributions_of(of_stones.transpose(2, 0, 1).astype(np.int64))
    if contributions.max(axis=(1, 2)).sum(axis=0).max() > LARGEST_INDEX:
        return NO_LEARNED_VALUES
    added = np.zeros((BYTES, 2, BYTE_VALUES, images + -images % IMAGES_AT_ONCE), dtype=np.uint16)
    added[: len(contributions), :, :, :images] = contributions
    # One more entry, always 0, for the images that fill up the number.
    rounded = np.zeros((len(weights), weights.shape[1] + 1), dtype=np.int16)
    limits = np.iinfo(np.int16)
    rounded[:, :-1] = np.clip(np.round(weights * (squares * UNITS_PER_SQUARE)), limits.min, limits.max)
    first = np.full(added.shape[-1], weights.shape[1], dtype=np.int32)
    # Those of the empty board: searches change copies of them.
    first[:images] = tables.scratch.entries[:images]
    return LearnedValues(added, first, rounded, squares, tables.parities)


@part_of_compiled
def learned_value(own: int, opp: int, learned: LearnedValues) -> Bits:
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
