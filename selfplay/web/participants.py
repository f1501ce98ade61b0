"""The players of a match: who holds which seat, and who values the actions."""

from collections.abc import Callable
from typing import NamedTuple

from torch import Tensor

from selfplay.compute.random_numbers import Draws
from selfplay.games import Game, State
from selfplay.players.player import Player
from selfplay.web.game_schemas import OfferedPlayer
from selfplay.web.match_schemas import People


class Participant(NamedTuple):
    """An opponent with its player."""

    offer: OfferedPlayer
    player: Player | None = None
    """None: it is not lent, for example because the request asks nothing of it."""
    is_asked: bool = False
    """Whether the request asks something of it, so that it has to be lent."""
    version: str = ""
    """Text that changes with the player's file."""

    @property
    def seated(self) -> Player:
        """The player of a seat, which cannot be asked if it is not loaded."""
        return self.player or UnaskedPlayer(self.offer.label)

    def valuing(self, game: Game, state: State) -> tuple[object, ...]:
        """What its values of a position (B = 1) depend on, as a key."""
        return game.name, self.offer.id, self.version, state.key()


class UnaskedPlayer(Player):
    """Holds the seat of a player that is not loaded, in a match that is only shown."""

    def __init__(self, name: str) -> None:
        self.name = name

    def act(self, state: State, draws: Draws) -> Tensor:
        raise AssertionError(f"{self.name} is not loaded: the request does not ask players")


class Participants(NamedTuple):
    """Who plays and values actions, as the fields of a request say."""

    opponent: Participant
    partner: Participant | None
    adviser: Participant | None
    judge: Participant
    """The judge, without its player."""
    lend_judge: Callable[[], Participant] | None = None
    """Lends its player, which not every request needs; None: no player is lent."""

    @property
    def asked(self) -> list[Participant]:
        """Those of whom the request asks something, without the judge."""
        return [one for one in self[:3] if one is not None and one.is_asked]

    @property
    def only_judge(self) -> "Participants":
        """The same, of whom the request asks only the judge."""

        def silent(one: Participant | None) -> Participant | None:
            return None if one is None else one._replace(is_asked=False)

        opponent = self.opponent._replace(is_asked=False)
        return self._replace(opponent=opponent, partner=silent(self.partner), adviser=silent(self.adviser))

    @property
    def in_turn(self) -> list[str]:
        """The ids of those that serve one request after another, in the order in which requests wait for them: players
        of which there is one, and those that learn, so that only one thread waits for a locked store."""
        return sorted({one.offer.id for one in self.asked if one.offer.is_kept or one.offer.learns})

    def seats(self, people: People) -> list[Participant | None]:
        """Who holds each seat; None for a person."""
        first, second = people in (People.FIRST, People.BOTH), people in (People.SECOND, People.BOTH)
        starts = self.partner if people is People.NONE and self.partner is not None else self.opponent
        return [None if first else starts, None if second else self.opponent]

    def advisers(self, people: People, perfect: Player | None) -> list[Participant]:
        """Who values the actions of each seat; only this decides it.

        It is whoever was chosen for it; the judge if the values of a player do not estimate outcomes; else the player
        of the seat, and for a person the opponent.

        Args:
            perfect: perfect play of the game, which then values what players do not estimate; None if it is unknown.
        """
        if self.adviser is not None:
            return [self.adviser] * 2
        if perfect is None and not all(one.offer.estimates for one in self[:2] if one is not None):
            return [self.judge] * 2
        return [one or self.opponent for one in self.seats(people)]

    def are_slow(self, people: People, perfect: Player | None) -> bool:
        """Whether what is asked of them may take seconds, because one of them searches, or learns and may have to wait
        for a store.

        The arguments are those of `advisers`.
        """
        asked = self.asked
        asked += self.advisers(people, perfect) if asked else []
        return any(one.offer.is_slow or one.offer.learns for one in asked)
