"""A match as a GTP controller sends it: move by move, with or without passes."""

import torch

from selfplay.errors import IllegalActionError, NotNowError
from selfplay.games.game import Game
from selfplay.games.state import State


class Moves:
    """The moves of one match, with undo.

    A player who can only pass counts as having passed when the opponent moves. Passes after the end have no effect.

    Attributes:
        actions: all plies so far, with the passes.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        self.actions: list[int] = []
        self._states = [game.init()]
        self._plies_before: list[int] = []
        """The number of plies before each move."""

    @property
    def state(self) -> State:
        """The current position, a batch of one."""
        return self._states[-1]

    def with_turn_of(self, seat: int) -> tuple[State, list[int]] | None:
        """The position and the plies so far with `seat` to move, after a forced pass of the opponent if there is one.

        None if the match is over. Raises NotNowError if it is the opponent's turn.
        """
        if bool(self.state.terminated):
            return None
        if int(self.state.current_player) == seat:
            return self.state, list(self.actions)
        passing = self.game.pass_action
        if passing is None or not bool(self.game.legal_action_mask(self.state)[0, passing]):
            raise NotNowError("it is the other colour's turn")
        return self.game.step(self.state, torch.tensor([passing])), [*self.actions, passing]

    def play(self, seat: int, action: int | None) -> None:
        """Play an action of `seat`; None is a pass after the end in a game without passes.

        Raises IllegalActionError if it is not legal, and NotNowError if it is the opponent's turn.
        """
        following = self.with_turn_of(seat)
        if following is None or action is None:
            if action != self.game.pass_action:
                raise IllegalActionError("the match is over")
            self._plies_before.append(len(self.actions))
            return
        state, actions = following
        after = self.game.step(state, torch.tensor([action]))
        self._plies_before.append(len(self.actions))
        self._states += [state, after] if len(actions) > len(self.actions) else [after]
        self.actions = [*actions, action]

    def undo(self) -> None:
        """Take back the last move. Raises NotNowError if there is none."""
        if not self._plies_before:
            raise NotNowError("there is nothing to take back")
        plies = self._plies_before.pop()
        del self.actions[plies:], self._states[plies + 1 :]
