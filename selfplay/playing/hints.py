"""Hints for the current match of a session, and perfect values if `perfect_player_of` knows them."""

from typing import NamedTuple

from selfplay.errors import NotNowError
from selfplay.games.game import Game
from selfplay.named_players.make import make_player
from selfplay.named_players.strengths import judge_name
from selfplay.players.perfect import perfect_player_of
from selfplay.players.player import Player
from selfplay.playing.estimates import Estimate, Judge, Values
from selfplay.playing.session import Session
from selfplay.search.deadline import current_deadline

LINE_SECONDS = 1.5
"""Time for the best line."""


class Hint(NamedTuple):
    """The best action that is known, and why."""

    action: int
    estimate: Estimate
    """The values by which it is the best."""
    line: list[int]
    """It and the actions that follow if both players take the best action."""
    is_cut_short: bool
    """Whether the deadline of the context has ended the search for the values."""


def judge_of(game: Game) -> Judge:
    """The judge that comes with the program."""

    def made() -> Player:
        name, label = judge_name(game)
        player = make_player(name, game)
        player.name = label
        return player

    return Judge(game, made)


def hint(session: Session, judge: Judge, ply: int | None = None, time_limit: float | None = None) -> Hint:
    """The best action that `judge` knows, whoever plays the match.

    Args:
        ply: in the position before this ply of the match, numbered from 0; None: in the current position.
        time_limit: seconds to wait for exact values; None for no limit.

    Raises:
        NotNowError: the match is over there, or has no such ply, or no values are known.
    """
    state, draws = session.state_before(ply), session.draws_before(ply)
    estimate = judge.estimate(state, draws, time_limit)
    if estimate is None or estimate.best is None:
        raise NotNowError("the match is over" if estimate is None else "no values are known in this position")
    is_cut_short = current_deadline().is_over
    return Hint(estimate.best, estimate, judge.line(state, draws, estimate, LINE_SECONDS), is_cut_short)


def perfect_values(session: Session, ply: int | None = None, time_limit: float | None = None) -> Values | None:
    """The value of each action to the player to move if both play perfectly afterwards.

    Values are -1, 0 or 1, or those of the game's exact solver; `perfect_player_of(game).value_text` puts them in words.

    Args:
        ply: the values before this ply of the match, numbered from 0; None: in the current position.
        time_limit: seconds to wait for the values; None for no limit.

    Returns:
        None if the game is too large to be solved, or the match is over.

    Raises TimeLimitError if time_limit is too short.
    """
    state = session.state_before(ply)
    player = None if bool(state.terminated) else perfect_player_of(session.game)
    return None if player is None else player.with_time_limit(time_limit).action_values(state)[0].numpy()
