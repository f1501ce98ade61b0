"""The rules of a game as functions of positions, and optional declarations about its positions."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word, rule
from selfplay.compute.compilation import part_of_compiled
from selfplay.compute.compiled_words import num_parts, part
from selfplay.compute.positions import PositionClass
from selfplay.compute.wide_rules import widened
from selfplay.compute.words import parts_of_bits
from selfplay.errors import ConformanceError

Position = Any
"""A position of a game: an instance of the class that it declares with `selfplay.compute.positions.position`."""


@rule
def without_actions(p: Position) -> bool:
    """That no action is legal. A game puts its own `legal_actions` in the place of this, see `with_own_end`."""
    raise NotImplementedError("rules without is_terminal are completed by a game")


@rule
def lost(p: Position) -> int:
    """The player to move has lost, as who cannot move does in many games."""
    return -1


class Rules(NamedTuple):
    """The rules of a game: functions marked with `rule`, of positions seen by the player to move."""

    initial: Position
    """The position at the start. Its class declares the fields of positions."""
    legal_actions: Callable[[Position], Word]
    """The legal actions as the bits of a word; 0 if the match is over or only a pass is legal."""
    play: Callable[[Position, int], Position]
    """(position, legal action) to the next position, seen by the player to move there."""
    is_terminal: Callable[[Position], bool] = without_actions
    """Whether the match is over (bool). Compiled code asks only where `legal_actions` gives 0. By default it is over
    wherever no action is legal; a game with a `pass_action` must say it."""
    return_to_move: Callable[[Position], int] = lost
    """The return in {-1, 0, 1} of the player to move; by default it has lost. Asked only where terminal."""
    observed: Callable[[Position], Any] | None = None
    """What the observation of the player who is not to move shows of a position: the fields of a position of another
    class (see `shown`), such as the same without some of them, or with boards that follow from them. None: all its
    fields."""
    moves_again: Callable[[Position], bool] | None = None
    """Whether the player to move has also made the last move (bool). None: the players take turns."""
    margin: Callable[[Position], Any] | None = None
    """The lead of the player to move, a whole number of `margin_unit` points; None if a match is only won, drawn or
    lost."""
    owned: Callable[[Position], tuple[Word, Word]] | None = None
    """The squares that count for the player to move at the end, its stones and those that only it surrounds, and those
    that count for the other. None if squares do not count."""
    safe: Callable[[Position], tuple[Word, Word]] | None = None
    """In a game in which squares count: the stones of the player to move, and of the other, that cannot be captured
    even if their player always passes. None: this is not known."""
    points: Callable[[Position], tuple[Any, Any]] | None = None
    """The points so far of the player to move and of the other, whole numbers of `margin_unit`, without komi, to be
    shown to people. None: only the lead is shown."""
    sensible: Callable[[Position], Word] | None = None
    """Those of the legal actions that people would consider, such as crossings near stones; 0 if there are none. The
    strengths that people choose by take only these. None: all actions."""
    margin_unit: float = 1.0
    """The points of a margin of 1, such as 0.5 if there can be half points."""

    def __eq__(self, other: object) -> bool:
        """Tuples are also equal if their positions are of different classes, and then mean different things."""
        return isinstance(other, Rules) and self.position is other.position and tuple(self) == tuple(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(tuple(self))

    @property
    def position(self) -> Any:
        """The class of positions, a `selfplay.compute.positions.PositionClass`."""
        return type(self.initial)

    @property
    def shown(self) -> Any:
        """The class whose fields observations show, as `selfplay.games.observation_codec.shown_entries` says: that of
        positions, or of what `observed` gives.

        Raises ConformanceError if it does not give a position.
        """
        return self.position if self.observed is None else _class_of_result(self.observed, self.initial)

    def widening(self, used: Any) -> Any:
        """A rule besides these, or a tuple of such, with words as wide as in these rules."""
        parts = max((place.word_parts for place in self.position.places if place.is_board), default=1)
        return used if parts == 1 else widened(used, parts)


@cache
def _class_of_result(observed: Callable[[Position], Any], initial: Position) -> Any:
    """Raises ConformanceError if the rule does not give a position."""
    kind: Any = type(observed(initial))
    if not isinstance(kind, PositionClass):
        reason = f"observed gives {kind.__name__} where it must give a position of a class marked with @position"
        raise ConformanceError(reason, observed)
    return kind


_default_ends: set[Callable[[Position], bool]] = {without_actions}
"""The default of `is_terminal`, and the rules that took its place."""


def with_own_end(rules: Rules) -> Rules:
    """The same rules with an `is_terminal` by their own `legal_actions`, if it was left out, or comes from other rules
    that left it out."""
    if rules.is_terminal not in _default_ends:
        return rules
    return rules._replace(is_terminal=_end_of(rules.legal_actions))


@cache
def _end_of(legal_actions: Callable[[Position], Word]) -> Callable[[Position], bool]:
    @rule
    def is_terminal(p: Position) -> bool:
        return legal_actions(p) == 0

    _default_ends.add(is_terminal)
    return is_terminal


def with_wide_words(rules: Rules, num_distinct_actions: int, pass_action: int | None) -> Rules:
    """The same rules with words of as many parts as the largest board, or the actions if the word that `legal_actions`
    gives has fewer; the rules themselves if one part is enough."""
    needed = parts_of_bits(num_distinct_actions - (pass_action == num_distinct_actions - 1))
    boards = max((place.num_parts for place in rules.position.places if place.is_board), default=1)
    parts = boards if needed == 1 or _mask_parts(rules) >= needed else max(boards, needed)
    if parts == 1:
        return rules
    wide = _widened(first_with_same_functions(rules), parts)
    return wide._replace(initial=widened(rules.initial, parts))


@cache
def _widened(rules: Rules, parts: int) -> Rules:
    wide: Rules = widened(rules, parts)
    if rules.is_terminal in _default_ends:
        _default_ends.add(wide.is_terminal)
    return wide


_first = dict[tuple[Any, ...], Rules]()


def first_with_same_functions(rules: Rules) -> Rules:
    """Of the rules in this process that differ only in where matches begin, such as those of Go with another komi, the
    first: what is compiled of them is the same."""
    return _first.setdefault((rules.position, *rules[1:]), rules)


def _mask_parts(rules: Rules) -> int:
    """The number of parts of the word of actions that the rules make by themselves."""
    try:
        return num_parts(rules.legal_actions(rules.initial))
    except OverflowError:
        return 1


def ended(rules: Rules, position: Position) -> tuple[bool, float]:
    """Whether a match is over in this position and, if so, the return of the player to move; uncompiled."""
    is_over = bool(rules.is_terminal(position))
    return is_over, float(part(rules.return_to_move(position), 0)) if is_over else 0.0


@cache
def over_of(rules: Rules) -> Callable[[Position], bool]:
    """Whether a match is over in a position, for compiled code."""
    legal_actions, is_terminal = rules.legal_actions, rules.is_terminal

    @part_of_compiled
    def is_over(position: Position) -> bool:
        return bool(legal_actions(position) == 0 and is_terminal(position))

    return is_over


class Features(NamedTuple):
    """K integers from which positions can be valued, such as the player's discs minus the opponent's."""

    names: tuple[str, ...]
    """K names, as in files of evaluations."""
    values: Callable[[Position], tuple[Word, ...]]
    """(position) to the K features, seen by the player to move. Called by compiled code only."""
    basic: "Features | None" = None
    """The first features alone, for evaluations that do not weight the others: they are faster to compute."""


class TurningRules(NamedTuple):
    """Further rules of a game whose moves place a disc on an empty square and turn at least one opposing disc.

    Functions marked with `rule`. A player who can place none passes; when neither can, the match is over. The fields of
    positions are `own` and `opp`, boards of at most 64 squares.
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
