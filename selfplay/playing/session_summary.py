"""A session as plain words, numbers and lists, ready to become JSON: all that a page needs to show the match."""

from typing import TypedDict

import numpy as np

from selfplay.playing.hints import perfect_values
from selfplay.playing.match_history import Ply
from selfplay.playing.session import Session, Values


class ActionSummary(TypedDict):
    action: int
    text: str


class PlySummary(TypedDict):
    seat: int
    action: int
    text: str
    by_person: bool
    is_forced: bool
    is_random: bool | None


class Summary(TypedDict):
    """Seats are 0, who moves first, and 1."""

    game: str
    action_help: str
    """How a person writes an action."""
    board: str
    squares: list[int] | None
    """1 where a stone of seat 0 stands, -1 one of seat 1, 0 where the square is empty; None without a board."""
    seat_names: list[str]
    """What the game calls the seats."""
    players: list[str]
    """Who sits there: "human", or a player's name."""
    is_person: list[bool]
    match: int
    to_move: int | None
    """None when the match is over."""
    awaits_person: bool
    legal_actions: list[ActionSummary]
    plies: list[PlySummary]
    can_undo: bool
    is_over: bool
    is_practice: bool
    winner: int | None
    result: str | None
    standing: str | None
    values: list[float | None] | None
    """By action, None where illegal; None as a whole if nobody values actions, or they were not asked for."""
    perfect: list[float | None] | None


def summary(session: Session, *, values: bool = False, perfect: bool = False) -> Summary:
    """The session now.

    Args:
        values: with `session.action_values`, which may take a player that searches a while.
        perfect: with perfect values, where the game can be solved.
    """
    game, state = session.game, session.state
    return {
        "game": game.name,
        "action_help": game.action_help,
        "board": game.to_string(state),
        "squares": None if game.num_squares is None else game.squares(state)[0].tolist(),
        "seat_names": list(game.player_names),
        "players": list(session.names),
        "is_person": [player is None for player in session.seats],
        "match": session.match,
        "to_move": None if session.is_over else session.to_move,
        "awaits_person": session.awaits_person,
        "legal_actions": [{"action": a, "text": game.action_to_string(a)} for a in session.legal_actions],
        "plies": [_ply(ply) for ply in session.plies],
        "can_undo": session.can_undo,
        "is_over": session.is_over,
        "is_practice": session.is_practice,
        "winner": session.winner,
        "result": session.result_text,
        "standing": session.standing(),
        "values": listed(session.action_values()) if values else None,
        "perfect": listed(perfect_values(session)) if perfect else None,
    }


def _ply(ply: Ply) -> PlySummary:
    return {
        "seat": ply.seat,
        "action": ply.action,
        "text": ply.text,
        "by_person": ply.by_person,
        "is_forced": ply.is_forced,
        "is_random": ply.is_random,
    }


def listed(values: Values | None) -> list[float | None] | None:
    """Values as JSON knows them, which has no nan."""
    return None if values is None else [float(value) if np.isfinite(value) else None for value in values]
