"""Players that know the value of every action in every position of a game that can be enumerated."""

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from selfplay.games.position_graph import PositionGraph
from selfplay.games.state import State
from selfplay.players.best_value import BestValuePlayer


class GraphPlayer(BestValuePlayer):
    """Takes an action with the largest value. For `ties` and its error see BestValuePlayer."""

    def __init__(self, graph: PositionGraph, ties: str = "random") -> None:
        super().__init__(ties)
        self.graph = graph

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
