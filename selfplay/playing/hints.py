"""What is best in the current match of a session: hints, perfect play, the line of best moves, and grades of others.

Perfect values are known in games that `perfect_player_of` solves; in other games the functions return None.
"""

import time
from contextlib import suppress
from typing import Literal, NamedTuple

import numpy as np
import torch

from selfplay.errors import IllegalActionError, NotNowError, SelfPlayError
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.players.capabilities import ExplainsActions, Explores, Values, ValuesActions
from selfplay.players.perfect import ValueKind, is_found_out, perfect_player_of
from selfplay.players.player import Player
from selfplay.playing.session import Session

LONGEST_LINE = 10
"""The largest number of actions in a line of best moves."""


class Hint(NamedTuple):
    """A suggested action."""

    action: int
    value: float | None
    """On the scale of the player in `source`; None if it does not know the value of this action."""
    source: str
    """The name of the player who would take the action."""
    words: str | None = None
    """The value in words, such as "wins in 8", if it is that of an exact solver."""
    reason: str | None = None
    """Why the player would take it, if the player explains its actions."""


def hint(session: Session, time_limit: float | None = None) -> Hint:
    """What the player of `session.estimate` would do; without its values, the lowest of the best actions with perfect
    play.

    Args:
        time_limit: seconds to wait for perfect play; None for no limit.

    Raises:
        NotNowError: the match is over, or no values are known.
        TimeLimitError: time_limit is too short.
    """
    if session.is_over:
        raise NotNowError("the match is over")
    estimate = session.estimate()
    if estimate is not None and estimate.best is not None:
        player = estimate.player
        exploring, explaining = player.as_a(Explores), player.as_a(ExplainsActions)
        explores = exploring is not None and bool(exploring.explores(session.draws)[0])
        # Where the player would explore, the action that it values highest.
        action = estimate.best if explores else session.choice_of(player)
        reason = None if explaining is None else explaining.reason(session.state)
        return Hint(action, estimate.value(action), player.name, estimate.words(action), reason)
    perfect, values = perfect_player_of(session.game), perfect_values(session, time_limit=time_limit)
    if perfect is None or values is None:
        raise NotNowError(
            f"no player here values actions, and {session.game.presentation.title} is too large to be solved"
        )
    action = best_actions(values)[0]
    words = None if perfect.value_kind == "results" else perfect.value_text(float(values[action]), session.state)
    return Hint(action, float(values[action]), perfect.name, words)


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


def results_known_at_once(game: Game, state: State) -> Values | None:
    """The result of each action of a position (B = 1) with perfect play: 1, 0 or -1; nan if illegal.

    None unless `perfect_player_of` has enumerated the game already, and the position can be reached in it.
    """
    player = perfect_player_of(game) if is_found_out(game) else None
    if player is None or player.value_kind != "results":
        return None
    with suppress(IllegalActionError):
        return player.action_values(state)[0].numpy()
    return None


def best_actions(values: Values) -> tuple[int, ...]:
    return tuple(np.flatnonzero(values == np.nanmax(values)).tolist())


def best_line(game: Game, player: Player, state: State, seconds: float) -> list[int]:
    """The moves after a position (B = 1) if both players take the best action by the same values, the lowest of equals.

    Args:
        player: gives the values; without values the line is empty.
        seconds: no further action is added after this time.
    """
    valuing, latest = player.as_a(ValuesActions), time.monotonic() + seconds
    actions: list[int] = []
    if valuing is None:
        return actions
    while len(actions) < LONGEST_LINE and not bool(state.terminated) and time.monotonic() < latest:
        try:
            values = valuing.action_values(state)[0].numpy()
        except SelfPlayError:
            # Perfect play does not know the values of this position yet.
            break
        if np.isnan(values).all():
            break
        actions.append(int(np.nanargmax(values)))
        state = game.step_unchecked(state, torch.tensor(actions[-1:]))
    return actions


Grade = Literal["inaccuracy", "mistake", "blunder"]
GRADES: tuple[Grade, Grade, Grade] = ("inaccuracy", "mistake", "blunder")
THRESHOLDS: dict[ValueKind, tuple[float, ...]] = {"results": (0.2, 0.4, 0.6), "scores": (3, 8), "points": (2, 6, 12)}
"""How much worse than the best value an action is from each grade on: parts of the way from a draw to a win, own moves
by which the match is won later or lost sooner, or points."""


def grade_of(value: float | None, best: float | None, kind: ValueKind, *, is_exact: bool) -> Grade | None:
    """The grade of an action; None if it is about as good as the best one, or one of the values is unknown.

    Args:
        value: of the action, to the player who takes it; of results from -1 to 1.
        best: of the best action.
        is_exact: whether the values are exact: then an action that throws away a win or a draw is a blunder.
    """
    if value is None or best is None:
        return None
    if is_exact and np.sign(value) != np.sign(best):
        return "blunder"
    # Values of networks are float32.
    reached = sum(best - value >= threshold - 1e-6 for threshold in THRESHOLDS[kind])
    return GRADES[reached - 1] if reached else None


def thresholds_text(game: Game) -> str:
    """From how much on an action of this game has each grade, in one or two sentences."""
    if game.rules.margin is not None:
        kinds = [("points", f"{game.presentation.point_name} fewer than the best move")]
    else:
        kinds = [("results", "of a win less than the best move"), ("scores", "moves later won or sooner lost")]
    said = [f"from {', '.join(f'{one:g}' for one in THRESHOLDS[kind])} {unit}" for kind, unit in kinds]  # type: ignore[index]
    return f"Inaccuracy, mistake, blunder: {'; exactly, '.join(said)}. To throw away a win or a draw is a blunder."
