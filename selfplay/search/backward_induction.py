"""Perfect play in games small enough to enumerate, by backward induction."""

import numpy as np
from numpy.typing import NDArray

from selfplay.games.position_graph import PositionGraph


def perfect_values(graph: PositionGraph) -> NDArray[np.float64]:
    """float64[N] in {-1, 0, 1}: the return of the player to move when both play perfectly from each position.

    Zermelo's backward induction: v(s) = max over actions of -v(child), v = the return where the match is over.
    """
    values = graph.return_to_move.copy()
    for group in graph.backwards():
        replies = np.where(graph.legal[group], -values[graph.children[group]], -np.inf)
        values[group] = replies.max(axis=1)
    return values


def optimal_actions(graph: PositionGraph, values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """bool[N, A]: the legal actions that keep the perfect value of each position. `values` from `perfect_values`."""
    optimal: NDArray[np.bool_] = graph.legal & (-values[graph.children] == values[:, None])
    return optimal
