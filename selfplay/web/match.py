"""One match in a browser: of a person against an opponent, between two people, or between two opponents."""

import asyncio
import hashlib
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from selfplay.compute.random_numbers import Activity, fold, stream_key
from selfplay.errors import SelfPlayError
from selfplay.games import Game
from selfplay.players.perfect import endgame_player, perfect_player_of
from selfplay.players.player import Player
from selfplay.playing.estimates import Estimate, Judge, grade_of
from selfplay.playing.hints import hint
from selfplay.playing.match_description import describe
from selfplay.playing.session import Session
from selfplay.search.shared_solver import NotSolvedYetError, Solving
from selfplay.web.opponents import NotFoundError
from selfplay.web.schemas import (
    HintView,
    JudgedView,
    MatchFileView,
    MatchView,
    NewMatchRequest,
    OfferedPlayer,
    People,
    PositionRequest,
)

PERFECT_PLAY = "Perfect play"
"""Who exact values are from."""


class StaleError(SelfPlayError):
    """The page shows an outdated position of the match."""


class Participant(NamedTuple):
    """An opponent with its player."""

    offer: OfferedPlayer
    player: Player


class Match:
    """A session in which people and opponents play, as shown by the page.

    Its random numbers depend only on the seed, its id, the number of the match and the ply.

    Args:
        match_id: the id by which the page refers to it.
        people: which seats people hold. A person who plays against the opponent is player 0 of the session.
        opponent: plays against the person; values the actions of a match between two people.
        partner: moves first in a match without people; None: the opponent.
        evaluator: values the actions; None: the players do, and the opponent in place of people. If one of them does
            not estimate values, the judge values all actions, unless the exact values are known.
        judge: values actions of which the exact value is not known.

    Attributes:
        lock: held by the request that uses the match; use all other attributes and methods only while holding it.
    """

    def __init__(
        self,
        match_id: str,
        game: Game,
        people: People,
        opponent: Participant,
        partner: Participant | None,
        evaluator: Participant | None,
        judge: OfferedPlayer,
        seed: int,
    ) -> None:
        self.id, self.game, self.people = match_id, game, people
        self.opponent, self.partner, self.evaluator = opponent, partner, evaluator
        self.judge_offer, self.judge = judge, Judge(game, judge.make)
        one, other = (None if participant is None else participant.player for participant in self._numbered)
        number = int.from_bytes(hashlib.sha256(match_id.encode()).digest()[:8], "big", signed=True)
        key = int(fold(np.array([stream_key(seed, 0, Activity.VERSUS_PERSON)]), np.array([number]))[0])
        self.session = Session(game, (one, other), key, first_player=int(people is People.SECOND))
        self.session.evaluator = self._evaluating_player
        self.lock = asyncio.Lock()
        self.position: PositionRequest | None = None

    @property
    def _numbered(self) -> tuple[Participant | None, Participant | None]:
        """The two players of the session; None is a person."""
        one = self.partner or self.opponent if self.people is People.NONE else None
        return one, None if self.people is People.BOTH else self.opponent

    @property
    def seats(self) -> list[OfferedPlayer | None]:
        """Who holds each seat; None for a person."""
        offers = [None if participant is None else participant.offer for participant in self._numbered]
        return offers[::-1] if self.people is People.SECOND else offers

    @property
    def offers(self) -> list[OfferedPlayer]:
        """The opponents, each of which may act or value actions."""
        return [self.opponent.offer, self._valuing, *filter(None, self.seats)]

    # ------------------------------------------------------------------ what a person can do

    def begin(self, request: NewMatchRequest) -> MatchView:
        """Take the actions of a match that is continued. Raises SettingError, IllegalActionError."""
        self.position, start = request.position, self.game.start_of_transcript(request.moves)
        if self.position is not None:
            start = self.game.set_up(self.position.squares, self.position.to_move)
        elif start is not None:
            squares: Any = self.game.squares(start)[0].tolist()
            self.position = PositionRequest(squares=squares, to_move=0 if int(start.current_player) == 0 else 1)
        actions = self.game.read_transcript(request.moves, start)
        if start is not None or actions or request.is_practice:
            self.session.resume(actions, start=start, is_practice=request.is_practice)
            self._value_plies()
        return self.view()

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
                if self.people is People.NONE:
                    return

    def new_match(self, person: People) -> None:
        """Begin the next match against the same opponent. If one person plays, `person` is their seat."""
        if self.people in (People.FIRST, People.SECOND):
            self.people = person
        self.position = None
        self.session.new_match(int(self.people is People.SECOND))

    def take_over(
        self, opponent: Participant, partner: Participant | None = None, evaluator: Participant | None = None
    ) -> MatchView:
        """Let other opponents continue the match. Unless they are slow, they also value the plies played so far."""
        before = self._numbered
        self.opponent, self.partner, self.evaluator = opponent, partner, evaluator
        self.session.evaluator, self.session.estimates = self._evaluating_player, {}
        for number, (earlier, participant) in enumerate(zip(before, self._numbered, strict=True)):
            # The score of the same players is kept.
            if participant is not None and (earlier is None or earlier.offer.id != participant.offer.id):
                self.session.take_over(number, participant.player)
        self._value_plies()
        return self.view()

    def _value_plies(self) -> None:
        if not any(offer.is_slow for offer in self.offers):
            for number, ply in enumerate(self.session.plies):
                if not ply.is_forced:
                    with suppress(NotSolvedYetError):
                        self.session.estimate(number)

    def _value_actions(self) -> None:
        """Compute the values of the actions before one is taken, so that the page can show its expected value later."""
        if not self.session.is_over and not self.session.can_only_pass:
            self.session.estimate()

    # ------------------------------------------------------------------ what is shown

    def view(self, ply: int | None = None) -> MatchView:
        """The current match, with the values of the legal actions if a person has to choose.

        Args:
            ply: show the position before this ply with the values of its actions; None: the current position.

        Raises NotFoundError if the match has fewer plies.
        """
        self._check_ply(ply)
        with suppress(NotSolvedYetError):
            if ply is not None or self.session.awaits_person:
                self.session.estimate(ply)
        description, actions = vars(describe(self.session, ply)), [played.action for played in self.session.plies]
        return MatchView(
            **description | {"adviser": None if description["adviser"] is None else self._valuing.label},
            id=self.id,
            opponent=self.opponent.offer,
            person_seat={People.FIRST: 0, People.SECOND: 1}.get(self.people),
            people=self.people,
            evaluator=None if self.evaluator is None else self.evaluator.offer,
            judge=self.judge_offer,
            score=self._score(),
            seats=self.seats,
            position=self.position,
            opening=None if self.position else self.game.presentation.opening(actions),
        )

    @property
    def _evaluating_player(self) -> Player | None:
        """Who values the actions in place of the players; None if they do. Between two people it is the opponent."""
        if self.evaluator is not None:
            return self.evaluator.player
        if self._valuing is self.judge_offer:
            return self.judge.player
        return self.opponent.player if self.people is People.BOTH else None

    @property
    def _valuing(self) -> OfferedPlayer:
        """Who values the actions of people."""
        if self.evaluator is not None:
            return self.evaluator.offer
        all_estimate = all(offer.estimates for offer in [self.opponent.offer, *filter(None, self.seats)])
        is_judged = not all_estimate and perfect_player_of(self.game) is None
        return self.judge_offer if is_judged else self.opponent.offer

    def _score(self) -> str | None:
        counts, (one, other) = self.session.results.by_player, self._numbered
        if counts.matches == 0:
            return None
        names = ["You" if one is None else one.offer.label, "You" if other is None else other.offer.label]
        if one is other is None:
            names = [name.capitalize() for name in self.game.presentation.player_names]
        drawn = f", {counts.draws} drawn" if counts.draws else ""
        return f"{names[0]} {counts.wins} : {counts.losses} {names[1]}{drawn}"

    def _check_ply(self, ply: int | None) -> None:
        if ply is not None and ply > len(self.session.plies):
            raise NotFoundError(f"this match has only {len(self.session.plies)} plies")

    def hint(self, ply: int | None = None) -> HintView:
        """The best action that is known, without waiting for exact values. `ply`: as for `solving`.

        Raises:
            NotFoundError: the match has fewer plies.
            NotNowError: the match is over.
        """
        self._check_ply(ply)
        state = self.session.state_before(ply)
        action, estimate, line = hint(self.session, self.judge, ply, time_limit=0.0)
        value = estimate.value(action)
        assert value is not None, "the judge knows the value of its best action"
        return HintView(
            action=action,
            text=self.game.presentation.action_named(action, int(state.current_player)),
            square=self.game.presentation.placed_squares(state, [action])[0],
            value=value,
            words=estimate.words(action),
            in_points=estimate.in_points,
            source=self._source(estimate),
            line=self.game.line_texts(line, state),
        )

    def _source(self, estimate: Estimate) -> str:
        return PERFECT_PLAY if estimate.is_exact else self.judge_offer.label

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

    def judged(self, ply: int | None = None) -> JudgedView:
        """The best known value of each legal action: exact ones as far as they are known. `ply`: as for `solving`."""
        solving, state = self.solving(ply), self.session.state_before(ply)
        actions = self.game.legal_action_mask(state)[0].nonzero()[:, 0].tolist()
        texts = [self.game.action_text(action, int(state.current_player)) for action in actions]
        if solving is not None:
            return self._solved(solving, actions, texts)
        estimate = self.judge.estimate(state, self.session.draws_before(ply))
        if estimate is None:
            return JudgedView(
                kind=None,
                is_exact=True,
                source=PERFECT_PLAY,
                actions=[],
                texts=[],
                values=None,
                words=None,
                grades=[],
                is_complete=True,
            )
        return JudgedView(
            kind=estimate.kind,
            is_exact=estimate.is_exact,
            source=self._source(estimate),
            actions=actions,
            texts=texts,
            values=list(map(estimate.value, actions)),
            words=list(map(estimate.words, actions)),
            grades=list(map(estimate.grade, actions)),
            is_complete=estimate.is_exact or endgame_player(self.game, state) is None,
        )

    def _solved(self, solving: Solving, actions: list[int], texts: list[str]) -> JudgedView:
        perfect, is_complete = perfect_player_of(self.game), solving.finished.done()
        assert perfect is not None, "it solves the position"
        values = [solving.values.get(action) for action in actions]
        best = max((value for value in values if value is not None), default=None) if is_complete else None
        return JudgedView(
            kind=perfect.value_kind,
            is_exact=True,
            source=PERFECT_PLAY,
            actions=actions,
            texts=texts,
            values=[None if value is None else float(value) for value in values],
            words=[None if value is None else perfect.value_text(value, solving.state) for value in values],
            grades=[grade_of(value, best, perfect.value_kind, is_exact=True) for value in values],
            is_complete=is_complete,
        )

    def file(self) -> MatchFileView:
        session = self.session
        held = zip(session.names, self.seats, strict=True)
        first, second = (name if offer is None else offer.label for name, offer in held)
        states = [session.state_before(number) for number in range(len(session.plies) + 1)]
        made = self.game.presentation.match_file(states, [ply.action for ply in session.plies], (first, second))
        return MatchFileView(name=f"{self.game.name}{made.ending}", text=made.text)
