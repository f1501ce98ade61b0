"""The checks of `check_game` that attributes and rules have values of the right kinds, before a match is played."""

import inspect
from collections.abc import Callable
from math import prod
from numbers import Integral, Real
from types import FunctionType
from typing import Any, NamedTuple

import torch
from torch import Tensor

from selfplay.compute.bit_algebra import RULES
from selfplay.compute.stored_words import stored, word_tensor, words_of
from selfplay.compute.words import WordBatch
from selfplay.errors import shortened
from selfplay.games.conformance_checks import MATCHES, checked_mask, expect
from selfplay.games.game import Game
from selfplay.games.rules import Rules

TWO_WORDS = (
    "a position is two words, own and opp; everything else goes into further bits of them, as many as are needed "
    "(Rules.word_bits)"
)
NO_WORD = "combine it with a word, as in (own & 0) | 1"
NO_NUMBER = "multiply a comparison by 1, and count in whole numbers"
OPTIONAL_RULES = ("margin", "owned")


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
    **dict.fromkeys(OPTIONAL_RULES, _optional(FUNCTION)),
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
    """Where the match begins, each rule gives what it must: words, comparisons or numbers, one for each match."""
    rules, bits = game.rules, game.rules.word_bits
    stored_own, stored_opp = (word_tensor([word] * MATCHES, bits) for word in rules.initial)
    own, opp = words_of(stored_own, bits), words_of(stored_opp, bits)
    is_over = rules.is_terminal(own, opp)
    is_bool = isinstance(is_over, Tensor) and (is_over.dtype, is_over.shape) == (torch.bool, (MATCHES,))
    _expect_result("is_terminal", is_over, is_bool, "a comparison", "compare, as in (own | opp) == FULL")
    expect(not is_over.any(), "is_terminal says that the match is over where it begins")
    _expect_number("return_to_move", rules.return_to_move(own, opp))
    _expect_word("legal_actions", rules.legal_actions(own, opp), stored_own)
    _check_move(game, own, opp, stored_own)
    one, other = (words_of(words[:, None], bits) for words in (stored_own, stored_opp))
    index = torch.arange(prod(game.observation_shape))
    _expect_number("observation_entry", rules.observation_entry(one, other, index))
    if rules.margin is not None:
        _expect_number("margin", rules.margin(own, opp))
    if rules.owned is not None:
        _expect_word("owned", rules.owned(own, opp), stored_own)


def _check_move(game: Game, own: WordBatch, opp: WordBatch, like: Tensor) -> None:
    """The first legal action gives two words like those that are stored in `like`."""
    state, bits = game.init(MATCHES), game.rules.word_bits
    action = int(checked_mask(game, game.legal_action_mask_with_tensors(state), state, 0)[0].nonzero()[0])
    move = word_tensor([0 if action == game.pass_action else 1 << action] * MATCHES, bits)
    words = game.rules.play(own, opp, words_of(move, bits))
    expect(isinstance(words, tuple) and len(words) == 2, TWO_WORDS)
    for word in words:
        _expect_word("play", word, like)


def _expect_word(rule: str, result: Any, like: Tensor) -> None:
    words = stored(result) if isinstance(result, (WordBatch, Tensor)) else None
    is_word = words is not None and (words.dtype, words.shape) == (like.dtype, like.shape)
    _expect_result(rule, result, is_word, "a word", NO_WORD)


def _expect_number(rule: str, result: Any) -> None:
    is_whole = isinstance(result, (WordBatch, Integral)) or (
        isinstance(result, Tensor) and not result.is_floating_point()
    )
    _expect_result(rule, result, is_whole, "a whole number", NO_NUMBER)


def _expect_result(rule: str, result: Any, fits: bool, needed: str, how: str) -> None:
    expect(fits, f"{rule} gives {_described(result)} where it must give {needed}; {how}")


def _described(result: Any) -> str:
    if isinstance(result, WordBatch):
        return "a word"
    if not isinstance(result, Tensor):
        return shortened(repr(result))
    if result.dtype == torch.bool:
        return "a comparison"
    return "a fraction" if result.is_floating_point() else "a number"
