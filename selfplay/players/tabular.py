"""The player that looks up what each of its actions leads to in a table of values."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from selfplay.games.position_graph import PositionGraph
from selfplay.learners.tabular.learning import UPDATE_RULES
from selfplay.learners.tabular.policy_file import load_policy
from selfplay.players.graph_player import GraphPlayer


class TabularPlayer(GraphPlayer):
    """Values an action by the board it leads to, in the table of the player to move.

    Args:
        values: float64[2, 2, N] in [0, 1]: `values[p, q, n]` is what player p (0 moves first) thinks of position n
            with player q to move.
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
    """The player whose tables stand at `path`; it breaks ties as its rule does. Raises as `load_policy`."""
    policy = load_policy(path, graph)
    rule = UPDATE_RULES[policy.metadata["rule"]]
    return TabularPlayer(graph, policy.values, rule.ties, rule.name)
