"""What would be good in the match at hand of a session: hints, and perfect play where the game can be solved.

Perfect values are known of games that `perfect_player_of` solves at once; of others the answer is None, at once too.
"""

from typing import NamedTuple

import numpy as np

from selfplay.errors import NotNowError
from selfplay.players.capabilities import ValuesActions
from selfplay.players.perfect import perfect_player_of
from selfplay.players.player import Player
from selfplay.playing.session import Session, Values


class Hint(NamedTuple):
    """An action to consider."""

    action: int
    text: str
    """The action as the game writes it."""
    value: float
    """On the scale of who gives the hint."""
    source: str
    """The name of the player whose values it follows."""


def hint(session: Session, by: Player | None = None) -> Hint:
    """The best action in the position at hand, the lowest of several.

    Args:
        by: whose values count; None: those of `session.action_values`, or else perfect play's.

    Raises NotNowError if the match is over, or nobody knows.
    """
    if session.is_over:
        raise NotNowError("the match is over")
    values, source = _values_and_source(session, by)
    if values is None and by is not None:
        raise NotNowError(f"{by.name} values no actions")
    if values is None or source is None:
        raise NotNowError(f"nobody here values actions, and {session.game.name} is too large to be solved")
    action = int(np.nanargmax(values))
    return Hint(action, session.game.action_to_string(action), float(values[action]), source.name)


def _values_and_source(session: Session, by: Player | None) -> tuple[Values | None, Player | None]:
    if by is not None:
        valuing = by.as_a(ValuesActions)
        return None if valuing is None else valuing.action_values(session.state)[0].numpy(), by
    if (own := session.action_values()) is not None:
        return own, session.adviser()
    return perfect_values(session), perfect_player_of(session.game)


def perfect_values(session: Session, ply: int | None = None) -> Values | None:
    """The return of each action to the player to move when both play perfectly afterwards.

    Args:
        ply: before which ply of the match, from 0; None: in the position at hand.

    Returns:
        None if the game is too large to be solved, or the match is over.
    """
    state = session.state_before(ply)
    player = None if bool(state.terminated) else perfect_player_of(session.game)
    return None if player is None else player.action_values(state)[0].numpy()


def optimal_actions(session: Session, ply: int | None = None) -> tuple[int, ...] | None:
    """The actions of the best perfect value; None where `perfect_values` is. `ply` as there."""
    values = perfect_values(session, ply)
    return None if values is None else tuple(np.flatnonzero(values == np.nanmax(values)).tolist())
