"""Matches with a person at the board: what the console and the page in the browser both stand on.

A session holds the match at hand and nothing of how it is shown. Whoever shows it goes round this loop:

    while not session.is_over:
        if session.awaits_person:
            session.play(action)  # what the person chose
        else:
            session.advance()  # a player acts, or a person who has no choice passes

Its random numbers depend on the key, the number of the match and the ply alone, so the same person's actions give the
same match, and an action that was taken back finds the same numbers again.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.random_numbers import Draws
from selfplay.errors import ForfeitError, NotNowError
from selfplay.games.game import Game
from selfplay.games.match_record import Forfeit, forfeited_state
from selfplay.games.state import State
from selfplay.matches.arena import seats_held
from selfplay.matches.running_results import RunningResults, results_text
from selfplay.players.capabilities import Explores, FollowsMatch, LearnsFromMatches, ValuesActions
from selfplay.players.player import Player
from selfplay.playing.match_history import MatchHistory, Ply

HUMAN = "human"
"""The name of a person among the names of players."""

Values = NDArray[np.float32]
"""float32[A]: the value of each action to the player to move; nan where illegal."""


class Session:
    """Matches between two players, either or both of them a person, one after the other.

    A match counts, and players that learn see it, once: as it first ended. Its end can be taken back to try something
    else, and what follows is practice (`is_practice`), because nobody can unlearn a match.

    Args:
        players: the two players; None is a person. A player that plays against itself stands there twice.
        key: the stream of random numbers, from `selfplay.compute.random_numbers.stream_key`.
        first: which of the two (0 or 1) moves first in the first match.
        match: the number of the first match.

    Attributes:
        match: the number of the match at hand.
        first: which of the two players moves first in it.
        results: how the matches so far ended.
        is_practice: whether the match goes on after its end was taken back.
    """

    def __init__(
        self, game: Game, players: tuple[Player | None, Player | None], key: int, *, first: int = 0, match: int = 0
    ) -> None:
        self.game, self.players, self.key = game, players, key
        self.match = match
        self.results = RunningResults()
        self._legal: tuple[State, tuple[int, ...]] | None = None
        self._begin(first)

    def _begin(self, first: int) -> None:
        self.first = first
        self.is_practice = False
        self._is_counted = False
        self._have_learned: list[Player] = []
        self._history = MatchHistory(self.game.init())
        self._values: dict[int, Values | None] = {}

    # ------------------------------------------------------------------ how the match stands

    @property
    def state(self) -> State:
        """The position at hand, a batch of one."""
        return self._history.states[-1]

    def state_before(self, ply: int | None) -> State:
        """The position before that ply of the match, from 0; None: the one at hand."""
        return self._history.states[-1 if ply is None else ply]

    @property
    def plies(self) -> tuple[Ply, ...]:
        return tuple(self._history.plies)

    @property
    def is_over(self) -> bool:
        return bool(self.state.terminated)

    @property
    def to_move(self) -> int:
        """The seat to move: 0 moves first, 1 second. Of no meaning in a match that is over."""
        return int(self.state.current_player)

    @property
    def seats(self) -> tuple[Player | None, Player | None]:
        """Who sits where: the one who moves first, and the other."""
        return self.players[self.first], self.players[1 - self.first]

    @property
    def names(self) -> tuple[str, str]:
        """The names of those who move first and second."""
        one, other = (HUMAN if player is None else player.name for player in self.seats)
        return one, other

    @property
    def legal_actions(self) -> tuple[int, ...]:
        """In ascending order; none in a match that is over."""
        # Asked several times in each position, which stays the same object.
        if self._legal is None or self._legal[0] is not self.state:
            actions = tuple(self.game.legal_action_mask(self.state)[0].nonzero()[:, 0].tolist())
            self._legal = (self.state, actions)
        return self._legal[1]

    @property
    def can_only_pass(self) -> bool:
        """Whether who is to move has no choice."""
        return self.game.pass_action is not None and self.legal_actions == (self.game.pass_action,)

    @property
    def awaits_person(self) -> bool:
        """Whether it is for a person to choose; one who can only pass has no choice."""
        return not self.is_over and self.seats[self.to_move] is None and not self.can_only_pass

    @property
    def can_undo(self) -> bool:
        return self._history.last_choice is not None

    @property
    def winner(self) -> int | None:
        """The seat that has won; None after a draw and while the match goes on."""
        returns = float(self.state.returns)
        return None if returns == 0 else 0 if returns > 0 else 1

    @property
    def result_text(self) -> str | None:
        """How the match ended, in the words of the game; None while it goes on."""
        if not self.is_over:
            return None
        return "A draw." if self.winner is None else f"{self.game.player_names[self.winner]} wins."

    @property
    def result_to_person(self) -> str | None:
        """As `result_text`, addressed to the person if exactly one of the players is a person."""
        if self.winner is None or self.seats.count(None) != 1:
            return self.result_text
        return "You win." if self.seats[self.winner] is None else "You lose."

    def standing(self) -> str | None:
        """Counts and rates of the matches so far, and what players that learn know; None before the first end."""
        if not self.results.matches:
            return None
        return results_text(self.game, self.results, *(player for player in self.players if player is not None))

    # ------------------------------------------------------------------ what happens

    def play(self, action: int) -> Ply:
        """The person to move takes `action`.

        Raises:
            IllegalActionError: it is not legal here; the message names those that are.
            NotNowError: it is not for a person to choose.
            What `after_match` of a learner raises at the end of the match: then the action has not been taken.
        """
        if not self.awaits_person:
            raise NotNowError("the match is over" if self.is_over else "it is not a person's turn")
        return self._step(torch.tensor([action]), by_person=True)

    def advance(self) -> Ply:
        """Go on by one ply without a person's choice: a player acts, or a person who can only pass does.

        Raises:
            NotNowError: the match is over or a person has to choose.
            ForfeitError: the player gives up; the match is over then, and counts as lost by it.
            What `play` raises at the end of the match.
        """
        if self.is_over or self.awaits_person:
            raise NotNowError("the match is over" if self.is_over else "it is a person's turn")
        player = self.seats[self.to_move]
        if self.can_only_pass or player is None:
            return self._step(torch.tensor([self.game.pass_action]), by_person=player is None, is_forced=True)
        draws = Draws(self.key, torch.tensor([self.match]), len(self._history))
        exploring = player.as_a(Explores)
        is_random = None if exploring is None else bool(exploring.explores(draws))
        if (follower := player.as_a(FollowsMatch)) is not None:
            follower.follow([ply.action for ply in self._history.plies])
        try:
            action = player.act(self.state, draws)
        except ForfeitError as error:
            forfeit = Forfeit(self.match, self.first ^ self.to_move, str(error))
            self._history.states[-1] = forfeited_state(self.state)
            if not self._is_counted:
                self._count(forfeit)
            raise
        return self._step(action, is_random=is_random)

    def undo(self) -> tuple[Ply, ...]:
        """Go back to where a person chose last; the plies taken back, the opponent's reply among them.

        Raises NotNowError if no person has chosen anything in this match.
        """
        choice = self._history.last_choice
        if choice is None:
            raise NotNowError("there is no action of yours to take back")
        taken_back = self._history.take_back(choice)
        self._values = {ply: values for ply, values in self._values.items() if ply < choice}
        self.is_practice = self._is_counted
        return taken_back

    def new_match(self, first: int | None = None) -> None:
        """Begin the next match; one that is not over is given up and counts for nothing.

        Args:
            first: which of the two players (0 or 1) moves first; None: the same as before.
        """
        # A match in which nothing has happened yet only changes its seats.
        self.match += 1 if self._history.plies else 0
        self._begin(self.first if first is None else first)

    def take_over(self, number: int, player: Player | None) -> None:
        """Another player, or a person, goes on in the place of player `number`, 0 or 1, from the position at hand.

        The results so far were those of the one before, so they are counted anew. What was thought of actions is asked
        anew too, of the new player.
        """
        one, other = self.players
        self.players = (player, other) if number == 0 else (one, player)
        self.results = RunningResults()
        self._values = {}

    def _step(
        self, action: Tensor, *, by_person: bool = False, is_forced: bool = False, is_random: bool | None = None
    ) -> Ply:
        # What is not legal is left to the check of `step`, which says why.
        is_legal = int(action) in self.legal_actions
        following = (self.game.step_unchecked if is_legal else self.game.step)(self.state, action)
        text = self.game.action_to_string(int(action))
        self._history.add(Ply(self.to_move, int(action), text, by_person, is_forced, is_random), following)
        if self.is_over and not self._is_counted:
            self._count_or_take_back()
        return self._history.plies[-1]

    def _count_or_take_back(self) -> None:
        """Count the match that has ended; if a learner cannot learn now, its last ply has not been either."""
        try:
            self._count()
        except BaseException:
            self._history.take_back(len(self._history) - 1)
            raise

    def _count(self, *forfeits: Forfeit) -> None:
        """Show the match that has ended to the players that learn, unless it was forfeited, and count it."""
        learning = {player: player.as_a(LearnsFromMatches) for player in self.players if player is not None}
        learners = {player: learner for player, learner in learning.items() if learner is not None and not forfeits}
        if learners:
            # What a learner thought before each ply is gone once it has learned from the match.
            for ply in range(len(self._history)):
                self.action_values(ply)
        record = self._history.record(self.match, self.first, *forfeits)
        for player, learner in learners.items():
            # Of two learners one may have learned before the other could not.
            if player not in self._have_learned:
                learner.after_match(record, seats_held(self.players, player, self.first))
                self._have_learned.append(player)
        self.results = self.results.with_record(record)
        self._is_counted = True

    # ------------------------------------------------------------------ what is known

    def action_values(self, ply: int | None = None) -> Values | None:
        """What the player to move thinks of each action, or its opponent if the player to move is a person.

        Worked out when it is first asked for, because some players search for long, and kept then.

        Args:
            ply: before which ply of the match, from 0; None: in the position at hand.

        Returns:
            None if neither thinks anything of actions, or the match is over.
        """
        number = len(self._history) if ply is None else ply
        if number not in self._values:
            adviser, state = self.adviser(number), self.state_before(number)
            valuing = None if adviser is None or bool(state.terminated) else adviser.as_a(ValuesActions)
            self._values[number] = None if valuing is None else valuing.action_values(state)[0].numpy()
        return self._values[number]

    def known_values(self, ply: int | None = None) -> Values | None:
        """What `action_values` has returned for that ply before; None if it was not called or returned None."""
        return self._values.get(len(self._history) if ply is None else ply)

    def adviser(self, ply: int | None = None) -> Player | None:
        """Whose values `action_values` gives: the player to move, or else its opponent; None if both are people."""
        seat = int(self.state_before(ply).current_player)
        own, other = self.seats[seat], self.seats[1 - seat]
        return other if own is None else own
