"""Rules that are called uncompiled with single positions, for the checks of a game."""

from collections.abc import Iterable
from math import prod
from numbers import Integral
from typing import Any

import torch

from selfplay.compute.words import WordInt
from selfplay.errors import ConformanceError
from selfplay.games.game import Game
from selfplay.games.rules import Position
from selfplay.games.state import State


def positions_in(game: Game, state: State, rows: Iterable[int]) -> list[Any]:
    """The positions of these matches, with their fields."""
    return game.positions(state.select(torch.tensor(list(rows), dtype=torch.int64)))


def legal_numbers(game: Game, position: Position) -> list[int]:
    """The legal actions of a position in which the match is not over; uncompiled.

    Raises ConformanceError for an action that the game does not have, or a pass beside another action.
    """
    legal = int(game.rules.legal_actions(position))
    if legal == 0 and game.pass_action is not None:
        return [game.pass_action]
    actions = [action for action in range(game.num_distinct_actions) if (legal >> action) & 1]
    if legal >> game.num_distinct_actions:
        last = game.num_distinct_actions - 1
        raise ConformanceError(
            f"legal_actions sets bit {legal.bit_length() - 1}, but actions are from 0 to {last} (num_distinct_actions)"
        )
    if game.pass_action in actions:
        raise ConformanceError(
            f"legal_actions sets bit {game.pass_action}, which is pass_action: a pass is legal if no bit is set; one "
            "that is a choice is an action like the others, without pass_action"
        )
    return actions


def played_singly(game: Game, position: Position, action: int) -> tuple[Position, bool]:
    """The position after an action, and whether the match is over there; uncompiled."""
    following = game.rules.play(position, action)
    kind = game.rules.position
    if type(following) is not kind:
        raise ConformanceError(f"play gives {described(following)} where it must give a {signature_of(kind)}")
    return following, bool(game.rules.is_terminal(following))


def entries_singly(game: Game, position: Position) -> list[int]:
    """The entries that `observation_entry` gives for a position; uncompiled."""
    entry = game.rules.observation_entry
    assert entry is not None, "only called for rules that have it"
    entries = [int(entry(position, index)) for index in range(prod(game.observation_shape))]
    for number, value in enumerate(entries):
        if value not in (0, 1):
            raise ConformanceError(f"observation_entry gives {value} for entry {number}, where it must give 0 or 1")
    return entries


def signature_of(kind: Any) -> str:
    """A class of positions with the names of its fields, such as Position(own, opp)."""
    return f"{kind.__name__}({', '.join(kind._fields)})"


def described(result: Any) -> str:
    """What kind of value a rule has returned, for messages."""
    if isinstance(result, WordInt):
        return "a word"
    if isinstance(result, bool):
        return "a comparison"
    if isinstance(result, float):
        return "a fraction"
    return "a number" if isinstance(result, Integral) else f"{type(result).__name__} {result!r}"
