"""A match as a request describes it: it is played again from its moves, and nothing of it is kept afterwards."""

from contextlib import suppress
from typing import Any

import torch

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import ForfeitError, NotNowError, TimeLimitError
from selfplay.games import Game
from selfplay.games.dead_stones import dead_stones, expected_territory, without_stones
from selfplay.games.match import Match
from selfplay.matches.arena import statuses_of
from selfplay.players.perfect import perfect_player_of
from selfplay.playing.match_description import describe
from selfplay.playing.result_text import result_of
from selfplay.playing.saved_matches import result_words
from selfplay.playing.session import Session
from selfplay.records import Record, read_record_of, record_of, written_record
from selfplay.search.deadline import current_deadline
from selfplay.web.game_schemas import OfferedPlayer
from selfplay.web.judging import Judging
from selfplay.web.loaded_players import NotFoundError
from selfplay.web.match_schemas import (
    CountView,
    MatchFileView,
    MatchRequest,
    People,
    PositionRequest,
    RecordView,
    ServedMatch,
)
from selfplay.web.participants import Participant, Participants
from selfplay.web.recent_estimates import RecentEstimates

WITH_STAND_IN = " and a stand-in"
"""Said of a player in a file of a match in which a simple player has moved for it."""


class RequestedMatch:
    """The match of a request. Use it in one thread at a time.

    Its random numbers depend only on the seed of the server, that of the match, and the ply.

    Args:
        seed: that of the server.
        recent: the values found for earlier requests.
        counts: whether players learn from it, if it is over and not practice.

    Raises SettingError, IllegalActionError if its position or moves are not possible.
    """

    def __init__(
        self,
        request: MatchRequest,
        game: Game,
        participants: Participants,
        seed: int,
        recent: RecentEstimates,
        *,
        counts: bool = False,
    ) -> None:
        self.request, self.game, self.people, self._recent = request, game, request.person, recent
        self._participants = participants
        holders = participants.seats(self.people)
        players = [None if one is None else one.seated for one in holders]
        one, other = players[::-1] if self.people is People.SECOND else players
        key = stream_key(seed, 0, Activity.VERSUS_PERSON)
        self.session = Session(game, (one, other), key, first_player=int(self.people is People.SECOND))
        self.session.number = request.seed
        self.judging = Judging(request, self.session, participants, recent)
        self.position, start = request.position, None
        if self.position is not None:
            start = game.set_up(self.position.squares, self.position.to_move)
        self._record = Record(Match(game, start))
        if request.moves.strip():
            self._record = read_record_of(game, request.moves, start, may_break="record" in request.show)
        match = self._record.match
        if self.position is None and match.is_set_up:
            squares: Any = game.squares(match.start)[0].tolist()
            self.position = PositionRequest(squares=squares, to_move=0 if int(match.start.current_player) == 0 else 1)
        practice = request.is_practice or bool(request.stood_in) or request.position is not None
        self.session.resume(match, is_practice=practice, counts=counts)
        self.session.loaded = self._record
        self._stood_in = [number for number in request.stood_in if number < len(self.session.plies)]
        self.is_being_counted = self.session.is_counted_by_people and (request.dead is None or not request.is_agreed)
        if request.dead is not None and request.is_agreed:
            self.session.take_off(request.dead)
        if request.ended is not None:
            seats = self.session.seats
            person = seats.index(None) if seats.count(None) == 1 else self.session.match.to_move
            self.session.end(person if request.ended == "resigned" else None)

    def lend(self, participants: Participants) -> None:
        """Use these players from now on, in place of those that were lent before."""
        self._participants = self.judging.participants = participants

    @property
    def _advisers(self) -> list[Participant]:
        return self._participants.advisers(self.people, perfect_player_of(self.game))

    @property
    def seats(self) -> list[OfferedPlayer | None]:
        """Who holds each seat; None for a person."""
        return [None if one is None else one.offer for one in self._participants.seats(self.people)]

    # ------------------------------------------------------------------ what is computed

    def advance(self) -> None:
        """Let the players move until a person has to choose or it is over; one of them once in a match without people.

        A perfect opponent that has not solved the position in time does not act; ask again.
        """
        # A player that gives up has lost, also if it is asked again.
        with suppress(TimeLimitError, ForfeitError):
            while not (self.session.is_over or self.session.awaits_person):
                if self.session.advance().is_forced:
                    continue
                if self.request.stand_in:
                    self._stood_in.append(len(self.session.plies) - 1)
                if self.people is People.NONE:
                    return

    def value_plies(self, first: int) -> None:
        """Value the plies from this number on, as many as the deadline allows."""
        chosen = [
            number for number in range(first, len(self.session.plies)) if not self.session.plies[number].is_forced
        ]
        for number in chosen:
            self._estimate(number)
            if current_deadline().is_over:
                if number > chosen[0]:
                    # The time of its search was shorter than that of a reply.
                    self.session.estimates.pop(number, None)
                return

    def _estimate(self, ply: int) -> None:
        """Compute the values of the actions before a ply, unless they are known or no time is left."""
        with suppress(TimeLimitError):
            self._compute_estimate(ply)

    def _compute_estimate(self, ply: int) -> None:
        adviser = self._advisers[int(self.session.match.state_before(ply).current_player)]
        if adviser is self._participants.judge:
            if not current_deadline().is_over:
                values_all = self.request.values_all and ply == self.shown
                self.session.estimates[ply] = self.judging.estimate(ply, values_all=values_all)
            return
        if not adviser.offer.is_slow:
            self.session.estimate(ply, adviser.player)
            return
        key = adviser.valuing(self.game, self.session.match.state_before(ply)), self.request.seed, ply
        if ply not in self.session.estimates:
            if (known := self._recent.get(key)) is not None:
                self.session.estimates[ply] = known
            elif current_deadline().is_over:
                return
        if (estimate := self.session.estimate(ply, adviser.player)) is not None:
            self._recent.keep(key, estimate)

    # ------------------------------------------------------------------ what is shown

    @property
    def shown(self) -> int:
        """The number of plies before the position that is asked about. Raises NotFoundError if there are fewer."""
        plies = len(self.session.plies)
        if self.request.ply is not None and self.request.ply > plies:
            raise NotFoundError(f"this match has only {plies} plies")
        return plies if self.request.ply is None else self.request.ply

    def view(self) -> ServedMatch:
        """The match in the position asked about, with the values of the legal actions if they are asked for."""
        shown = self.shown
        if self.request.valued is not None and (self.request.ply is not None or self.session.awaits_person):
            self._estimate(shown)
        description = vars(describe(self.session, self.request.ply))
        players = [player for player in self.session.players if player is not None]
        practice = {"is_practice": self.session.is_practice or bool(self._stood_in)}
        unfinished = {"is_over": False, "result": None} if self.is_being_counted else {}
        return ServedMatch(
            **description | unfinished | {"standing": "; ".join(statuses_of(*players)) or None} | practice,
            count=self._count() if self.is_being_counted and shown == len(self.session.plies) else None,
            opponent=self._participants.opponent.offer,
            people=self.people,
            judge=self._participants.judge.offer,
            advisers=[one.offer for one in self._advisers],
            seats=self.seats,
            position=self.position,
            opening=None if self.position else self.game.presentation.opening(self.session.match.actions),
            stood_in=self._stood_in,
        )

    def _count(self) -> CountView:
        dead = self.request.dead or []
        end = without_stones(self.game, self.session.match.state, dead)
        result = result_of(self.session.match.ended_as(end))
        return CountView(dead=dead, result=result, owners=self.game.owners(end)[0].tolist())

    def dead(self) -> list[int]:
        """The stones that are proposed as dead. Raises NotNowError unless people have to agree on them."""
        if not self.is_being_counted:
            raise NotNowError("stones can only be dead where both players have passed")
        return dead_stones(self.game, self.session.match.state, self.session.key)

    def territory(self) -> list[float]:
        """Who can be expected to own each square of the position asked about. Raises NotNowError in games without
        territory."""
        if self.game.rules.safe is None:
            raise NotNowError("squares belong to nobody in this game")
        return expected_territory(self.game, self.session.match.state_before(self.shown), self.session.key)

    def record(self) -> RecordView:
        """What the text of the moves says besides them."""
        record, match = self._record, self.session.match
        is_settled = match.is_over and not self.is_being_counted
        is_told = record.said is not None and not (is_settled and record.said.returned == int(match.state.returns))
        return RecordView(
            players=list(record.players),
            result=result_words(record._replace(result=record.said)) if is_told else None,
            comments=dict(record.comments),
            variations=record.variations,
            broken=record.broken or None,
        )

    def file(self) -> MatchFileView:
        session = self.session
        held = zip(session.names, self.seats, strict=True)
        stood_in = {session.plies[number].seat for number in self._stood_in}
        first, second = (
            self._record.players[seat] or name if offer is None else offer.label + WITH_STAND_IN * (seat in stood_in)
            for seat, (name, offer) in enumerate(held)
        )
        match = session.match
        if self.is_being_counted and self._record.said is None:
            # It is over when people have agreed.
            match = match.ended_as(match.state._replace(terminated=torch.zeros_like(match.state.terminated)))
        made = written_record(record_of(match, (first, second), session.loaded))
        return MatchFileView(name=f"{self.game.name}{made.ending}", text=made.text)
