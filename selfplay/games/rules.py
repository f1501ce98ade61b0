"""The rules of a game as bit algebra on two words, and optional declarations about its positions."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word, rule
from selfplay.compute.compiled_words import part
from selfplay.compute.words import PART_BITS, WordInt, parts_of_bits


class Rules(NamedTuple):
    """The rules of a game: functions marked with `rule`, on a position `(own, opp)` seen by the player to move.

    A move is `1 << action`, or 0 for a pass.
    """

    initial: tuple[int, int]
    """The two words at the start."""
    legal_actions: Callable[[Word, Word], Word]
    """The legal actions as the bits of a word; 0 if the match is over or only a pass is legal."""
    play: Callable[[Word, Word, Word], tuple[Word, Word]]
    """(own, opp, legal move) to the next position, seen by the next player."""
    is_terminal: Callable[[Word, Word], Word]
    """Whether the match is over (bool). Compiled code asks only where `legal_actions` gives 0."""
    return_to_move: Callable[[Word, Word], Word]
    """The return in {-1, 0, 1} of the player to move. Asked only where terminal."""
    observation_entry: Callable[[Word, Word, Word], Word]
    """(own, opp, index) to entry `index` (0 or 1) of the flattened observation of the player who has just moved."""
    margin: Callable[[Word, Word], Word] | None = None
    """The lead of the player to move, a whole number of `margin_unit` points; None if a match is only won, drawn or
    lost."""
    owned: Callable[[Word, Word], Word] | None = None
    """The squares that count for the player to move at the end: its stones, and those that only it surrounds. None if
    squares do not count."""
    margin_unit: float = 1.0
    """The points of a margin of 1, such as 0.5 if there can be half points."""
    word_bits: int = PART_BITS
    """The bits of a word: at least those that positions use, and at least the actions besides a pass."""
    points: Callable[[Word, Word], Word] | None = None
    """The points of the player to move so far, a whole number of `margin_unit`, without komi, to be shown to people.
    None: only the lead is shown."""


def initial_words(rules: Rules) -> tuple[WordInt, WordInt]:
    """The two words at the start as numbers, for rules that are called uncompiled."""
    own, opp = (WordInt(word, parts_of_bits(rules.word_bits)) for word in rules.initial)
    return own, opp


def ended(rules: Rules, own: WordInt, opp: WordInt) -> tuple[bool, float]:
    """Whether a match is over in this position and, if so, the return of the player to move; uncompiled."""
    is_over = bool(rules.is_terminal(own, opp))
    return is_over, float(part(rules.return_to_move(own, opp), 0)) if is_over else 0.0


@cache
def entry_of_stones(squares: int) -> Callable[[Word, Word, Word], Word]:
    """The `observation_entry` of words whose first `squares` bits are stones on squares numbered as they are drawn."""

    @rule
    def observation_entry(own: Word, opp: Word, index: Word) -> Word:
        """Channel 0: the stones of the player who has just moved; channel 1: those of the player to move."""
        to_move = (index >= squares) * 1
        square = index - to_move * squares
        return (((opp >> square) & (1 - to_move)) | ((own >> square) & to_move)) & 1

    return observation_entry


class Features(NamedTuple):
    """K integers from which positions can be valued, such as the player's discs minus the opponent's."""

    names: tuple[str, ...]
    """K names, as in files of evaluations."""
    values: Callable[[Word, Word], tuple[Word, ...]]
    """(own, opp) to the K features, seen by the player to move. Called by compiled code only."""
    basic: "Features | None" = None
    """The first features alone, for evaluations that do not weight the others: they are faster to compute."""


class TurningRules(NamedTuple):
    """Further rules of a game whose moves place a disc on an empty square and turn at least one opposing disc.

    Functions marked with `rule`. A player who can place none passes; when neither can, the match is over.
    """

    flips: Callable[[Word, Word, Word], Word]
    """(own, opp, empty square) to the opponent's discs that a disc there turns; 0 if it may not be placed there."""
    neighbours: Callable[[Word], Word]
    """The given squares and their neighbours in all eight directions; may set bits outside the board."""
    board: int
    corners: int
    """The squares whose discs can never be turned."""
    quarters: tuple[int, int, int, int]
    """Four parts of the board of equal size. It is an advantage to place the last disc in a part."""


class Symmetries(NamedTuple):
    """The S symmetries of a game, the identity first. Under symmetry s, action a becomes `actions[s, a]`."""

    actions: NDArray[np.int64]
    """int64[S, A]: where each action goes."""
    observations: NDArray[np.int64]
    """int64[S, D]: entry i of the transformed flattened observation is entry `observations[s, i]` of the original."""
