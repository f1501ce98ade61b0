"""A match as a request describes it: it is played again from its moves, and nothing of it is kept afterwards."""

from contextlib import suppress
from typing import Any

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import ForfeitError, IllegalActionError, NotNowError, TimeLimitError
from selfplay.games import Game
from selfplay.games.state import State
from selfplay.matches.arena import statuses_of
from selfplay.players.dead_stones import dead_stones, expected_territory
from selfplay.players.perfect import endgame_player, perfect_player_of
from selfplay.playing.counting import without_stones
from selfplay.playing.estimates import Estimate
from selfplay.playing.hints import hint
from selfplay.playing.judge import Judge
from selfplay.playing.match_description import ValuedAction, describe, valued_action
from selfplay.playing.match_files import broken_off, result_words
from selfplay.playing.result_text import result_of, winner_of
from selfplay.playing.session import Session
from selfplay.records import read_record_of, record_of, written_record
from selfplay.search.deadline import current_deadline
from selfplay.search.shared_solver import Solving
from selfplay.web.loaded_players import NotFoundError
from selfplay.web.participants import Participant, Participants
from selfplay.web.recent_estimates import RecentEstimates
from selfplay.web.schemas import (
    CountView,
    HintView,
    JudgedView,
    MatchFileView,
    MatchRequest,
    OfferedPlayer,
    People,
    PositionRequest,
    RecordView,
    ServedMatch,
)

PERFECT_PLAY = "Perfect play"
"""Who exact values are from."""
WITH_STAND_IN = " and a stand-in"
"""Said of a player in a file of a match in which a simple player has moved for it."""
CUT_SHORT = " (as far as the time allowed)"
"""Said of who values actions, if the deadline has ended the search."""


