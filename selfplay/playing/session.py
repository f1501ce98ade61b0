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

from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

import torch

from selfplay.compute.random_numbers import Draws
from selfplay.errors import ForfeitError, NotNowError, ResignError
from selfplay.games import make_game
from selfplay.games.dead_stones import without_stones
from selfplay.games.game import Game
from selfplay.games.match import Match
from selfplay.games.state import Forfeit, MatchRecord
from selfplay.games.win_draw_loss import RunningResults
from selfplay.matches.arena import results_text, seats_held
from selfplay.players.capabilities import Explains, capability, chosen_action, learners_among
from selfplay.players.checked_player import checked_player
from selfplay.players.estimates import Estimate, estimate_of
from selfplay.players.perfect import endgame_player
from selfplay.players.player import Player
from selfplay.playing.result_text import result_of, result_text
from selfplay.records import Record
from selfplay.search.shared_solver import NotSolvedYetError
from selfplay.settings.common import PERSON

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
        match: the current match so far.
        number: its number; the first is the number that a learning player has seen, so that it does not repeat a
            match.
        is_practice: whether the match does not count: its end was taken back, or it began in a given position.
        results: the results of the matches counted so far.
        loaded: the record from which it was read, if it was.
        plies: those of the current match so far.
        estimates: those computed in the current match, by ply; see `estimate`.

    Examples:
        >>> game = selfplay.make_game("tictactoe")
        >>> session = selfplay.Session(game, (None, selfplay.make_player("perfect", game)), key=0)
        >>> ply = session.play(game.string_to_action("1,1"))
        >>> ply = session.advance()  # perfect play replies to the centre with a corner
        >>> print(session.match)
        . . .
        . X .
        O . .
    """

    def __init__(self, game: Game | str, players: Players, key: int, first_player: int = 0) -> None:
        game = make_game(game)
        one, other = (player if player is None else checked_player(player, game) for player in players)
        self.game, self.players, self.key = game, (one, one if players[1] is players[0] else other), key
        self.number = max((learner.matches_seen() for learner in learners_among(players).values()), default=0)
        self.results = RunningResults()
        self._begin(first_player)

    def _begin(self, first_player: int, match: Match | None = None) -> None:
        self.first_player, self.match = first_player, match or Match(self.game)
        self.loaded: Record | None = None
        self.is_practice = self._is_counted = False
        self.plies = [self._described(ply) for ply in range(len(self.match.actions))]
        self._have_learned = list[Player]()
        self.estimates: dict[int, Estimate | None] = {}

    def _described(self, ply: int, is_random: bool | None = None, reason: str | None = None) -> Ply:
        seat, action = int(self.match.states[ply].current_player), self.match.actions[ply]
        text, by_person = self.game.action_text(action, seat), self.seats[seat] is None
        return Ply(seat, action, text, by_person, self.match.is_forced(ply), is_random, reason)

    def resume(self, match: Match, *, is_practice: bool = False, counts: bool = False) -> None:
        """Go on with a match, such as one that was saved. One that begins in a position that was set up is practice.

        Args:
            is_practice: whether the match does not count.
            counts: whether it counts if it is over, which it does not if it is only repeated.
        """
        self._begin(self.first_player, match)
        self.is_practice = is_practice or match.is_set_up
        # Where it is marked as counted, no player learns from its end.
        self._is_counted = self.is_practice or (self.is_over and not counts)
        if self.is_over and not self._is_counted:
            self._count()

    @property
    def draws(self) -> Draws:
        """The random numbers of the next ply."""
        return self.draws_before(None)

    def draws_before(self, ply: int | None) -> Draws:
        """The random numbers of a ply of the match, numbered from 0; None: of the next one."""
        return Draws(self.key, torch.tensor([self.number]), len(self.plies) if ply is None else ply)

    @property
    def is_over(self) -> bool:
        return self.match.is_over

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
    def awaits_person(self) -> bool:
        """Whether a person has to choose an action; False if the person can only pass."""
        return not self.is_over and self.seats[self.match.to_move] is None and not self.match.can_only_pass

    @property
    def result_text(self) -> str | None:
        """The result as a sentence, addressed to the person if exactly one plays; None before the end."""
        if not self.is_over:
            return None
        person = self.seats.index(None) if self.seats.count(None) == 1 else None
        return result_text(self.game, result_of(self.match), person)

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
        match = self.match
        player = self.seats[match.to_move]
        if player is None or match.can_only_pass:
            return self._step(match.legal_actions()[0])
        explores = player.explores(self.draws)
        is_random = None if explores is None else bool(explores)
        explaining = None if is_random else capability(player, Explains)
        reason = None if explaining is None else explaining.reason(match.state)
        try:
            action = chosen_action(player, match, self.draws)
        except ForfeitError as error:
            has_resigned = isinstance(error, ResignError)
            self.match = match.lost_by(match.to_move, has_resigned=has_resigned)
            if not self._is_counted:
                self._count(Forfeit(self.number, self.first_player ^ match.to_move, str(error), has_resigned))
            raise
        return self._step(action, is_random, reason)

    def _step(self, action: int, is_random: bool | None = None, reason: str | None = None) -> Ply:
        """Take an action of the player to move."""
        self.match = self.match.play(action)
        self.plies.append(self._described(len(self.plies), is_random, reason))
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
        number, seats = torch.tensor([self.number]), torch.tensor([self.first_player], dtype=torch.int8)
        actions = tuple(torch.tensor([action]) for action in self.match.actions)
        record = MatchRecord(number, seats, self.match.states, actions, forfeits)
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
        last = self.match.actions[-2:]
        have_passed = len(last) == 2 and not any(map(self.game.presentation.pointed_squares, last))
        return have_passed and self.is_over and self.game.rules.safe is not None and None in self.players

    def take_off(self, dead: Iterable[int]) -> None:
        """Count the match that is over without the stones on these squares. Players do not learn this result, but that
        of the rules.

        Raises NotNowError unless `is_counted_by_people`, and IllegalActionError as `without_stones`.
        """
        if not self.is_counted_by_people:
            raise NotNowError("stones can only be dead where both players have passed")
        self.match = self.match.ended_as(without_stones(self.game, self.match.state, dead))
        self.loaded = None

    def end(self, loser: int | None) -> None:
        """End the match before its rules do: a seat has resigned, or, None, both sides agree on a draw. Players do not
        learn from it.

        Raises NotNowError if it is over, or no person plays.
        """
        if self.is_over or None not in self.players:
            raise NotNowError("the match is over" if self.is_over else "no person plays")
        self.match = self.match.lost_by(loser, has_resigned=loser is not None)

    def undo(self) -> list[Ply]:
        """Take back and return the last action of a person and all plies after it. Raises NotNowError without one."""
        chosen = [number for number, ply in enumerate(self.plies) if ply.by_person and not ply.is_forced]
        if not chosen:
            raise NotNowError("you have not taken an action yet")
        return self.rewind(chosen[-1])

    def rewind(self, ply: int) -> list[Ply]:
        """Take back and return this ply, numbered from 0, and all after it. Raises NotNowError if there is none."""
        before = self.match.before(ply)
        # If the match has not been counted yet, it may still be counted at its end.
        self.is_practice = self.is_practice or self._is_counted
        taken = self.plies[ply:]
        del self.plies[ply:]
        self.match = before
        self.estimates = {number: found for number, found in self.estimates.items() if number < ply}
        return taken

    def new_match(self, first_player: int | None = None) -> None:
        """Abandon this match and begin the next one. `first_player` moves first in it; None: the same as before."""
        # A match that has not begun keeps its number.
        self.number += 1 if self.plies or self.is_over else 0
        self._begin(self.first_player if first_player is None else first_player)

    def estimate(self, ply: int | None = None, adviser: Player | None = None) -> Estimate | None:
        """What is expected of the actions in the position before `ply`; None if nobody there values actions.

        The values are those of `adviser`; without one, of the player who moves there, or of the opponent of a person.
        Near the end, unless that player itself values the actions of a match without people, they are the exact values
        of `endgame_player`. They are computed at the first call for each position and kept, because some players
        search for a long time.
        """
        number = len(self.plies) if ply is None else ply
        state, draws = self.match.state_before(number), self.draws_before(number)
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
