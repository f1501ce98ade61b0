"""Sessions, and playing several plies of them."""

from selfplay.games import make_game
from selfplay.players.player import Player
from selfplay.playing.session import Session

GAME = make_game("tictactoe")


def session_with(opponent: Player | None, *, first_player: int = 0, key: int = 0, match: int = 0) -> Session:
    """A person, player number 0, against this opponent."""
    session = Session(GAME, (None, opponent), key, first_player=first_player)
    session.number = match
    return session


def play_on(session: Session, *actions: int) -> list[int]:
    """Play these actions for the person, and the other players' actions in between; returns all actions so far."""
    remaining = list(actions)
    while not session.is_over and (remaining or not session.awaits_person):
        if session.awaits_person:
            session.play(remaining.pop(0))
        else:
            session.advance()
    return list(session.match.actions)
