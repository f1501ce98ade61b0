"""One match in a browser: of a person against an opponent, between two people, or between two opponents."""

import hashlib
from contextlib import suppress

import numpy as np

from selfplay.compute.random_numbers import Activity, fold, stream_key
from selfplay.games import Game
from selfplay.players.perfect import perfect_player_of
from selfplay.playing.hints import best_line, hint
from selfplay.playing.match_description import MatchDescriber
from selfplay.playing.session import Session
from selfplay.search.shared_solver import NotSolvedYetError, Solving
from selfplay.web.errors import NotFoundError, StaleError
from selfplay.web.match_lock import MatchLock
from selfplay.web.participants import Participant, Participants
from selfplay.web.people import People
from selfplay.web.schemas import (
    HintView,
    LineView,
    MatchFileView,
    MatchView,
    NewMatchRequest,
    PerfectView,
    PositionRequest,
    PositionView,
)

LINE_SECONDS = 1.5
"""Time for the best line."""


class Match:
    """A session in which people and opponents play, as shown by the page.

    Its random numbers depend only on the seed, its id, the number of the match and the ply.

    Args:
        match_id: the id by which the page refers to it.
        participants: who plays.

    Attributes:
        lock: held by the request that uses the match; use all other attributes and methods only while holding it.
    """

    def __init__(self, match_id: str, game: Game, participants: Participants, seed: int) -> None:
        self.id, self.game, self.participants = match_id, game, participants
        self.session = Session(
            game,
            participants.players,
            random_key(seed, match_id),
            first_player=participants.first_player,
            observer=participants.opponent.player,
        )
        self.lock = MatchLock()
        self.position: PositionRequest | None = None
        self._describer = MatchDescriber(self.session)

    # ------------------------------------------------------------------ what a person can do

    def resume(self, request: NewMatchRequest) -> None:
        """Take the actions of a match that is continued. Raises SettingError, IllegalActionError."""
        self.position = request.position
        start = None
        if request.position is not None:
            start = self.game.set_up(request.position.squares, request.position.to_move)
        actions = self.game.read_transcript(request.moves, start)
        if start is not None or actions or request.is_practice:
            self.session.resume(actions, start=start, is_practice=request.is_practice)
            self._value_plies()

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
        """Advance the match until a person has to choose or it is over; by one ply in a match without people.

        A perfect opponent that has not solved the position in time does not act; ask it again.
        """
        with suppress(NotSolvedYetError):
            while not (self.session.is_over or self.session.awaits_person):
                self._value_actions()
                self.session.advance()
                if not self.participants.people.seats:
                    return

    def undo(self) -> None:
        """Take back the person's last action and the reply to it. Raises NotNowError."""
        self.session.undo()

    def rewind(self, ply: int) -> None:
        """Take back all plies but the first `ply`. Raises NotNowError."""
        self.session.rewind(ply)

    def new_match(self, person: People) -> None:
        """Begin the next match against the same opponent. If one person plays, `person` is their seat."""
        if self.participants.people.only_seat is not None:
            self.participants = self.participants._replace(people=person)
        self.position = None
        self.session.new_match(self.participants.first_player)

    def take_over(self, opponent: Participant, partner: Participant | None = None) -> None:
        """Let other opponents continue the match, and value the plies played so far unless they are slow."""
        self.participants = self.participants._replace(opponent=opponent, partner=partner)
        self.session.observer = opponent.player
        for number, player in enumerate(self.participants.players):
            self.session.take_over(number, player)
        self._value_plies()

    def _value_plies(self) -> None:
        if not self.participants.busiest.is_slow:
            for number, ply in enumerate(self.session.plies):
                if not ply.is_forced:
                    with suppress(NotSolvedYetError):
                        self.session.action_values(number)

    def _value_actions(self) -> None:
        """Compute the values of the actions before one is taken, so that the page can show its expected value later."""
        if not self.session.is_over and not self.session.can_only_pass:
            self.session.action_values()

    # ------------------------------------------------------------------ what is shown

    def view(self, ply: int | None = None) -> MatchView:
        """The current match, with the values of the legal actions if a person has to choose.

        Args:
            ply: show the position before this ply with the values of its actions; None: the current position.

        Raises NotFoundError if the match has fewer plies.
        """
        self._check_ply(ply)
        with suppress(NotSolvedYetError):
            if ply is not None:
                self.session.action_values(ply)
            elif self.session.awaits_person:
                self._value_actions()
        description = vars(self._describer.describe(ply))
        people, opponent, position = self.participants.people, self.participants.opponent, self.position
        return MatchView(
            **description | {"adviser": None if description["adviser"] is None else opponent.view.label},
            id=self.id,
            opponent=opponent.view,
            person_seat=people.only_seat,
            people=people,
            seats=self.participants.seats,
            position=None if position is None else PositionView(**position.model_dump()),
        )

    def _check_ply(self, ply: int | None) -> None:
        if ply is not None and ply > len(self.session.plies):
            raise NotFoundError(f"this match has only {len(self.session.plies)} plies")

    def hint(self) -> HintView:
        """A suggested action.

        Raises:
            NotNowError: the match is over, or no values are known.
            NotSolvedYetError: perfect play is not known yet.
        """
        given = hint(self.session, time_limit=0.0)
        opponent = self.participants.opponent
        return HintView(
            action=given.action,
            text=self.game.presentation.action_in_words(given.action),
            square=self.game.presentation.placed_squares(self.session.state, [given.action])[0],
            value=given.value,
            words=given.words,
            reason=given.reason,
            source=opponent.view.label if given.source == opponent.player.name else given.source,
        )

    def solving(self, ply: int | None = None) -> Solving | None:
        """A position as it is being solved; None if the game is too large, or the match is over there.

        Args:
            ply: the position before this ply; None: the current one.

        Raises NotFoundError if the match has fewer plies.
        """
        self._check_ply(ply)
        state = self.session.state_before(ply)
        perfect = None if bool(state.terminated) else perfect_player_of(self.game)
        return None if perfect is None else perfect.ask(state)

    def perfect(self, ply: int | None = None) -> PerfectView:
        """The value of each legal action under perfect play, as far as it is known. `ply`: as for `solving`."""
        perfect, solving = perfect_player_of(self.game), self.solving(ply)
        if perfect is None or solving is None:
            return PerfectView(kind=None, actions=[], texts=[], values=None, words=None, is_complete=True)
        is_complete, state = solving.finished.done(), self.session.state_before(ply)
        actions = self.game.legal_action_mask(state)[0].nonzero()[:, 0].tolist()
        values = [solving.values.get(action) for action in actions]
        return PerfectView(
            kind=perfect.value_kind,
            actions=actions,
            texts=[self.game.action_to_string(action) for action in actions],
            values=[None if value is None else float(value) for value in values],
            words=[None if value is None else perfect.value_text(value, state) for value in values],
            is_complete=is_complete,
        )

    def line(self, ply: int | None, *, is_perfect: bool) -> LineView:
        """The best line by the opponent's values, or by perfect play as far as it is known. `ply`: as for `solving`."""
        self._check_ply(ply)
        perfect = perfect_player_of(self.game) if is_perfect else None
        opponent = self.participants.opponent
        player = opponent.player if perfect is None else perfect.with_time_limit(LINE_SECONDS)
        actions = best_line(self.game, player, self.session.state_before(ply), LINE_SECONDS)
        source = opponent.view.label if perfect is None else "Perfect play"
        return LineView(moves=[self.game.action_to_string(action) for action in actions], source=source)

    def file(self) -> MatchFileView:
        """The match so far as a file."""
        session = self.session
        held = zip(session.names, self.participants.seats, strict=True)
        first, second = (name if view is None else view.label for name, view in held)
        states = [session.state_before(number) for number in range(len(session.plies) + 1)]
        made = self.game.presentation.match_file(states, [ply.action for ply in session.plies], (first, second))
        return MatchFileView(name=f"{self.game.name}{made.ending}", text=made.text)


def random_key(seed: int, match_id: str) -> int:
    """The key of the random numbers of the match with this id."""
    number = int.from_bytes(hashlib.sha256(match_id.encode()).digest()[:8], "big", signed=True)
    stream = stream_key(seed, 0, Activity.VERSUS_PERSON)
    return int(fold(np.array([stream]), np.array([number]))[0])
