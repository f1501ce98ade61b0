"""Base classes of players that take an action with the largest value."""

from abc import abstractmethod

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.random_numbers import Draws, Purpose
from selfplay.errors import SettingError
from selfplay.games.game import Game
from selfplay.games.position_graph import PositionGraph, enumerate_positions
from selfplay.games.state import State
from selfplay.players.player import Player, pick_actions, uniform_policy

TIES = ("random", "lowest")


class BestValuePlayer(Player):
    """Takes an action with the largest value.

    Args:
        ties: which of several best actions is taken: "random", each equally likely, or "lowest".

    Raises:
        SettingError: `ties` is neither of these.
    """

    def __init__(self, ties: str = "random") -> None:
        if ties not in TIES:
            raise SettingError(f"ties={ties}: must be {' or '.join(TIES)}")
        self.ties = ties

    @abstractmethod
    def _values(self, state: State) -> NDArray[np.float64]:
        """float64[B, A]: the value of each action to the player to move; nan where illegal or the match is over."""

    def action_values(self, state: State) -> Tensor:
        """float32[B, A]: the value of each action to the player to move; nan where illegal."""
        return torch.from_numpy(self._values(state)).to(torch.float32)

    def act(self, state: State, draws: Draws) -> Tensor:
        return pick_actions(self._best(state), draws.bits(Purpose.TIE_BREAK))

    def policy(self, state: State) -> Tensor:
        return uniform_policy(self._best(state))

    def _best(self, state: State) -> Tensor:
        """bool[B, A]: the actions to choose from; none in a finished match."""
        values = self._values(state)
        # Compared in double precision, so that only equal values are a tie.
        best = values == np.nan_to_num(values, nan=-np.inf).max(axis=1, keepdims=True)
        if self.ties == "lowest":
            best &= best.cumsum(axis=1) == 1
        return torch.from_numpy(best)


class GraphPlayer(BestValuePlayer):
    """Takes an action with the largest value. For `ties` and its error see BestValuePlayer."""

    def __init__(self, graph: PositionGraph | Game | str, ties: str = "random") -> None:
        super().__init__(ties)
        self.graph = enumerate_positions(graph)
        self.game = self.graph.game

    @abstractmethod
    def values_of_children(self, numbers: NDArray[np.int64], to_move: NDArray[np.int8]) -> NDArray[np.float64]:
        """float64[B, A]: the value of each legal action to the player to move; any number where illegal.

        Args:
            numbers: int64[B], the numbers of the positions in the graph.
            to_move: int8[B], the player to move in each.
        """

    def _values(self, state: State) -> NDArray[np.float64]:
        """Raises IllegalActionError if a position cannot be reached from the start."""
        numbers = self.graph.numbers(state)
        legal = self.graph.legal[numbers] & ~state.terminated.numpy()[:, None]
        return np.where(legal, self.values_of_children(numbers, state.current_player.numpy()), np.nan)
