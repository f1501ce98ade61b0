"""Trees that are kept from ply to ply: the part below the actions that a match has played since its last search."""

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.compilation import Words, compiled, part_of_compiled
from selfplay.compute.random_numbers import Draws
from selfplay.search.mcts.tree import NOT_ADDED, Edges, Node, Trees, set_priors

PLIES = 2
"""A player searches every second ply of a match, or every ply if it plays against itself."""

Nodes = NDArray[np.void]
"""The nodes of one tree, records of dtype NODE."""


class KeptTrees:
    """The trees of the last plies of matches.

    What is kept for a match depends only on its own searches, not on those of other matches.

    Args:
        most: the largest number of nodes that a search takes over, those that were added first.
    """

    def __init__(self, most: int) -> None:
        self.most, self._key = most, 0
        self._trees: dict[int, dict[int, tuple[Nodes, NDArray[np.void]]]] = {}
        """By ply and match: its nodes, and [N, A] records of dtype EDGE."""

    def forget(self, draws: Draws) -> None:
        """Drop what no search of this ply or a later one can take over."""
        recent = range(draws.ply - PLIES, draws.ply) if draws.key == self._key else ()
        self._trees, self._key = {ply: self._trees[ply] for ply in recent if ply in self._trees}, draws.key

    def take_over(self, draws: Draws, own: Words, opp: Words, trees: Trees) -> None:
        """Begin the empty trees of these matches with the kept nodes below their positions, if there are any."""
        for tree, match in enumerate(draws.match.tolist()):
            latest = max((ply for ply in self._trees if ply < draws.ply and match in self._trees[ply]), default=None)
            if latest is not None:
                _take_over(*self._trees[latest][match], own[tree], opp[tree], self.most, trees, tree)

    def keep(self, draws: Draws, trees: Trees) -> None:
        """Keep the trees of the searches of this ply."""
        kept = self._trees.setdefault(draws.ply, {})
        for tree, (match, size) in enumerate(zip(draws.match.tolist(), trees.sizes.tolist(), strict=True)):
            kept[match] = trees.nodes[tree, :size].copy(), trees.edges[tree, :size].copy()


@part_of_compiled
def find(nodes: Nodes, own: int, opp: int) -> int:
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
def copy_subtree(nodes: Nodes, edges: NDArray[np.void], root: int, most: int, trees: Trees, tree: int) -> None:
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
def _take_over(nodes: Nodes, edges: NDArray[np.void], own: int, opp: int, most: int, trees: Trees, tree: int) -> None:
    """`KeptTrees.take_over` of the tree with this number, from the one with these nodes and edges."""
    number = find(nodes, own, opp)
    if number == NOT_ADDED:
        return
    copy_subtree(nodes, edges, number, most, trees, tree)
    root = trees.nodes[tree, 0]
    if root.is_proved != 0:
        # As those of a new root that is proved.
        set_priors(trees.edges[tree, 0, : root.num_edges], np.zeros(root.num_edges))
