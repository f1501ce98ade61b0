"""The checks of `check_game` that attributes and rules have values of the right kinds, before a match is played."""

import inspect
from collections.abc import Callable
from math import prod
from numbers import Integral, Real
from types import FunctionType
from typing import Any, NamedTuple

from selfplay.compute.bit_algebra import RULES
from selfplay.compute.words import WordInt
from selfplay.errors import shortened
from selfplay.games.conformance_checks import expect
from selfplay.games.game import Game
from selfplay.games.rules import Rules, initial_words
from selfplay.games.single_positions import lowest_move

TWO_WORDS = (
    "a position is two words, own and opp; everything else goes into further bits of them, as many as are needed "
    "(Rules.word_bits)"
)
NO_WORD = "combine it with a word, as in (own & 0) | 1"
NO_NUMBER = "multiply a comparison by 1, and count in whole numbers"
OPTIONAL_NUMBERS = ("margin", "points")


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
WORDS = Kind("two whole numbers", lambda value: all(map(_whole_from(0).fits, value)))

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
    "initial": WORDS,
    **dict.fromkeys(("legal_actions", "play", "is_terminal", "return_to_move", "observation_entry"), FUNCTION),
    **dict.fromkeys((*OPTIONAL_NUMBERS, "owned"), _optional(FUNCTION)),
    "margin_unit": NUMBER,
    "word_bits": POSITIVE,
}


def check_attributes(game: Game) -> None:
    """The attributes of the class and the fields of its rules are there, and of the right kinds."""
    for owner, kinds, prefix in ((game, ATTRIBUTES, ""), (getattr(game, "rules", None), FIELDS, "rules.")):
        for name, kind in kinds.items():
            expect(hasattr(owner, name), f"the game has no {prefix}{name}; set it to {kind.name}")
            _expect_kind(f"{prefix}{name} is", getattr(owner, name), kind)
    expect(len(game.rules.initial) == 2, TWO_WORDS)
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
    """Where the match begins, each rule gives what it must: words, comparisons or numbers."""
    rules = game.rules
    own, opp = initial_words(rules)
    is_over = rules.is_terminal(own, opp)
    is_bool = isinstance(is_over, bool)
    _expect_result("is_terminal", is_over, is_bool, "a comparison", "compare, as in (own | opp) == FULL")
    expect(not is_over, "is_terminal says that the match is over where it begins")
    _expect_number("return_to_move", rules.return_to_move(own, opp))
    legal = rules.legal_actions(own, opp)
    # A number is as good as a word of 64 bits.
    is_number = own.num_parts == 1 and isinstance(legal, Integral) and not isinstance(legal, bool)
    _expect_word("legal_actions", own if is_number else legal, own)
    _check_move(game, own, opp)
    for index in range(prod(game.observation_shape)):
        _expect_number("observation_entry", rules.observation_entry(own, opp, index))
    for name in OPTIONAL_NUMBERS:
        if (function := getattr(rules, name)) is not None:
            _expect_number(name, function(own, opp))
    if rules.owned is not None:
        _expect_word("owned", rules.owned(own, opp), own)


def _check_move(game: Game, own: WordInt, opp: WordInt) -> None:
    """The first legal action gives two words."""
    words = game.rules.play(own, opp, lowest_move(game, own, opp))
    expect(isinstance(words, tuple) and len(words) == 2, TWO_WORDS)
    for word in words:
        _expect_word("play", word, own)


def _expect_word(rule: str, result: Any, like: WordInt) -> None:
    is_word = isinstance(result, WordInt) and result.num_parts == like.num_parts
    _expect_result(rule, result, is_word, "a word", NO_WORD)


def _expect_number(rule: str, result: Any) -> None:
    _expect_result(rule, result, isinstance(result, Integral), "a whole number", NO_NUMBER)


def _expect_result(rule: str, result: Any, fits: bool, needed: str, how: str) -> None:
    expect(fits, f"{rule} gives {_described(result)} where it must give {needed}; {how}")


def _described(result: Any) -> str:
    if isinstance(result, WordInt):
        return "a word"
    if isinstance(result, bool):
        return "a comparison"
    if isinstance(result, Real):
        return "a number" if isinstance(result, Integral) else "a fraction"
    return shortened(repr(result))
