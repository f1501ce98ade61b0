"""Hints for the current match of a session, and perfect values if `perfect_player_of` knows them."""

from pathlib import Path
from typing import NamedTuple

from selfplay.errors import NotNowError
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.named_players.make import make_player
from selfplay.named_players.strengths import judge_name
from selfplay.players.estimates import Estimate, Values
from selfplay.players.perfect import background_solver, perfect_player_of
from selfplay.playing.judge import Judge
from selfplay.playing.session import Session
from selfplay.search.prover import Prover

LINE_SECONDS = 1.5
"""Time for the best line."""


class Hint(NamedTuple):
    """The best action that is known, and why."""

    action: int
    estimate: Estimate
    """The values by which it is the best."""
    line: list[int]
    """It and the actions that follow if both players take the best action."""


def judge_of(game: Game, run_dir: Path | None = None, *, in_background: bool = False) -> Judge:
    """The judge that comes with the program, or, in games without an agent, the best level of the run in `run_dir`.

    in_background: whether it also proves results in the background in small games, for people who think meanwhile.
    """
    name, label = judge_name(game, run_dir)
    player = make_player(name, game, run_dir)
    player.name = label
    # An exact solver proves more, and with points.
    has_solver = game.exact_solver is not None
    return Judge(game, player, None if has_solver else Prover(game), background_solver(game) if in_background else None)


def hint(session: Session, judge: Judge, ply: int | None = None, estimate: Estimate | None = None) -> Hint:
    """The best action that `judge` knows, whoever plays the match.

    Args:
        ply: in the position before this ply of the match, numbered from 0; None: in the current position.
        estimate: what the judge expects there, if it is known already.

    Raises:
        NotNowError: the match is over there, or has no such ply, or no values are known.
    """
    state = _state_before(session, ply)
    judge.solving(state)
    known = estimate or judge.estimate(state, values_all=True)
    if known is None or known.best is None:
        raise NotNowError("the match is over" if known is None else "no values are known in this position")
    return Hint(known.best, known, judge.line(state, known, LINE_SECONDS))


def perfect_action_values(session: Session, ply: int | None = None, time_limit: float | None = None) -> Values | None:
    """The value of each action to the player to move if both play perfectly afterwards.

    Values are -1, 0 or 1, or those of the game's exact solver; `perfect_player_of(game).value_text` puts them in words.

    Args:
        ply: the values before this ply of the match, numbered from 0; None: in the current position.
        time_limit: seconds to wait for the values; None for no limit.

    Returns:
        None if the game is too large to be solved, or the match is over.

    Raises TimeLimitError if time_limit is too short.
    """
    state = _state_before(session, ply)
    player = None if bool(state.terminated) else perfect_player_of(session.game)
    return None if player is None else player.with_time_limit(time_limit).action_values(state)[0].numpy()


def _state_before(session: Session, ply: int | None) -> State:
    """The position before a ply; None: the current one."""
    return session.match.state if ply is None else session.match.state_before(ply)
