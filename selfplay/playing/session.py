"""Matches in which people may play: the common basis of the console, the page and the GTP engine.

A session holds the current match and is independent of the user interface, which runs this loop:

    while not session.is_over:
        if session.awaits_person:
            session.play(action)  # the choice of the person
        else:
            session.advance()  # a player acts, or a person who can only pass does so

The random numbers depend only on the key, the number of the match and the ply. So the same actions of the person lead
to the same match, and an action that is taken back and played again gets the same reply.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

import torch

from selfplay.compute.random_numbers import Draws
from selfplay.errors import ForfeitError, IllegalActionError, NotNowError, ResignError
from selfplay.games.game import Game
from selfplay.games.state import Forfeit, MatchRecord, State, forfeited_state
from selfplay.games.win_draw_loss import RunningResults
from selfplay.matches.arena import results_text, seats_held
from selfplay.players.capabilities import Explains, FollowsMatch, learners_among
from selfplay.players.perfect import endgame_player
from selfplay.players.player import Player
from selfplay.playing.counting import without_stones
from selfplay.playing.estimates import Estimate, estimate_of
from selfplay.playing.result_text import result_of, result_text, winner_of
from selfplay.search.shared_solver import NotSolvedYetError
from selfplay.settings.fields import PERSON

Players = tuple[Player | None, Player | None]
"""Two players; None is a person."""


class Ply(NamedTuple):
    """One ply of a match in which people may play."""

    seat: int
    """The seat that acted: 0 moves first, 1 second."""
    action: int
    text: str
    by_person: bool
    is_forced: bool
    is_random: bool | None
    """Whether an exploring player acted at random; None for a person, a forced pass or a player that never explores."""
    reason: str | None = None
    """Why the player chose the action, if the player explains its actions."""


class Session:
    """Matches between two players, either or both of them a person, one after the other.

    A match is counted, and passed to players that learn, only when it ends for the first time. The end can be taken
    back to try something else. What follows is practice (`is_practice`) and not counted, because a learner cannot
    unlearn a match.

    Args:
        players: the two players; None is a person. To let a player play against itself, give it twice.
        key: the stream of random numbers, from `selfplay.compute.random_numbers.stream_key`.
        first_player: which of the two (0 or 1) moves first in the first match.

    Attributes:
        match: the number of the current match; the first is the number that a learning player has seen, so that it
            does not repeat a match.
        is_practice: whether the match does not count: its end was taken back, or it began in a given position.
        has_resigned: whether a player, or a person, has given the match up.
        results: the results of the matches counted so far.
        plies: those of the current match so far.
        estimates: those computed in the current match, by ply; see `estimate`.

    Examples:
        >>> game = selfplay.make_game("tictactoe")
        >>> session = selfplay.Session(game, (None, selfplay.make_player("perfect", game)), key=0)
        >>> ply = session.play(game.string_to_action("1,1"))
        >>> ply = session.advance()  # perfect play replies to the centre with a corner
        >>> print(selfplay.Board(game, session.state))
        . . .
        . X .
        O . .
    """

    def __init__(self, game: Game, players: Players, key: int, first_player: int = 0) -> None:
        self.game, self.players, self.key = game, players, key
        self.match = max((learner.matches_seen() for learner in learners_among(players).values()), default=0)
        self.results = RunningResults()
        self._begin(first_player)

    def _begin(self, first_player: int, start: State | None = None) -> None:
        self.first_player = first_player
        self.is_practice = self._is_counted = self.has_resigned = False
        self._states, self.plies, self._have_learned = [start or self.game.init()], list[Ply](), list[Player]()
        self.estimates: dict[int, Estimate | None] = {}

    def resume(
        self, actions: Sequence[int], *, start: State | None = None, is_practice: bool = False, counts: bool = False
    ) -> None:
        """Begin a match with these actions, such as one that was saved.

        Args:
            actions: those of both players, without passes that are the only legal action.
            start: the position (B = 1) in which it begins; None: the start of the game. Such a match is practice.
            is_practice: whether the match does not count.
            counts: whether it counts if it is over, which it does not if it is only repeated.

        Raises IllegalActionError if an action is illegal or follows the end. The match then ends before it.
        """
        self._begin(self.first_player, start)
        # Marked as counted, so that no player learns from the end of a match that is only repeated or is practice.
        self._is_counted = not counts or is_practice or start is not None
        passing = (self.game.pass_action,)
        try:
            for number, action in enumerate(actions):
                legal = self.legal_actions
                if legal == passing and action != self.game.pass_action:
                    self._step(action=None)
                    legal = self.legal_actions
                if self.is_over:
                    raise IllegalActionError(f"the match is over after {number} moves, but {len(actions)} are given")
                self._step(None if legal == passing else action, is_legal=action in legal)
        finally:
            self.is_practice = is_practice or start is not None
            self._is_counted = self.is_practice or self.is_over

    @property
    def state(self) -> State:
        """The current position, a batch of one."""
        return self._states[-1]

    @property
    def states(self) -> State:
        """The position before each ply, and the current one, as a batch."""
        return State(*map(torch.cat, zip(*self._states, strict=True)))

    def state_before(self, ply: int | None) -> State:
        """The position before a ply of the match, numbered from 0; None: the current position.

        Raises NotNowError if the match has no such ply.
        """
        return self._states[-1 if ply is None else self._reached(ply)]

    def _reached(self, ply: int) -> int:
        """`ply`, before which the match has a position. Raises NotNowError if it has none."""
        if not 0 <= ply <= len(self.plies):
            raise NotNowError(f"the match has positions before the plies 0 to {len(self.plies)}, not before {ply}")
        return ply

    @property
    def draws(self) -> Draws:
        """The random numbers of the next ply."""
        return self.draws_before(None)

    def draws_before(self, ply: int | None) -> Draws:
        """The random numbers of a ply of the match, numbered from 0; None: of the next one."""
        return Draws(self.key, torch.tensor([self.match]), len(self.plies) if ply is None else ply)

    @property
    def is_over(self) -> bool:
        return bool(self.state.terminated)

    @property
    def to_move(self) -> int:
        """The seat to move: 0 moves first, 1 second. Meaningless if the match is over."""
        return int(self.state.current_player)

    @property
    def seats(self) -> Players:
        """The player who moves first, and the other."""
        return self.players[self.first_player], self.players[1 - self.first_player]

    @property
    def names(self) -> tuple[str, str]:
        """The names of the players who move first and second."""
        one, other = (PERSON if player is None else player.name for player in self.seats)
        return one, other

    @property
    def legal_actions(self) -> tuple[int, ...]:
        """The legal actions in ascending order; empty if the match is over."""
        return tuple(self.game.legal_action_mask(self.state)[0].nonzero()[:, 0].tolist())

    @property
    def can_only_pass(self) -> bool:
        return self.game.pass_action is not None and self.legal_actions == (self.game.pass_action,)

    @property
    def awaits_person(self) -> bool:
        """Whether a person has to choose an action; False if the person can only pass."""
        return not self.is_over and self.seats[self.to_move] is None and not self.can_only_pass

    @property
    def winner(self) -> int | None:
        """The winning seat; None after a draw and before the end."""
        return winner_of(self.state)

    @property
    def result_text(self) -> str | None:
        """The result as a sentence, addressed to the person if exactly one plays; None before the end."""
        if not self.is_over:
            return None
        person = self.seats.index(None) if self.seats.count(None) == 1 else None
        return result_text(self.game, result_of(self.game, self.state, self.winner), person)

    def standing(self) -> str | None:
        """Counts and rates of the results so far, and what players report of themselves; None before the first end."""
        if not self.results.matches:
            return None
        return results_text(self.game, self.results, *(player for player in self.players if player is not None))

    def play(self, action: int) -> Ply:
        """Take `action` for the person to move.

        Raises:
            IllegalActionError: the action is illegal; the message lists the legal ones.
            NotNowError: no person has to choose.
            Exception: any error of a player that learns from the match that has ended; the action is then not taken.
        """
        if not self.awaits_person:
            raise NotNowError("the match is over" if self.is_over else "it is not a person's turn")
        return self._step(action)

    def advance(self) -> Ply:
        """Play one ply that is not a person's choice: a player acts, or a person who can only pass does so.

        Raises:
            NotNowError: the match is over, or a person has to choose.
            ForfeitError: the player gives up; the match is then over and counted as its loss.
        """
        if self.is_over or self.awaits_person:
            raise NotNowError("the match is over" if self.is_over else "it is a person's turn")
        player = self.seats[self.to_move]
        if player is None or self.can_only_pass:
            return self._step(action=None)
        explores = player.explores(self.draws)
        is_random = None if explores is None else bool(explores)
        chooser = player.unwrapped
        reason = chooser.reason(self.state) if not is_random and isinstance(chooser, Explains) else None
        try:
            action = self.choice_of(player)
        except ForfeitError as error:
            self.has_resigned = isinstance(error, ResignError)
            forfeit = Forfeit(self.match, self.first_player ^ self.to_move, str(error), self.has_resigned)
            self._states[-1] = forfeited_state(self.state)
            if not self._is_counted:
                self._count(forfeit)
            raise
        return self._step(action, is_random, reason)

    def choice_of(self, player: Player) -> int:
        """The action that `player` takes in the current position. Raises ForfeitError if it gives up."""
        if isinstance(follower := player.unwrapped, FollowsMatch):
            follower.follow([ply.action for ply in self.plies])
        return int(player.act(self.state, self.draws))

    def _step(
        self, action: int | None, is_random: bool | None = None, reason: str | None = None, *, is_legal: bool = False
    ) -> Ply:
        """Take an action of the player to move; None: the pass that is the only legal action.

        `is_legal`: whether this is known, so that it need not be checked.
        """
        seat, taken = self.to_move, self.game.pass_action if action is None else action
        assert taken is not None
        step = self.game.step_unchecked if is_legal else self.game.step
        following, text = step(self.state, torch.tensor([taken])), self.game.action_text(taken, seat)
        self.plies.append(Ply(seat, taken, text, self.seats[seat] is None, action is None, is_random, reason))
        self._states.append(following)
        if self.is_over and not self._is_counted:
            try:
                self._count()
            except BaseException:
                # A player could not learn from the match, so the last ply is undone.
                self.rewind(len(self.plies) - 1)
                raise
        return self.plies[-1]

    def _count(self, *forfeits: Forfeit) -> None:
        """Count the match that has ended, and let players learn from it; again after an error, but each only once."""
        number, seats = torch.tensor([self.match]), torch.tensor([self.first_player], dtype=torch.int8)
        actions = tuple(torch.tensor([ply.action]) for ply in self.plies)
        record = MatchRecord(number, seats, tuple(self._states), actions, forfeits)
        learners = learners_among(self.players)
        if learners and not forfeits:
            # Learning changes the values of a player, so those of this match are computed before.
            for ply in range(len(self.plies)):
                self.estimate(ply)
            for player, learner in learners.items():
                if player not in self._have_learned:
                    learner.after_match(record, seats_held(self.players, player, self.first_player))
                    self._have_learned.append(player)
        self.results = self.results.with_record(record)
        self._is_counted = True

    @property
    def is_counted_by_people(self) -> bool:
        """Whether both have passed in a match with people in which stones can be dead, who then say which are."""
        last = [ply.action for ply in self.plies[-2:]]
        have_passed = len(last) == 2 and not any(map(self.game.presentation.pointed_squares, last))
        return have_passed and self.is_over and self.game.rules.safe is not None and None in self.players

    def take_off(self, dead: Iterable[int]) -> None:
        """Count the match that is over without the stones on these squares. Players do not learn this result, but that
        of the rules.

        Raises NotNowError unless `is_counted_by_people`, and IllegalActionError as `without_stones`.
        """
        if not self.is_counted_by_people:
            raise NotNowError("stones can only be dead where both players have passed")
        self._states[-1] = without_stones(self.game, self.state, dead)

    def end(self, loser: int | None) -> None:
        """End the match before its rules do: a seat has resigned, or, None, both sides agree on a draw. Players do not
        learn from it.

        Raises NotNowError if it is over, or no person plays.
        """
        if self.is_over or None not in self.players:
            raise NotNowError("the match is over" if self.is_over else "no person plays")
        returned = 0.0 if loser is None else 2.0 * loser - 1.0
        over, returns = torch.ones_like(self.state.terminated), torch.full_like(self.state.returns, returned)
        self._states[-1] = self.state._replace(terminated=over, returns=returns)
        self.has_resigned = loser is not None

    def undo(self) -> list[Ply]:
        """Take back and return the last action of a person and all plies after it. Raises NotNowError without one."""
        chosen = [number for number, ply in enumerate(self.plies) if ply.by_person and not ply.is_forced]
        if not chosen:
            raise NotNowError("you have not taken an action yet")
        return self.rewind(chosen[-1])

    def rewind(self, ply: int) -> list[Ply]:
        """Take back and return this ply, numbered from 0, and all after it. Raises NotNowError if there is none."""
        ply = self._reached(ply)
        # If the match has not been counted yet, it may still be counted at its end.
        self.is_practice = self.is_practice or self._is_counted
        taken = self.plies[ply:]
        del self.plies[ply:], self._states[ply + 1 :]
        self.estimates = {number: found for number, found in self.estimates.items() if number < ply}
        return taken

    def new_match(self, first_player: int | None = None) -> None:
        """Abandon this match and begin the next one. `first_player` moves first in it; None: the same as before."""
        # A match that has not begun keeps its number.
        self.match += 1 if self.plies or self.is_over else 0
        self._begin(self.first_player if first_player is None else first_player)

    def estimate(self, ply: int | None = None, adviser: Player | None = None) -> Estimate | None:
        """What is expected of the actions in the position before `ply`; None if nobody there values actions.

        The values are those of `adviser`; without one, of the player who moves there, or of the opponent of a person.
        Near the end, unless that player itself values the actions of a match without people, they are the exact values
        of `endgame_player`. They are computed at the first call for each position and kept, because some players
        search for a long time.
        """
        number = len(self.plies) if ply is None else ply
        state, draws = self.state_before(number), self.draws_before(number)
        seat = int(state.current_player)
        player = self.seats[seat]
        adviser = adviser or player or self.seats[1 - seat]
        known, is_shown = self.estimates.get(number), None in self.players or adviser is not player
        solver = endgame_player(self.game, state) if is_shown and (known is None or not known.is_exact) else None
        if solver is not None:
            with suppress(NotSolvedYetError):
                self.estimates[number] = estimate_of(solver, self.game, state, draws)
        if number not in self.estimates:
            self.estimates[number] = None if adviser is None else estimate_of(adviser, self.game, state, draws)
        return self.estimates[number]
