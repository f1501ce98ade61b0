"""Hints for the current match of a session, and perfect values if `perfect_player_of` knows them."""

from typing import NamedTuple

from selfplay.errors import NotNowError
from selfplay.players.perfect import perfect_player_of
from selfplay.playing.estimates import Values, best_actions
from selfplay.playing.session import Session


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
    in_points: bool = False
    """Whether the value is a number of points that the player estimates."""


def hint(session: Session, time_limit: float | None = None) -> Hint:
    """The action that the player of `session.estimate` would take.

    Without values of a player, it is the lowest of the best actions with perfect play.

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
        explores = player.explores(session.draws)
        # Where the player would explore, the action that it values highest.
        action = estimate.best if explores is not None and bool(explores) else session.choice_of(player)
        value, words, reason = estimate.value(action), estimate.words(action), player.reason(session.state)
        return Hint(action, value, player.name, words, reason, estimate.in_points)
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
