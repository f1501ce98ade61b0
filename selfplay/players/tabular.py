"""Players that look up the values of positions in tables, with or without learning from their matches."""

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.random_numbers import Draws
from selfplay.games.position_graph import PositionGraph
from selfplay.games.state import State
from selfplay.players.best_value import GraphPlayer
from selfplay.players.player import ActionValues


class TabularPlayer(GraphPlayer):
    """Values an action by the position after it, in the table of the player to move. An even match has the value 0.5.

    Args:
        values: float64[2, 2, N] in [0, 1]: `values[p, q, n]` is the value that player p (0 moves first) gives
            position n with player q to move.
    """

    def __init__(
        self, graph: PositionGraph, values: NDArray[np.float64], ties: str = "random", name: str = "tabular"
    ) -> None:
        super().__init__(graph, ties)
        self.values, self.name = values, name

    def value_actions(self, state: State, draws: Draws | None = None) -> ActionValues:
        return ActionValues(self.action_values(state), neutral=0.5)

    def values_of_children(self, numbers: NDArray[np.int64], to_move: NDArray[np.int8]) -> NDArray[np.float64]:
        found = np.empty((len(numbers), self.graph.children.shape[1]))
        for mover in range(2):
            mine, values = to_move == mover, self.values[mover]
            found[mine] = self.graph.after(numbers[mine], values[mover], values[1 - mover])
        return found
