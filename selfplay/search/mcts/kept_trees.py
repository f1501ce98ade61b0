"""Trees that are kept from ply to ply: the part below the actions that a match has played since its last search."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.compilation import Words, compiled, part_of_compiled
from selfplay.compute.random_numbers import Draws
from selfplay.search.mcts.tree import NOT_ADDED, Edges, Node, Trees, set_priors

PLIES = 2
"""A player searches every second ply of a match, or every ply if it plays against itself."""


class _Searches(NamedTuple):
    key: int
    ply: int
    match: NDArray[np.int64]
    """int64[B]"""
    starts: NDArray[np.int64]
    """int64[B + 1]: where the nodes of each tree begin and end."""
    nodes: NDArray[np.void]
    """[M] records of dtype NODE."""
    edges: NDArray[np.void]
    """[M, A] records of dtype EDGE."""


class KeptTrees:
    """The trees of the last plies of matches.

    What is kept for a match depends only on its own searches, not on those of other matches.

    Args:
        most: the largest number of nodes that a search takes over, those that were added first.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._searches: list[_Searches] = []

    def forget(self, draws: Draws) -> None:
        """Drop what no search of this ply or a later one can take over."""

        def is_recent(searches: _Searches) -> bool:
            return searches.key == draws.key and draws.ply - PLIES <= searches.ply < draws.ply

        self._searches = [searches for searches in self._searches if is_recent(searches)]

    def take_over(self, draws: Draws, own: Words, opp: Words, trees: Trees) -> None:
        """Begin the empty trees of these matches with the kept nodes below their positions, if there are any."""
        match, is_found = draws.match.numpy(), np.zeros(len(own), dtype=np.bool_)
        for searches in sorted(self._searches, key=lambda searches: -searches.ply):
            if searches.ply < draws.ply and len(searches.match):
                order = np.argsort(searches.match)
                places = np.searchsorted(searches.match, match, sorter=order).clip(max=len(order) - 1)
                rows = order[places]
                rows[(searches.match[rows] != match) | is_found] = NOT_ADDED
                is_found |= rows != NOT_ADDED
                _take_over(*searches[3:], rows, own, opp, self.most, trees)

    def keep(self, draws: Draws, trees: Trees) -> None:
        """Keep the trees of the searches of this ply."""
        starts = np.concatenate([[0], np.cumsum(trees.sizes)])
        is_used = np.arange(trees.nodes.shape[1]) < trees.sizes[:, None]
        match = draws.match.numpy()
        self._searches.append(
            _Searches(draws.key, draws.ply, match, starts, trees.nodes[is_used], trees.edges[is_used])
        )


@part_of_compiled
def find(nodes: NDArray[np.void], own: int, opp: int) -> int:
    """The number of the first node with this position among the children and grandchildren of the root."""
    for number in range(1, len(nodes)):
        node = nodes[number]
        if node.own == own and node.opp == opp and (node.parent == 0 or nodes[node.parent].parent == 0):
            return number
    return NOT_ADDED


@part_of_compiled
def copy_node(node: Node, edges: Edges, trees: Trees, tree: int, number: int, parent: int) -> None:
    """Copy a node, without children, to a place in a tree below this parent."""
    trees.nodes[tree, number] = node
    trees.nodes[tree, number].parent = parent
    for i in range(node.num_edges):
        trees.edges[tree, number, i] = edges[i]
        trees.edges[tree, number, i].child = NOT_ADDED


@part_of_compiled
def copy_subtree(
    nodes: NDArray[np.void], edges: NDArray[np.void], root: int, most: int, trees: Trees, tree: int
) -> None:
    """Copy a node and those below it to an empty tree, in the order of their numbers, at most `most`."""
    numbers = np.full(len(nodes), NOT_ADDED)
    size = 0
    for old in range(root, len(nodes)):
        node = nodes[old]
        parent = NOT_ADDED if old == root else numbers[node.parent]
        if (old == root or parent != NOT_ADDED) and size < most:
            copy_node(node, edges[old], trees, tree, size, parent)
            if old != root:
                trees.edges[tree, parent, node.edge].child = size
            numbers[old] = size
            size += 1
    trees.sizes[tree] = size


@compiled
def _take_over(
    starts: NDArray[np.int64],
    nodes: NDArray[np.void],
    edges: NDArray[np.void],
    rows: NDArray[np.int64],
    own: Words,
    opp: Words,
    most: int,
    trees: Trees,
) -> None:
    """`KeptTrees.take_over` from the trees with these numbers; NOT_ADDED: none."""
    for tree in range(len(rows)):
        if rows[tree] == NOT_ADDED:
            continue
        start, stop = starts[rows[tree]], starts[rows[tree] + 1]
        root = find(nodes[start:stop], own[tree], opp[tree])
        if root == NOT_ADDED:
            continue
        copy_subtree(nodes[start:stop], edges[start:stop], root, most, trees, tree)
        node = trees.nodes[tree, 0]
        if node.is_proved != 0:
            # As those of a new root that is proved.
            set_priors(trees.edges[tree, 0, : node.num_edges], np.zeros(node.num_edges))
