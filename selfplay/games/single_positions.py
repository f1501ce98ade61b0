"""Rules that are called uncompiled with single positions, for the checks of a game."""

from collections.abc import Callable, Iterable
from numbers import Integral
from types import SimpleNamespace
from typing import Any

import torch

from selfplay.compute.lost_bits import TracedWord, traced
from selfplay.compute.words import PART_BITS, WordInt
from selfplay.errors import ConformanceError, shortened
from selfplay.games.game import Game
from selfplay.games.rules import Position
from selfplay.games.state import State


def positions_in(game: Game, state: State, rows: Iterable[int]) -> list[Any]:
    """The positions of these matches, with their fields."""
    return game.positions(state.select(torch.tensor(list(rows), dtype=torch.int64)))


def expect(valid: bool, reason: str, about: Callable[..., Any] | None = None) -> None:
    """Raise ConformanceError unless something is valid. `about`: the rule that it is about."""
    if not valid:
        raise ConformanceError(reason, about)


def expect_kind(rule: Callable[..., Any], result: Any, fits: bool, needed: str) -> None:
    """Raise ConformanceError unless what a rule has returned fits. `needed`: what it must be."""
    expect(fits, f"{rule.__name__} gives {_described(result)} where it must give {needed}", rule)


def expect_comparison(rule: Callable[..., Any], result: Any) -> None:
    expect_kind(rule, result, isinstance(result, bool), "a comparison, such as (p.own | p.opp) == FULL")


def expect_word(rule: Callable[..., Any], result: Any) -> None:
    expect_kind(rule, result, isinstance(result, int) and not isinstance(result, bool), "a word")


def expect_number(rule: Callable[..., Any], result: Any) -> None:
    expect_kind(rule, result, isinstance(result, Integral), "a whole number")


def legal_numbers(game: Game, position: Position) -> list[int]:
    """The legal actions of a position in which the match is not over; uncompiled.

    Raises ConformanceError for an action that the game does not have, or a pass beside another action.
    """
    rule, count, passing = game.rules.legal_actions, game.num_distinct_actions, game.pass_action
    legal = rule(traced(position))
    expect_word(rule, legal)
    _check_lost_bits(legal)
    if legal == 0 and passing is not None:
        return [passing]
    fits = isinstance(legal, WordInt) or int(legal).bit_length() <= PART_BITS
    expect(fits, "legal_actions gives a number, of which compiled code keeps 64 bits; shift a constant or a word", rule)
    highest = int(legal).bit_length() - 1
    expect(highest < count, f"legal_actions sets bit {highest}, but actions are from 0 to {count - 1}", rule)
    actions = [action for action in range(count) if (int(legal) >> action) & 1]
    expect(
        passing not in actions,
        f"legal_actions sets bit {passing}, which is pass_action: a pass is legal if no bit is set; one that is a "
        "choice is an action like the others, without pass_action",
        rule,
    )
    return actions


def _check_lost_bits(legal: Any) -> None:
    """Raise ConformanceError, with the line of the shift, if bits of the legal actions are lost."""
    if isinstance(legal, TracedWord) and legal.place is not None:
        code, line = legal.place
        bit = legal.lost.bit_length() - 1
        reason = f"a shift loses bit {bit} of legal_actions, whose words have {PART_BITS * legal.num_parts} bits here"
        about: Any = SimpleNamespace(__code__=code)
        raise ConformanceError(f"{reason}; take away by & what is not an action", about, line)


def check_none_legal(game: Game, position: Position) -> None:
    """Raise ConformanceError unless `legal_actions` gives 0 where the match is over."""
    rule = game.rules.legal_actions
    legal = rule(position)
    expect_word(rule, legal)
    expect(legal == 0, "legal_actions are not 0 after the end", rule)


def played_singly(game: Game, position: Position, action: int) -> tuple[Position, bool]:
    """The position after an action, and whether the match is over there; uncompiled.

    Raises ConformanceError if a rule gives something else.
    """
    rules = game.rules
    following = rules.play(traced(position), action)
    kind = rules.position
    expect_kind(rules.play, following, type(following) is kind, f"a {kind.__name__}({', '.join(kind._fields)})")
    over = rules.is_terminal(following)
    expect_comparison(rules.is_terminal, over)
    if over:
        result = rules.return_to_move(following)
        expect_number(rules.return_to_move, result)
        expect_kind(rules.return_to_move, result, result in (-1, 0, 1), "-1, 0 or 1")
    return following, over


def observed_singly(game: Game, position: Position) -> Position:
    """What `observed` gives for a position; uncompiled."""
    rule = game.rules.observed
    assert rule is not None, "only called for rules that have it"
    shown = rule(traced(position))
    kind = game.rules.shown
    expect_kind(rule, shown, type(shown) is kind, f"a {kind.__name__}, as from the initial position")
    return shown


def _described(result: Any) -> str:
    """What kind of value a rule has returned."""
    if isinstance(result, WordInt):
        return "a word"
    if isinstance(result, bool):
        return "a comparison"
    if isinstance(result, float):
        return f"the fraction {result}"
    return f"the number {result}" if isinstance(result, Integral) else shortened(repr(result))
