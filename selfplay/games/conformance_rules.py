"""The checks of `check_game` that attributes and rules have values of the right kinds, and that the points of a match
agree with its result."""

import builtins
import dis
import inspect
from collections.abc import Callable, Iterable, Sequence
from numbers import Integral, Number, Real
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import torch

from selfplay.compute.bit_algebra import RULES, word_of
from selfplay.compute.compilation import IS_UNCOMPILED
from selfplay.compute.position_fields import MOST_SQUARES
from selfplay.compute.positions import PositionClass
from selfplay.error_places import is_outside
from selfplay.errors import ConformanceError, shortened
from selfplay.games.conformance_matches import Transition
from selfplay.games.game import Game
from selfplay.games.observation_codec import default_observation_shape, shown_entries
from selfplay.games.rules import Features, Position, Rules, without_actions
from selfplay.games.single_positions import (
    expect,
    expect_comparison,
    expect_kind,
    expect_number,
    expect_word,
    legal_numbers,
    observed_singly,
    played_singly,
)

RESULTS = {1: "won", 0: "drawn", -1: "lost"}
ARGUMENTS = {"play": ("p", "action")}
"""Those of rules that take more than a position."""


CONSTANT = "{name} is of type {kind}; rules use functions marked with @rule, numbers, words and tuples of them"
PRINT = "print works only in uncompiled rules; set NUMBA_DISABLE_JIT=1: docs/game_reference.md, A debugger"


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


TEXT = Kind("a text", lambda value: isinstance(value, str) and bool(value))
PAIR = Kind("(rows, columns)", lambda value: len(value) == 2 and all(map(POSITIVE.fits, value)))


def _is_number_of_actions(value: Any) -> bool:
    return POSITIVE.fits(value) and int(value) <= MOST_SQUARES


ATTRIBUTES = {
    "rules": Kind("Rules(...)", lambda value: isinstance(value, Rules)),
    "num_distinct_actions": Kind(f"a whole number from 1 to {MOST_SQUARES:,}", _is_number_of_actions),
    "pass_action": _optional(_whole_from(0)),
    "chosen_pass": _optional(_whole_from(0)),
    "board": _optional(PAIR),
    "max_game_length": POSITIVE,
    "features": _optional(Kind("Features(...)", lambda value: isinstance(value, Features))),
    "exact_solver": _optional(TEXT),
    "usual_evaluation": TEXT,
    "komi": _optional(NUMBER),
    "most_points": _optional(NUMBER),
}
FIELDS = {
    "initial": POSITION,
    **dict.fromkeys(("legal_actions", "play", "is_terminal", "return_to_move"), FUNCTION),
    **dict.fromkeys(("observed", "moves_again", "margin", "owned", "safe", "points", "sensible"), _optional(FUNCTION)),
    "margin_unit": NUMBER,
}


def check_attributes(game: Game) -> None:
    """The attributes of the class and the fields of its rules are there, and of the right kinds."""
    _check_name(game)
    for owner, kinds, prefix in ((game, ATTRIBUTES, ""), (getattr(game, "rules", None), FIELDS, "rules.")):
        for name, kind in kinds.items():
            _check_attribute(owner, name, kind, prefix)
    if not hasattr(game, "observation_shape"):
        default_observation_shape(game.rules.shown, game.board)  # raises with the reason why there is none
    _check_attribute(game, "observation_shape", SHAPE)
    reason = "rules.is_terminal is left out, but with a pass_action a player may have no other action before the end"
    expect(game.rules.is_terminal is not without_actions, reason)
    last = game.num_distinct_actions - 1
    expect((game.pass_action or 0) <= last, f"pass_action is {game.pass_action}, but actions are from 0 to {last}")


def _check_name(game: Game) -> None:
    """The class has a name. `make_game` calls its game by the name with which it has found the class."""
    written = getattr(game, "name", None) if game.made_as is None else game.own_name
    expect(written is not None, f"the game has no name; set it to {TEXT.name}")
    _expect_kind("name is", written, TEXT)


def _check_attribute(owner: object, name: str, kind: Kind, prefix: str = "") -> None:
    expect(hasattr(owner, name), f"the game has no {prefix}{name}; set it to {kind.name}")
    _expect_kind(f"{prefix}{name} is", getattr(owner, name), kind)


def _expect_kind(subject: str, value: Any, kind: Kind) -> None:
    try:
        fits = kind.fits(value)
    except TypeError:  # what is not even a tuple
        fits = False
    expect(fits, f"{subject} {shortened(repr(value))}, where it must be {kind.name}")


def check_rules(game: Game) -> None:
    """Each rule takes what it must and can be compiled: it and the functions that it calls are marked."""
    for name, function in game.rules._asdict().items():
        if callable(function):
            taken = ARGUMENTS.get(name, ("p",))
            _check_arguments(name, function, taken)
            _check_marks(function)


