"""Hints in the current match of a session, and perfect play in games that can be solved.

Perfect values are known in games that `perfect_player_of` solves; in other games the functions return None.
"""

from typing import NamedTuple

import numpy as np

from selfplay.errors import NotNowError
from selfplay.players.capabilities import ValuesActions, exact_value_text
from selfplay.players.perfect import perfect_player_of
from selfplay.players.player import Player
from selfplay.playing.session import Session
from selfplay.playing.valued_match import Values


class Hint(NamedTuple):
    """A suggested action."""

    action: int
    text: str
    """The text of the action."""
    value: float
    """On the scale of the player in `source`."""
    source: str
    """The name of the player whose values are used."""
    words: str | None = None
    """The value in words, such as "wins in 8", if it is that of an exact solver."""


def hint(session: Session, by: Player | None = None, time_limit: float | None = None) -> Hint:
    """The best action in the current position; of equal ones the lowest.

    Args:
        by: the player whose values are used; None: those of `session.action_values`, or else of perfect play.
        time_limit: seconds to wait for perfect play; None for no limit.

    Raises:
        NotNowError: the match is over, or no values are known.
        TimeLimitError: time_limit is too short.
    """
    if session.is_over:
        raise NotNowError("the match is over")
    values, source = _values_and_source(session, by, time_limit)
    if values is None and by is not None:
        raise NotNowError(f"{by.name} does not value actions")
    if values is None or source is None:
        raise NotNowError(
            f"no player here values actions, and {session.game.presentation.title} is too large to be solved"
        )
    action = int(np.nanargmax(values))
    value = float(values[action])
    words = exact_value_text(source, value, session.state)
    return Hint(action, session.game.action_to_string(action), value, source.name, words)


def _values_and_source(
    session: Session, by: Player | None, time_limit: float | None
) -> tuple[Values | None, Player | None]:
    if by is not None:
        valuing = by.as_a(ValuesActions)
        own = None if valuing is None else valuing.action_values(session.state)[0].numpy()
        return None if own is None or np.isnan(own).all() else own, by
    own = session.action_values()
    if own is not None and not np.isnan(own).all():
        return own, session.adviser()
    return perfect_values(session, time_limit=time_limit), perfect_player_of(session.game)


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


def optimal_actions(session: Session, ply: int | None = None) -> tuple[int, ...] | None:
    """The actions with the best perfect value; None if `perfect_values` returns None. `ply` is as for it."""
    values = perfect_values(session, ply)
    return None if values is None else best_actions(values)


def best_actions(values: Values) -> tuple[int, ...]:
    """The actions with the largest value."""
    return tuple(np.flatnonzero(values == np.nanmax(values)).tolist())
