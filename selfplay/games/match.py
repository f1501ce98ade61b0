"""One match so far, as a value: the game, the position in which it begins, the actions, and the positions after them.

Everything that holds a match holds this: the console and the page, records, protocols of engines, and players that
follow their match. So none of them can lose the position in which it begins.
"""

from collections.abc import Iterable, Sequence
from copy import copy
from functools import cached_property
from typing import Self

import torch

from selfplay.errors import NotNowError, SettingError, shortened
from selfplay.games import Game, make_game
from selfplay.games.board import Board
from selfplay.games.state import State


class Match:
    """One match of two players so far: immutable, so that an earlier one is kept to undo an action.

    A notebook shows the board as a picture; `str` gives it as text.

    Args:
        game: the game of the match, or its name.
        start: the position (B = 1) in which it begins, such as of `Game.set_up`; None: the start of the game.

    Attributes:
        game: the game.
        actions: those of both players in order, with passes that were the only legal action.
        states: the position (B = 1) before each action, and the current one, which players and the methods of games
            take.
        has_resigned: whether it has ended because a player gave it up.

    Raises SettingError if `start` is not a position of one match.

    Examples:
        >>> match = selfplay.Match("tictactoe").play("1,1").play(1)
        >>> print(match)
        . O .
        . X .
        . . .
        >>> match.legal_actions(), match.to_move, match.winner
        ([0, 2, 3, 5, 6, 7, 8], 0, None)
        >>> match.actions, match.undo().actions
        ((4, 1), (4,))
    """

    def __init__(self, game: Game | str, start: State | None = None) -> None:
        self.game = make_game(game)
        if start is not None and not (isinstance(start, State) and start.batch_size == 1):
            raise SettingError(f"start={shortened(repr(start))}: must be a State of one match")
        self.states: tuple[State, ...] = (self.game.init() if start is None else start,)
        self.actions: tuple[int, ...] = ()
        self.has_resigned = False

    @classmethod
    def of_states(
        cls, game: Game, states: Sequence[State], actions: Sequence[int], *, has_resigned: bool = False
    ) -> Self:
        """A match whose positions are known: `states` (B = 1 each), one more than `actions`. They are not checked."""
        return cls(game)._with(tuple(states), tuple(actions), has_resigned=has_resigned)

    def _with(self, states: tuple[State, ...], actions: tuple[int, ...], *, has_resigned: bool = False) -> Self:
        other = copy(self)
        other.__dict__.pop("_legal", None)
        other.states, other.actions, other.has_resigned = states, actions, has_resigned
        return other

    # ------------------------------------------------------------------ what has been played

    @property
    def start(self) -> State:
        """The position (B = 1) in which it begins."""
        return self.states[0]

    @property
    def state(self) -> State:
        """The current position (B = 1)."""
        return self.states[-1]

    @property
    def is_set_up(self) -> bool:
        """Whether it begins in another position than the game."""
        return self.start.key() != self.game.init().key()

    @property
    def handicap(self) -> int:
        """The number of stones of player 0 that stand on the board before player 1 makes the first move of Go."""
        if self.game.komi is None or int(self.start.current_player) == 0:
            return 0
        squares = self.game.squares(self.start)[0].tolist()
        stones: int = squares.count(1)
        return stones if stones >= 2 and -1 not in squares else 0

    def state_before(self, ply: int) -> State:
        """The position (B = 1) before an action, numbered from 0, or after all of them.

        Raises NotNowError if the match has no such position.
        """
        return self.states[self._reached(ply)]

    def _reached(self, ply: int) -> int:
        if not 0 <= ply <= len(self.actions):
            raise NotNowError(f"the match has positions before the plies 0 to {len(self.actions)}, not before {ply}")
        return ply

    def is_forced(self, ply: int) -> bool:
        """Whether an action was a pass that was the only legal one."""
        action = self.actions[ply]
        return action == self.game.pass_action and int(self.game.legal_action_mask(self.states[ply]).sum()) == 1

    def continues(self, earlier: "Match") -> bool:
        """Whether `earlier` is this match before some of its actions, or the same."""
        known = len(earlier.actions)
        return self.start.key() == earlier.start.key() and self.actions[:known] == earlier.actions

    # ------------------------------------------------------------------ what comes next

    @property
    def to_move(self) -> int:
        """Who is to move: 0, who moves first at the start of a game, or 1. Meaningless if the match is over."""
        return int(self.state.current_player)

    @cached_property
    def _legal(self) -> tuple[int, ...]:
        return tuple(self.game.legal_action_mask(self.state)[0].nonzero()[:, 0].tolist())

    def legal_actions(self) -> list[int]:
        """The numbers of the legal actions in ascending order; none when the match is over."""
        return list(self._legal)

    def legal_moves(self) -> list[str]:
        """The texts of the legal actions."""
        return [self.game.action_text(action, self.to_move) for action in self._legal]

    @property
    def can_only_pass(self) -> bool:
        """Whether passing is the only legal action."""
        return self.game.pass_action is not None and self._legal == (self.game.pass_action,)

    @property
    def is_over(self) -> bool:
        """Whether the match is over."""
        return bool(self.state.terminated)

    @property
    def winner(self) -> int | None:
        """Who has won, 0 or 1; None if the match goes on, or is a draw."""
        return {1: 0, -1: 1}.get(int(self.state.returns))

    # ------------------------------------------------------------------ further matches

    def play(self, action: int | str) -> Self:
        """The match after an action, given by its number or its text.

        Raises IllegalActionError if it is not legal, or the match is over.
        """
        if (number := self.game.number_of(action)) in self._legal:
            following = self.game.step_unchecked(self.state, torch.tensor([number]))
        else:
            following = self.game.step(self.state, number)
        return self._with((*self.states, following), (*self.actions, number))

    def play_all(self, actions: Iterable[int | str]) -> Self:
        """The match after these actions. Passes that are the only legal action may be left out.

        Raises IllegalActionError as `play`.
        """
        match = self
        for action in actions:
            match = match.play_with_pass(action)
        return match

    def play_with_pass(self, action: int | str) -> Self:
        """The match after an action, before which a pass is put in if nothing else is legal. Raises as `play`."""
        passing = self.game.pass_action
        if passing is not None and self.can_only_pass and self.game.number_of(action) != passing:
            return self.play(passing).play(action)
        return self.play(action)

    def before(self, ply: int) -> Self:
        """The match before an action, numbered from 0. Raises NotNowError as `state_before`."""
        ply = self._reached(ply)
        return self._with(self.states[: ply + 1], self.actions[:ply])

    def undo(self) -> Self:
        """The match before its last action. Raises NotNowError if there is none."""
        if not self.actions:
            raise NotNowError("no action has been taken yet")
        return self.before(len(self.actions) - 1)

    def ended_as(self, last: State, *, has_resigned: bool = False) -> Self:
        """The match with this last state (B = 1), in which it is over although the rules have not ended it so: a
        player has given it up or forfeited it, people agree on a draw, or stones are dead."""
        return self._with((*self.states[:-1], last), self.actions, has_resigned=has_resigned)

    def lost_by(self, seat: int | None, *, has_resigned: bool = False) -> Self:
        """The match that this player loses where it stands; None: it is drawn."""
        returned = 0.0 if seat is None else 2.0 * seat - 1.0
        over, returns = torch.ones_like(self.state.terminated), torch.full_like(self.state.returns, returned)
        return self.ended_as(self.state._replace(terminated=over, returns=returns), has_resigned=has_resigned)

    def clone(self) -> Self:
        """A copy whose states have tensors of their own."""
        return self._with(tuple(state.clone() for state in self.states), self.actions, has_resigned=self.has_resigned)

    # ------------------------------------------------------------------ as text and picture

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Match) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[object, ...]:
        return self.game.identity, self.start.key(), self.actions, self.is_over, float(self.state.returns)

    def __repr__(self) -> str:
        return f"<Match of {self.game.name}>\n{self}"

    def __str__(self) -> str:
        """The board as text."""
        return str(Board(self.game, self.state))

    def _repr_html_(self) -> str:
        """The board as a picture; as text for a game without squares."""
        return Board(self.game, self.state)._repr_html_()