class Match:
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
        self.session.match = request.seed
        self.position, start = request.position, None
        if self.position is not None:
            start = game.set_up(self.position.squares, self.position.to_move)
        may_break = "record" in request.show
        record = read_record_of(game, request.moves, start, may_break=may_break)
        if self.position is None and record.start is not None:
            squares: Any = game.squares(record.start)[0].tolist()
            self.position = PositionRequest(squares=squares, to_move=0 if int(record.start.current_player) == 0 else 1)
        practice, self._record = request.is_practice or bool(request.stood_in), record
        try:
            self.session.resume(record.actions, start=record.start, is_practice=practice, counts=counts)
        except IllegalActionError as error:
            if not may_break:
                raise
            self._record = broken_off(record, self.session, error)
        self._stood_in = [number for number in request.stood_in if number < len(self.session.plies)]
        self.is_being_counted = self.session.is_counted_by_people and (request.dead is None or not request.is_agreed)
        if request.dead is not None and request.is_agreed:
            self.session.take_off(request.dead)
        if request.ended is not None:
            seats = self.session.seats
            person = seats.index(None) if seats.count(None) == 1 else self.session.to_move
            self.session.end(person if request.ended == "resigned" else None)

    def lend(self, participants: Participants) -> None:
        """Use these players from now on, in place of those that were lent before."""
        self._participants = participants

    @property
    def _judging(self) -> Participant:
        assert self._participants.lend_judge is not None, "players are lent to a match that is judged"
        return self._participants.lend_judge()

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
        adviser = self._advisers[int(self.session.state_before(ply).current_player)]
        if adviser is self._participants.judge:
            if not current_deadline().is_over:
                values_all = self.request.values_all and ply == self.shown
                self.session.estimates[ply] = self._judgement(ply, values_all=values_all)
            return
        if not adviser.offer.is_slow:
            self.session.estimate(ply, adviser.player)
            return
        key = self._key(adviser, ply), self.request.seed, ply
        if ply not in self.session.estimates:
            if (known := self._recent.get(key)) is not None:
                self.session.estimates[ply] = known
            elif current_deadline().is_over:
                return
        if (estimate := self.session.estimate(ply, adviser.player)) is not None:
            self._keep(key, estimate)

    def _keep(self, key: object, estimate: Estimate) -> None:
        """Keep an estimate for later requests, unless its search may have been cut short."""
        if not current_deadline().is_over:
            self._recent.keep(key, estimate)

    def _key(self, participant: Participant, ply: int) -> tuple[object, ...]:
        position = self.session.state_before(ply).key()
        return self.game.name, participant.offer.id, participant.version, position

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
        actions = [played.action for played in self.session.plies]
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
            opening=None if self.position else self.game.presentation.opening(actions),
            stood_in=self._stood_in,
        )

    def _count(self) -> CountView:
        dead = self.request.dead or []
        end = without_stones(self.game, self.session.state, dead)
        result = result_of(self.game, end, winner_of(end))
        return CountView(dead=dead, result=result, owners=self.game.owners(end)[0].tolist())

    def dead(self) -> list[int]:
        """The stones that are proposed as dead. Raises NotNowError unless people have to agree on them."""
        if not self.is_being_counted:
            raise NotNowError("stones can only be dead where both players have passed")
        return dead_stones(self.game, self.session.state, self.session.key)

    def territory(self) -> list[float]:
        """Who can be expected to own each square of the position asked about. Raises NotNowError in games without
        territory."""
        if self.game.rules.safe is None:
            raise NotNowError("squares belong to nobody in this game")
        return expected_territory(self.game, self.session.state_before(self.shown), self.session.key)

    def hint(self) -> HintView | None:
        """The best action that is known, without waiting for exact values; None if no time is left to search for it.

        Raises NotNowError if the match is over.
        """
        if current_deadline().is_over:
            return None
        state = self.session.state_before(self.shown)
        found, is_cut_short = self._judgement(self.shown), current_deadline().is_over
        action, estimate, line = hint(self.session, self._judge, self.shown, found)
        value = estimate.value(action)
        assert value is not None, "the judge knows the value of its best action"
        return HintView(
            action=action,
            text=self.game.presentation.action_named(action, int(state.current_player)),
            value=value,
            words=estimate.words(action),
            in_points=estimate.in_points,
            source=self._source(estimate.knows(action), is_cut_short),
            line=self.game.line_texts(line, state),
            line_squares=self.game.presentation.line_squares(line, state),
        )

    @property
    def _judge(self) -> Judge:
        judge = self._judging.player
        assert isinstance(judge, Judge), "it is made by the offer of the judge"
        return judge

    def _judgement(self, ply: int, *, values_all: bool = False) -> Estimate | None:
        """What the judge knows before a ply, where it compares the action of the match; None: the match is over."""
        state, plies = self.session.state_before(ply), self.session.plies
        played = plies[ply].action if ply < len(plies) else None
        key = "judged", self._key(self._judging, ply), played, values_all
        estimate, is_late = self._recent.get(key), endgame_player(self.game, state) is not None
        if estimate is None or (is_late and not estimate.is_exact):
            estimate = self._judge.estimate(state, played, seconds=0.0, values_all=values_all)
            if estimate is not None:
                self._keep(key, estimate)
        return None if estimate is None else self._judge.with_known(estimate)

    def _source(self, is_exact: bool, is_cut_short: bool) -> str:
        if is_exact:
            return PERFECT_PLAY
        return self._participants.judge.offer.label + (CUT_SHORT if is_cut_short else "")

    def solving(self) -> Solving | None:
        """The position asked about as it is being solved; None if the game is too large, the match is over there, or
        only a move of it is reviewed."""
        state = self.session.state_before(self.shown)
        if bool(state.terminated):
            return None
        if (perfect := perfect_player_of(self.game)) is not None:
            return perfect.ask(state)
        # The values of a ply that is reviewed do not wait for those of all its actions.
        return self._judge.solving(state) if self.request.values_all or "hint" in self.request.show else None

    def judged(self) -> JudgedView | None:
        """The best known value of each legal action: exact ones as far as they are known; None if no time is left."""
        solving = self.solving()
        if solving is None or perfect_player_of(self.game) is None:
            return self._estimated()
        return self._solved(solving)

    def _estimated(self) -> JudgedView | None:
        """What the judge knows in a game that cannot be solved; None if no time is left."""
        if current_deadline().is_over:
            return None
        estimate = self._judgement(self.shown, values_all=self.request.values_all)
        if estimate is None:
            return JudgedView(kind=None, is_exact=True, source=PERFECT_PLAY, legal=[], is_complete=True)
        is_late, seat = endgame_player(self.game, estimate.state) is not None, int(estimate.state.current_player)
        return JudgedView(
            kind=estimate.kind,
            is_exact=estimate.is_exact,
            source=self._source(estimate.is_exact, current_deadline().is_over),
            legal=[valued_action(self.game, seat, action, estimate) for action in self._legal(estimate.state)],
            is_complete=estimate.is_exact or not is_late,
        )

    def _solved(self, solving: Solving) -> JudgedView:
        perfect, state = perfect_player_of(self.game), solving.state
        assert perfect is not None, "it solves the position"
        is_complete, seat = solving.finished.done(), int(state.current_player)
        legal = [
            ValuedAction(
                action=action,
                text=self.game.action_text(action, seat),
                value=None if value is None else float(value),
                words=None if value is None else perfect.value_text(value, state),
            )
            for action in self._legal(state)
            for value in [solving.values.get(action)]
        ]
        return JudgedView(
            kind=perfect.value_kind, is_exact=True, source=PERFECT_PLAY, legal=legal, is_complete=is_complete
        )

    def _legal(self, state: State) -> list[int]:
        legal: list[int] = self.game.legal_action_mask(state)[0].nonzero()[:, 0].tolist()
        return legal

    def record(self) -> RecordView:
        """What the text of the moves says besides them."""
        record = self._record
        return RecordView(
            players=list(record.players),
            result=None if record.result is None or self.session.is_over else result_words(record),
            comments=dict(record.comments),
            variations=record.variations,
            broken=record.broken or None,
        )

    def file(self) -> MatchFileView:
        session = self.session
        held = zip(session.names, self.seats, strict=True)
        stood_in = {session.plies[number].seat for number in self._stood_in}
        first, second = (
            name if offer is None else offer.label + WITH_STAND_IN * (seat in stood_in)
            for seat, (name, offer) in enumerate(held)
        )
        states = [session.state_before(number) for number in range(len(session.plies) + 1)]
        actions = [ply.action for ply in session.plies]
        made = written_record(record_of(self.game, states, actions, (first, second), has_resigned=session.has_resigned))
        return MatchFileView(name=f"{self.game.name}{made.ending}", text=made.text)
