"""The player that looks up the values of positions in a table."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from selfplay.games.position_graph import PositionGraph
from selfplay.learners.tabular.learning import UPDATE_RULES
from selfplay.learners.tabular.table_file import load_tables
from selfplay.players.graph_player import GraphPlayer


class TabularPlayer(GraphPlayer):
    """Values an action by the position it leads to, in the table of the player to move.

    Args:
        values: float64[2, 2, N] in [0, 1]: `values[p, q, n]` is the value that player p (0 moves first) gives
            position n with player q to move.
    """

    def __init__(
        self, graph: PositionGraph, values: NDArray[np.float64], ties: str = "random", name: str = "tabular"
    ) -> None:
        super().__init__(graph, ties)
        self.values, self.name = values, name

    def values_of_children(self, numbers: NDArray[np.int64], to_move: NDArray[np.int8]) -> NDArray[np.float64]:
        mover = to_move.astype(np.int64)[:, None]
        return self.values[mover, 1 - mover, self.graph.children[numbers]]


def load_tabular_player(path: Path, graph: PositionGraph) -> TabularPlayer:
    """The player with the tables in the file at `path`; it breaks ties as its rule does. Raises as `load_tables`."""
    tables = load_tables(path, graph)
    rule = UPDATE_RULES[tables.metadata["rule"]]
    return TabularPlayer(graph, tables.values, rule.ties, rule.name)
