"""Who plays in a match: people, an opponent, and in a match without people a partner of the opponent."""

from typing import NamedTuple

from selfplay.players.player import Player
from selfplay.playing.plies import Players
from selfplay.web.people import People
from selfplay.web.schemas import OpponentView


class Participant(NamedTuple):
    """An opponent with its player."""

    view: OpponentView
    player: Player


class Participants(NamedTuple):
    """Who plays. In the session a person who plays against the opponent is player 0, and the opponent player 1."""

    people: People
    opponent: Participant
    """Plays against the person; values the actions of a match between two people."""
    partner: Participant | None = None
    """Moves first in a match without people; None: the opponent."""

    @property
    def numbered(self) -> tuple[Participant | None, Participant | None]:
        """The two players of the session; None is a person."""
        count = len(self.people.seats)
        return None if count > 0 else self.partner or self.opponent, None if count > 1 else self.opponent

    @property
    def players(self) -> Players:
        """The two players for the session."""
        one, other = (None if participant is None else participant.player for participant in self.numbered)
        return one, other

    @property
    def first_player(self) -> int:
        """The number of the player who moves first."""
        return self.people.only_seat or 0

    @property
    def seats(self) -> list[OpponentView | None]:
        """Who holds each seat; None for a person."""
        views = [None if participant is None else participant.view for participant in self.numbered]
        return views[::-1] if self.first_player == 1 else views

    @property
    def busiest(self) -> OpponentView:
        """The opponent that determines the thread in which the match is played."""
        return busiest_of(self.opponent, None if self.people.seats else self.partner)


def busiest_of(opponent: Participant, partner: Participant | None) -> OpponentView:
    """The one that learns, or else the one that may be slow."""
    views = [opponent.view] if partner is None else [opponent.view, partner.view]
    return max(views, key=lambda view: (view.learns, view.is_slow))
