"""The player that cannot be beaten where the game can be held: it knows the perfect value of every position."""

import numpy as np
from numpy.typing import NDArray

from selfplay.games.positions import PositionGraph
from selfplay.players.graph_player import GraphPlayer
from selfplay.search.perfect import perfect_values


class PerfectPlayer(GraphPlayer):
    """Takes one of the actions that keep the perfect value of the position. Values are returns in {-1, 0, 1}."""

    name = "perfect"

    def __init__(self, graph: PositionGraph, ties: str = "random") -> None:
        super().__init__(graph, ties)
        self._perfect = perfect_values(graph)

    def values_of_children(self, numbers: NDArray[np.int64], to_move: NDArray[np.int8]) -> NDArray[np.float64]:
        return 0.0 - self._perfect[self.graph.children[numbers]]
