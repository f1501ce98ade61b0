"""What the judge says of the positions of a requested match: values, hints, and exact values as they become known."""

from selfplay.players.estimates import Estimate
from selfplay.players.perfect import endgame_player, perfect_player_of
from selfplay.playing.hints import hint
from selfplay.playing.judge import Judge
from selfplay.playing.match_description import ValuedAction, valued_action
from selfplay.playing.session import Session
from selfplay.search.deadline import current_deadline
from selfplay.search.shared_solver import Solving
from selfplay.web.match_schemas import HintView, JudgedView, MatchRequest
from selfplay.web.participants import Participant, Participants
from selfplay.web.recent_estimates import RecentEstimates

PERFECT_PLAY = "Perfect play"
"""Who exact values are from."""
CUT_SHORT = " (as far as the time allowed)"
"""Said of who values actions, if the deadline has ended the search."""


class Judging:
    """The judge of a match, which is only lent when it is asked. Positions are given by the number of plies before.

    Args:
        recent: the values found for earlier requests.
    """

    def __init__(
        self, request: MatchRequest, session: Session, participants: Participants, recent: RecentEstimates
    ) -> None:
        self.request, self.session, self.game, self._recent = request, session, session.game, recent
        self.participants = participants

    @property
    def _participant(self) -> Participant:
        assert self.participants.lend_judge is not None, "players are lent to a match that is judged"
        return self.participants.lend_judge()

    @property
    def _judge(self) -> Judge:
        judge = self._participant.player
        assert isinstance(judge, Judge), "it is made by the offer of the judge"
        return judge

    def estimate(self, ply: int, *, values_all: bool = False) -> Estimate | None:
        """What the judge knows before a ply, where it compares the action of the match; None: the match is over."""
        state, plies = self.session.match.state_before(ply), self.session.plies
        played = plies[ply].action if ply < len(plies) else None
        key = "judged", self._participant.valuing(self.game, state), played, values_all
        estimate, is_late = self._recent.get(key), endgame_player(self.game, state) is not None
        if estimate is None or (is_late and not estimate.is_exact):
            estimate = self._judge.estimate(state, played, seconds=0.0, values_all=values_all)
            if estimate is not None:
                self._recent.keep(key, estimate)
        return None if estimate is None else self._judge.with_known(estimate)

    def hint(self, ply: int) -> HintView | None:
        """The best action that is known, without waiting for exact values; None if no time is left to search for it.

        Raises NotNowError if the match is over.
        """
        if current_deadline().is_over:
            return None
        state = self.session.match.state_before(ply)
        found, is_cut_short = self.estimate(ply), current_deadline().is_over
        action, estimate, line = hint(self.session, self._judge, ply, found)
        value = estimate.value(action)
        assert value is not None, "the judge knows the value of its best action"
        return HintView(
            action=action,
            text=self.game.presentation.action_in_sentence(state, action),
            value=value,
            words=estimate.words(action),
            in_points=estimate.in_points,
            source=self._source(estimate.knows(action), is_cut_short),
            line=self.game.line_texts(line, state),
            line_names=self.game.presentation.line_names(line, state),
            line_squares=self.game.presentation.line_squares(line, state),
        )

    def solving(self, ply: int) -> Solving | None:
        """The position as it is being solved; None if the game is too large, the match is over there, or only a move of
        it is reviewed."""
        state = self.session.match.state_before(ply)
        if bool(state.terminated):
            return None
        if (perfect := perfect_player_of(self.game)) is not None:
            return perfect.ask(state)
        # The values of a ply that is reviewed do not wait for those of all its actions.
        return self._judge.solving(state) if self.request.values_all or "hint" in self.request.show else None

    def judged(self, ply: int) -> JudgedView | None:
        """The best known value of each legal action: exact ones as far as they are known; None if no time is left."""
        solving = self.solving(ply)
        if solving is None or perfect_player_of(self.game) is None:
            return self._estimated(ply)
        return self._solved(solving)

    def _estimated(self, ply: int) -> JudgedView | None:
        """What the judge knows in a game that cannot be solved; None if no time is left."""
        if current_deadline().is_over:
            return None
        estimate = self.estimate(ply, values_all=self.request.values_all)
        if estimate is None:
            return JudgedView(kind=None, is_exact=True, source=PERFECT_PLAY, legal=[], is_complete=True)
        is_late, seat = endgame_player(self.game, estimate.state) is not None, int(estimate.state.current_player)
        names = self.game.presentation.legal_names(estimate.state)
        return JudgedView(
            kind=estimate.kind,
            is_exact=estimate.is_exact,
            source=self._source(estimate.is_exact, current_deadline().is_over),
            legal=[valued_action(self.game, seat, action, name, estimate) for action, name in names.items()],
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
                name=name,
                value=None if value is None else float(value),
                words=None if value is None else perfect.value_text(value, state),
            )
            for action, name in self.game.presentation.legal_names(state).items()
            for value in [solving.values.get(action)]
        ]
        return JudgedView(
            kind=perfect.value_kind, is_exact=True, source=PERFECT_PLAY, legal=legal, is_complete=is_complete
        )

    def _source(self, is_exact: bool, is_cut_short: bool) -> str:
        if is_exact:
            return PERFECT_PLAY
        return self.participants.judge.offer.label + (CUT_SHORT if is_cut_short else "")
