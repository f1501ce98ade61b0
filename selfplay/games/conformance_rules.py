"""The checks of `check_game` that attributes and rules have values of the right kinds, before a match is played."""

import inspect
from collections.abc import Callable
from math import prod
from numbers import Integral, Real
from types import FunctionType
from typing import Any, NamedTuple

from selfplay.compute.bit_algebra import RULES
from selfplay.compute.positions import PositionClass
from selfplay.compute.words import WordInt
from selfplay.errors import shortened
from selfplay.games.conformance_checks import expect
from selfplay.games.game import Game
from selfplay.games.observation_codec import shown_bits
from selfplay.games.rules import Rules
from selfplay.games.single_positions import described, legal_numbers, played_singly

NO_WORD = "make it of the boards of the position"
NO_NUMBER = "count in whole numbers"


class Kind(NamedTuple):
    """What an attribute or the result of a rule must be."""

    name: str
    fits: Callable[[Any], bool]


def _whole_from(least: int) -> Kind:
    def fits(value: Any) -> bool:
        return isinstance(value, Integral) and int(value) >= least

    return Kind(f"a whole number from {least}", fits)


def _optional(kind: Kind) -> Kind:
    return Kind(f"{kind.name}, or None", lambda value: value is None or kind.fits(value))


POSITIVE = _whole_from(1)
NUMBER = Kind("a number", lambda value: isinstance(value, Real))
FUNCTION = Kind("a function", callable)
SHAPE = Kind("a tuple of whole numbers", lambda value: bool(value) and all(map(POSITIVE.fits, value)))
POSITION = Kind(
    "a position, Position(...) of a class marked with @position", lambda value: isinstance(type(value), PositionClass)
)

ATTRIBUTES = {
    "rules": Kind("Rules(...)", lambda value: isinstance(value, Rules)),
    "num_distinct_actions": POSITIVE,
    "pass_action": _optional(_whole_from(0)),
    "observation_shape": SHAPE,
    "max_game_length": POSITIVE,
    "komi": _optional(NUMBER),
    "most_points": _optional(NUMBER),
}
FIELDS = {
    "initial": POSITION,
    **dict.fromkeys(("legal_actions", "play", "is_terminal", "return_to_move"), FUNCTION),
    **dict.fromkeys(("observation_entry", "moves_again", "margin", "owned", "points"), _optional(FUNCTION)),
    "margin_unit": NUMBER,
}


def check_attributes(game: Game) -> None:
    """The attributes of the class and the fields of its rules are there, and of the right kinds."""
    for owner, kinds, prefix in ((game, ATTRIBUTES, ""), (getattr(game, "rules", None), FIELDS, "rules.")):
        for name, kind in kinds.items():
            expect(hasattr(owner, name), f"the game has no {prefix}{name}; set it to {kind.name}")
            _expect_kind(f"{prefix}{name} is", getattr(owner, name), kind)
    last = game.num_distinct_actions - 1
    expect((game.pass_action or 0) <= last, f"pass_action is {game.pass_action}, but actions are from 0 to {last}")


def _expect_kind(subject: str, value: Any, kind: Kind) -> None:
    try:
        fits = kind.fits(value)
    except TypeError:  # what is not even a tuple
        fits = False
    expect(fits, f"{subject} {shortened(repr(value))}, where it must be {kind.name}")


def check_marks(game: Game) -> None:
    """Compiled code can call the rules, and the functions that they call, only if they are marked."""
    waiting = [function for function in game.rules if callable(function)]
    for function in waiting:
        expect(function in RULES, f"{function.__name__} is not marked with @rule, from selfplay.compute.bit_algebra")
        used = inspect.getclosurevars(function)
        called = (*used.globals.values(), *used.nonlocals.values())
        waiting += [other for other in called if isinstance(other, FunctionType) and other not in waiting]


def check_results(game: Game) -> None:
    """Where the match begins, each rule gives what it must: a position, words, comparisons or numbers."""
    rules, start = game.rules, game.rules.initial
    is_over = rules.is_terminal(start)
    _expect_comparison("is_terminal", is_over)
    expect(not is_over, "is_terminal says that the match is over where it begins")
    _expect_number("return_to_move", rules.return_to_move(start))
    legal = rules.legal_actions(start)
    _expect_result("legal_actions", legal, _is_whole(legal), "a word", NO_WORD)
    actions = legal_numbers(game, start)
    expect(bool(actions), "no action is legal in a match at ply 0")
    following, _ = played_singly(game, start, actions[0])
    if rules.moves_again is not None:
        _expect_comparison("moves_again", rules.moves_again(following))
    if rules.observation_entry is None:
        shown_bits(rules.position, game.observation_shape)  # raises if the shape does not fit
    else:
        for index in range(prod(game.observation_shape)):
            _expect_number("observation_entry", rules.observation_entry(start, index))
    if rules.margin is not None:
        _expect_number("margin", rules.margin(start))
    if rules.points is not None:
        for number in _two("points", rules.points(start)):
            _expect_number("points", number)
    if rules.owned is not None:
        for word in _two("owned", rules.owned(start)):
            _expect_result("owned", word, isinstance(word, WordInt), "two words", NO_WORD)


def _two(rule: str, result: Any) -> Any:
    fits = isinstance(result, tuple) and len(result) == 2
    _expect_result(rule, result, fits, "two values", "that of the player to move and that of the other")
    return result


def _is_whole(result: Any) -> bool:
    return isinstance(result, Integral) and not isinstance(result, bool)


def _expect_comparison(rule: str, result: Any) -> None:
    _expect_result(rule, result, isinstance(result, bool), "a comparison", "compare, as in (p.own | p.opp) == FULL")


def _expect_number(rule: str, result: Any) -> None:
    _expect_result(rule, result, isinstance(result, Integral), "a whole number", NO_NUMBER)


def _expect_result(rule: str, result: Any, fits: bool, needed: str, how: str) -> None:
    expect(fits, f"{rule} gives {described(result)} where it must give {needed}; {how}")
