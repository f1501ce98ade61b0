"""The rules of a game as bit algebra on two words, and what else a game may declare about its positions."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word


class Rules(NamedTuple):
    """The rules of a game: functions marked with `rule`, on a position `(own, opp)` seen by the player to move.

    A move is `1 << action`, or 0 for a pass.
    """

    initial: tuple[int, int]
    """The two words at the start."""
    legal_actions: Callable[[Word, Word], Word]
    """The legal actions as the bits of a word; 0 where the match is over, and where only a pass is legal."""
    play: Callable[[Word, Word, Word], tuple[Word, Word]]
    """(own, opp, legal move) to the next position, seen by the next player."""
    is_terminal: Callable[[Word, Word], Word]
    """Whether the match is over (bool). Compiled code asks only where `legal_actions` gives 0."""
    return_to_move: Callable[[Word, Word], Word]
    """The return in {-1, 0, 1} of the player to move. Asked only where terminal."""
    observation_entry: Callable[[Word, Word, Word], Word]
    """(own, opp, index) to entry `index` (0 or 1) of the flattened observation of the player who has just moved."""
    margin: Callable[[Word, Word], Word] | None = None
    """By how many points the player to move is ahead (Othello: discs); None if a match is only won, drawn or lost."""


class Features(NamedTuple):
    """What positions of a game can be valued by: K whole numbers, each mine minus the opponent's or alike."""

    names: tuple[str, ...]
    """K names, as in conf/evaluation/."""
    values: Callable[[Word, Word], tuple[Word, ...]]
    """(own, opp) to the K features, seen by the player to move. Compiled code calls it; on tensors it need not work."""


class TurningRules(NamedTuple):
    """What a game adds whose moves place a disc on an empty square and turn discs of the other, at least one.

    Functions marked with `rule`. A player who can place none passes; when neither can, the match is over.
    """

    flips: Callable[[Word, Word, Word], Word]
    """(own, opp, empty square) to the other's discs that a disc there turns; 0 if it may not be placed there."""
    neighbours: Callable[[Word], Word]
    """These squares and those that touch one of them, along lines and diagonals; beyond the board it may set bits."""
    board: int
    """All squares."""
    corners: int
    """The squares whose discs can never be turned."""
    quarters: tuple[int, int, int, int]
    """Parts of the board of like size: who fills the last square of a part that the other has no access to gains."""


class Symmetries(NamedTuple):
    """The S symmetries of a game, the identity first. Under symmetry s, action a becomes `actions[s, a]`."""

    actions: NDArray[np.int64]
    """int64[S, A]: where each action goes."""
    observations: NDArray[np.int64]
    """int64[S, D]: entry i of the transformed flattened observation is entry `observations[s, i]` of the original."""