def _check_arguments(name: str, function: Callable[..., Any], taken: Sequence[str]) -> None:
    signature = inspect.signature(function)
    try:
        signature.bind(*taken)
    except TypeError:
        written = f"{function.__name__}{signature}"
        subject = written if function.__name__ == name else f"rules.{name} is {written}, which"
        reason = f"{subject} must take {len(taken)} arguments: {', '.join(taken)}"
        expect(False, reason.replace("1 arguments: p", "a position"), function)


def _check_marks(rule: Callable[..., Any]) -> None:
    waiting = [rule]
    for function in waiting:
        is_known = function in RULES or not is_outside(function.__module__)
        expect(is_known, f"{function.__name__} is not marked with @rule (from selfplay import rule)", function)
        _check_names(function)
        used = inspect.getclosurevars(function)
        called = (*used.globals.values(), *used.nonlocals.values())
        expect(word_of not in called, "rules cannot call word_of; make the word at the top of the module", function)
        waiting += [other for other in called if isinstance(other, FunctionType) and other not in waiting]


def _check_names(function: Any) -> None:
    """Every name of a function is one that rules may use, also in branches that few matches take."""
    code, own = function.__code__, function.__globals__ | inspect.getclosurevars(function).nonlocals
    for instruction in dis.get_instructions(code):
        name = instruction.argval
        is_local = instruction.opname != "LOAD_GLOBAL" and name not in code.co_freevars
        if is_local or (name in own and _is_usable(own[name])):
            continue
        line = instruction.positions.lineno if instruction.positions else None
        if name in own:
            raise ConformanceError(CONSTANT.format(name=name, kind=type(own[name]).__name__), function, line)
        if name not in vars(builtins):
            raise ConformanceError(f"the name {name} is not defined", function, line)
        if name == "print" and not IS_UNCOMPILED:
            raise ConformanceError(PRINT, function, line)


def _is_usable(value: object) -> bool:
    """Whether a name of a rule can stand for it: lists could change."""
    return IS_UNCOMPILED or callable(value) or isinstance(value, Number | str | tuple | ModuleType)


def check_results(game: Game) -> None:
    """Where the match begins, each rule gives what it must: a position, words, comparisons or numbers."""
    rules, start = game.rules, game.rules.initial
    is_over = rules.is_terminal(start)
    expect_comparison(rules.is_terminal, is_over)
    expect(not is_over, "is_terminal says that the match is over where it begins", rules.is_terminal)
    expect_number(rules.return_to_move, rules.return_to_move(start))
    actions = legal_numbers(game, start)
    expect(bool(actions), "no action is legal in a match at ply 0", rules.legal_actions)
    following, _ = played_singly(game, start, actions[0])
    if rules.moves_again is not None:
        expect_comparison(rules.moves_again, rules.moves_again(following))
    if rules.observed is not None:
        observed_singly(game, start)
    shown_entries(rules.shown, game.observation_shape)  # raises if the shape does not fit
    if rules.margin is not None:
        expect_number(rules.margin, rules.margin(start))
    if rules.sensible is not None:
        expect_word(rules.sensible, rules.sensible(start))
    for function, expect_each in ((rules.points, expect_number), (rules.owned, expect_word), (rules.safe, expect_word)):
        if function is not None:
            both = function(start)
            expect_kind(function, both, isinstance(both, tuple) and len(both) == 2, "one for each player")
            for value in both:
                expect_each(function, value)


def check_compiled_points(game: Game, plies: Sequence[Transition]) -> None:
    """`check_points`, and compiled rules give the same leads and points."""
    final, rules = plies[-1].following, game.rules
    ends = game.positions(final)
    check_points(game, ends)
    if rules.margin is not None:
        leads = torch.tensor([int(rules.margin(end)) for end in ends]) * rules.margin_unit
        expect(torch.equal(leads, game.lead_to_move(final)), "the compiled margin differs from the uncompiled one")
    if rules.points is not None:
        points = torch.tensor([list(map(int, rules.points(end))) for end in ends])
        assert game.kernels.points is not None
        expect(torch.equal(points, game.kernels.points(final.position)), "the compiled points differ from uncompiled")


def check_points(game: Game, ends: Iterable[Position]) -> None:
    """Where matches are over, the player who has won is ahead in points, by at most as many as there are."""
    rules, most = game.rules, game.largest_lead
    for end in ends:
        if rules.margin is None:
            continue
        result = int(rules.return_to_move(end))
        lead = int(rules.margin(end)) * rules.margin_unit
        said = f"the player to move has {RESULTS[result]} a match with a lead of {lead:g} points"
        agree = (lead > 0) - (lead < 0) == result
        expect(agree, f"{said}; the sign of margin must be that of return_to_move", rules.margin)
        there_are = f"but the board and the komi give {most} at most; set most_points in the class of the game"
        expect(most is None or abs(lead) <= most, f"a match is won by {abs(lead):g} points, {there_are}")
