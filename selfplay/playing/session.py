"""Matches in which people may play: the common basis of the console and the web page.

A session holds the current match and is independent of the user interface, which runs this loop:

    while not session.is_over:
        if session.awaits_person:
            session.play(action)  # the choice of the person
        else:
            session.advance()  # a player acts, or a person who can only pass does so

The random numbers depend only on the key, the number of the match and the ply. So the same actions of the person lead
to the same match, and an action that is taken back and played again gets the same reply.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Draws
from selfplay.errors import ForfeitError, IllegalActionError, NotNowError
from selfplay.games.game import Game
from selfplay.games.match_record import Forfeit, forfeited_state
from selfplay.games.state import State
from selfplay.matches.running_results import RunningResults, results_text
from selfplay.players.capabilities import ExplainsActions, Explores, FollowsMatch
from selfplay.players.player import Player
from selfplay.playing.match_counter import MatchCounter, learners_among
from selfplay.playing.match_history import MatchHistory, Ply
from selfplay.playing.seated_match import Players
from selfplay.playing.valued_match import ValuedMatch


class Session(ValuedMatch):
    """Matches between two players, either or both of them a person, one after the other.

    A match is counted, and passed to players that learn, only when it first ends. Its end can be taken back to try
    something else; the rest is then practice (`is_practice`) and not counted, because a learner cannot unlearn a match.

    Args:
        players: the two players; None is a person. To let a player play against itself, give it twice.
        key: the stream of random numbers, from `selfplay.compute.random_numbers.stream_key`.
        first_player: which of the two (0 or 1) moves first in the first match.
        match: the number of the first match. None: 0, or the number of matches that a learning player has seen, so
            that it does not repeat a match.
        observer: values the actions of a match between two people; None: nobody does.

    Attributes:
        match: the number of the current match.
        is_practice: whether the match does not count: its end was taken back, or it began in a given position.
    """

    def __init__(
        self,
        game: Game,
        players: Players,
        key: int,
        *,
        first_player: int = 0,
        match: int | None = None,
        observer: Player | None = None,
    ) -> None:
        seen = (learner.matches_seen() for learner in learners_among(players).values())
        number = max(seen, default=0) if match is None else match
        super().__init__(game, players, first_player, key, number, observer)
        self._counter = MatchCounter()
        self._begin(first_player)

    def _begin(self, first_player: int, start: State | None = None) -> None:
        self.first_player = first_player
        self.is_practice = False
        self._counter.start_match()
        self._history = MatchHistory(self.game.init() if start is None else start)
        self._values = {}

    def resume(
        self,
        actions: Sequence[int],
        *,
        first_player: int | None = None,
        start: State | None = None,
        is_practice: bool = False,
    ) -> None:
        """Begin a match with these actions, such as one that was saved.

        A match that is over after them is not counted again.

        Args:
            actions: those of both players, without passes that are the only legal action.
            first_player: as for `new_match`.
            start: the position (B = 1) in which it begins; None: the start of the game. Such a match is practice.
            is_practice: whether the match does not count.

        Raises IllegalActionError if an action is illegal or follows the end. The match then ends before it.
        """
        self._begin(self.first_player if first_player is None else first_player, start)
        # Counted, so that no player learns from the end of a match that is only repeated.
        self._counter.is_counted = True
        for number, action in enumerate(actions):
            if self.can_only_pass and action != self.game.pass_action:
                self._pass()
            if self.is_over:
                raise IllegalActionError(f"the match is over after {number} moves, but {len(actions)} are given")
            if self.can_only_pass:
                self._pass()
            else:
                self._step(torch.tensor([action]), by_person=self.seats[self.to_move] is None)
        self.is_practice = is_practice or start is not None
        self._counter.is_counted = self.is_practice or self.is_over

    @property
    def results(self) -> RunningResults:
        """The results of the matches counted so far."""
        return self._counter.results

    def standing(self) -> str | None:
        """Counts and rates of the results so far, and what players report of themselves; None before the first end."""
        if not self.results.matches:
            return None
        return results_text(self.game, self.results, *(player for player in self.players if player is not None))

    # ------------------------------------------------------------------ playing

    def play(self, action: int) -> Ply:
        """Take `action` for the person to move.

        Raises:
            IllegalActionError: the action is illegal; the message lists the legal ones.
            NotNowError: no person has to choose.
            Exception: any error of a player that learns from the match that has ended; the action is then not taken.
        """
        if not self.awaits_person:
            raise NotNowError("the match is over" if self.is_over else "it is not a person's turn")
        return self._step(torch.tensor([action]), by_person=True)

    def advance(self) -> Ply:
        """Play one ply that is not a person's choice: a player acts, or a person who can only pass does so.

        Raises:
            NotNowError: the match is over, or a person has to choose.
            ForfeitError: the player gives up; the match is then over and counted as its loss.
            Exception: any error that `play` raises at the end of a match.
        """
        if self.is_over or self.awaits_person:
            raise NotNowError("the match is over" if self.is_over else "it is a person's turn")
        player = self.seats[self.to_move]
        if self.can_only_pass or player is None:
            return self._pass()
        return self._advance_with(player)

    def _pass(self) -> Ply:
        by_person = self.seats[self.to_move] is None
        return self._step(torch.tensor([self.game.pass_action]), by_person=by_person, is_forced=True)

    def _advance_with(self, player: Player) -> Ply:
        draws = Draws(self.key, torch.tensor([self.match]), len(self._history))
        exploring = player.as_a(Explores)
        is_random = None if exploring is None else bool(exploring.explores(draws))
        explaining = None if is_random else player.as_a(ExplainsActions)
        reason = None if explaining is None else explaining.reason(self.state)
        if (follower := player.as_a(FollowsMatch)) is not None:
            follower.follow([ply.action for ply in self._history.plies])
        try:
            action = player.act(self.state, draws)
        except ForfeitError as error:
            forfeit = Forfeit(self.match, self.first_player ^ self.to_move, str(error))
            self._history.states[-1] = forfeited_state(self.state)
            if not self._counter.is_counted:
                self._count(forfeit)
            raise
        return self._step(action, is_random=is_random, reason=reason)

    def _step(
        self,
        action: Tensor,
        *,
        by_person: bool = False,
        is_forced: bool = False,
        is_random: bool | None = None,
        reason: str | None = None,
    ) -> Ply:
        # The check of `step` raises the error about an illegal action.
        is_legal = int(action) in self.legal_actions
        following = (self.game.step_unchecked if is_legal else self.game.step)(self.state, action)
        text = self.game.action_to_string(int(action))
        self._history.add(Ply(self.to_move, int(action), text, by_person, is_forced, is_random, reason), following)
        if self.is_over and not self._counter.is_counted:
            try:
                self._count()
            except BaseException:
                # A player could not learn from the match, so the last ply is undone.
                self._history.undo_to(len(self._history) - 1)
                raise
        return self._history.plies[-1]

    def _count(self, *forfeits: Forfeit) -> None:
        if learners_among(self.players) and not forfeits:
            # Learning changes the values of a player, so those of this match are computed before.
            for ply in range(len(self._history)):
                self.action_values(ply)
        self._counter.count(
            self._history.record(self.match, self.first_player, *forfeits), self.players, self.first_player
        )

    def undo(self) -> tuple[Ply, ...]:
        """Take back the last action that a person chose, and all plies after it; returns these plies.

        Raises NotNowError if no person has chosen an action in this match.
        """
        choice = self._history.last_choice
        if choice is None:
            raise NotNowError("you have not taken an action yet")
        return self.rewind(choice)

    def rewind(self, ply: int) -> tuple[Ply, ...]:
        """Take back this ply, numbered from 0, and all plies after it; returns these plies.

        Raises NotNowError if the match has fewer plies.
        """
        if ply > len(self._history):
            raise NotNowError(f"the match has only {len(self._history)} plies")
        taken_back = self._history.undo_to(ply)
        self._values = {number: values for number, values in self._values.items() if number < ply}
        # In a match that has not been counted, the rest may still be.
        self.is_practice = self.is_practice or self._counter.is_counted
        return taken_back

    def new_match(self, first_player: int | None = None) -> None:
        """Begin the next match. A match that is not over is abandoned and not counted.

        Args:
            first_player: which of the two players (0 or 1) moves first; None: the same as in the last match.
        """
        # A match without plies keeps its number.
        self.match += 1 if self._history.plies else 0
        self._begin(self.first_player if first_player is None else first_player)

    def take_over(self, number: int, player: Player | None) -> None:
        """Let another player, or a person, replace player `number` (0 or 1) in the current position.

        The results are reset to zero, and action values are computed again by the new player.
        """
        one, other = self.players
        self.players = (player, other) if number == 0 else (one, player)
        self._counter.results = RunningResults()
        self._values = {}
