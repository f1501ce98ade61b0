"""One match of a person in a browser."""

import hashlib
from contextlib import suppress

import numpy as np

from selfplay.compute.random_numbers import Activity, fold, stream_key
from selfplay.games import Game
from selfplay.players.perfect import perfect_player_of
from selfplay.players.player import Player
from selfplay.playing.hints import hint
from selfplay.playing.match_description import MatchDescriber
from selfplay.playing.session import Session
from selfplay.search.shared_solver import NotSolvedYetError, Solving
from selfplay.web.errors import StaleError
from selfplay.web.match_lock import MatchLock
from selfplay.web.schemas import HintView, MatchView, OpponentView, PerfectView, SeatOfPerson

PERSON, OPPONENT = 0, 1
"""The numbers of the two players in the session."""

FIRST_PLAYER: dict[SeatOfPerson, int] = {"first": PERSON, "second": OPPONENT}


class Match:
    """A session of a person against one opponent, as shown by the page.

    Its random numbers depend only on the seed, its id, the number of the match and the ply.

    Args:
        match_id: the id by which the page refers to it.

    Attributes:
        lock: held by the request that uses the match; use all other attributes and methods only while holding it.
    """

    def __init__(
        self, match_id: str, game: Game, opponent: OpponentView, player: Player, seed: int, person: SeatOfPerson
    ) -> None:
        self.id, self.game, self.opponent = match_id, game, opponent
        self.session = Session(game, (None, player), random_key(seed, match_id), first_player=FIRST_PLAYER[person])
        self.lock = MatchLock()
        self._describer = MatchDescriber(self.session)

    # ------------------------------------------------------------------ what a person can do

    def play(self, action: int, ply: int) -> None:
        """Take an action for the person. Raises StaleError, NotNowError, IllegalActionError."""
        count = len(self.session.plies)
        if ply != count:
            plies = "1 ply" if count == 1 else f"{count} plies"
            raise StaleError(f"this match has {plies}, not {ply}; load it again")
        with suppress(NotSolvedYetError):
            self._value_actions()
        self.session.play(action)

    def reply(self) -> None:
        """Advance the match until the person has to choose or it is over.

        A perfect opponent that has not solved the position in time does not act; ask it again.
        """
        with suppress(NotSolvedYetError):
            while not (self.session.is_over or self.session.awaits_person):
                self._value_actions()
                self.session.advance()

    def undo(self) -> None:
        """Take back the person's last action and the reply to it. Raises NotNowError."""
        self.session.undo()

    def new_match(self, person: SeatOfPerson) -> None:
        """Begin the next match against the same opponent."""
        self.session.new_match(FIRST_PLAYER[person])

    def take_over(self, opponent: OpponentView, player: Player) -> None:
        """Let another opponent continue the match. Unless it is slow, it also values the plies played so far."""
        self.session.take_over(OPPONENT, player)
        self.opponent = opponent
        if not opponent.is_slow:
            for number, ply in enumerate(self.session.plies):
                if not ply.is_forced:
                    self.session.action_values(number)

    def _value_actions(self) -> None:
        """Compute the values of the actions before one is taken, so that the page can show its expected value later."""
        if not self.session.is_over and not self.session.can_only_pass:
            self.session.action_values()

    # ------------------------------------------------------------------ what is shown

    def view(self) -> MatchView:
        """The current match, with the values of the legal actions if the person has to choose."""
        if self.session.awaits_person:
            with suppress(NotSolvedYetError):
                self._value_actions()
        description = vars(self._describer.describe())
        return MatchView(
            **description | {"adviser": None if description["adviser"] is None else self.opponent.label},
            id=self.id,
            opponent=self.opponent,
            person_seat=self.person_seat,
        )

    @property
    def person_seat(self) -> int:
        return 0 if self.session.first_player == PERSON else 1

    def hint(self) -> HintView:
        """A suggested action.

        Raises:
            NotNowError: the match is over, or no values are known.
            NotSolvedYetError: perfect play is not known yet.
        """
        given = hint(self.session, time_limit=0.0)
        is_from_opponent = given.source == self.session.names[1 - self.person_seat]
        return HintView(
            action=given.action,
            text=self.game.presentation.action_in_words(given.action),
            square=self.game.presentation.placed_squares(self.session.state, [given.action])[0],
            value=given.value,
            words=given.words,
            source=self.opponent.label if is_from_opponent else given.source,
        )

    def solving(self) -> Solving | None:
        """The current position as it is being solved; None if the game is too large, or the match is over."""
        perfect = None if self.session.is_over else perfect_player_of(self.game)
        return None if perfect is None else perfect.ask(self.session.state)

    def perfect(self) -> PerfectView:
        """The value of each legal action under perfect play, as far as it is known."""
        perfect, solving = perfect_player_of(self.game), self.solving()
        if perfect is None or solving is None:
            return PerfectView(kind=None, values=None, words=None, is_complete=True)
        is_complete = solving.finished.done()
        values = [solving.values.get(action) for action in self.session.legal_actions]
        words = [None if value is None else perfect.value_text(value, self.session.state) for value in values]
        return PerfectView(
            kind=perfect.value_kind,
            values=[None if value is None else float(value) for value in values],
            words=words,
            is_complete=is_complete,
        )


def random_key(seed: int, match_id: str) -> int:
    """The key of the random numbers of the match with this id."""
    number = int.from_bytes(hashlib.sha256(match_id.encode()).digest()[:8], "big", signed=True)
    stream = stream_key(seed, 0, Activity.VERSUS_PERSON)
    return int(fold(np.array([stream]), np.array([number]))[0])
