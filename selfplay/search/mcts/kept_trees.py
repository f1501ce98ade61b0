"""Trees that are kept from ply to ply: the part below the actions that were played since the last search."""

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Bits
from selfplay.compute.compilation import Words, compiled, part_of_compiled
from selfplay.compute.compiled_words import load, position_of, stored_rows
from selfplay.compute.random_numbers import Draws
from selfplay.games.tiers import Tier
from selfplay.search.mcts.tree import NOT_ADDED, Trees, node_dtype, set_priors

PLIES = 2
"""A player searches every second ply of a match, or every ply if it plays against itself. After longer turns of the
other player, a search begins a new tree."""

Nodes = NDArray[np.void]
"""The nodes of one tree, records of `node_dtype`."""


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
        """Remove trees that no search of this ply or a later one can continue."""
        recent = range(draws.ply - PLIES, draws.ply) if draws.key == self._key else ()
        self._trees, self._key = {ply: self._trees[ply] for ply in recent if ply in self._trees}, draws.key

    def take_over(self, draws: Draws, tier: Tier, packed: Words, trees: Trees) -> None:
        """Begin the empty trees of these matches with the kept nodes below their positions, if there are any."""
        positions, num_words = tier.rows(stored_rows(packed)), stored_rows(packed).shape[1]
        latest_first = [self._trees[ply] for ply in sorted(self._trees, reverse=True) if ply < draws.ply]
        for tree, match in enumerate(draws.match.tolist()):
            kept = next((kept[match] for kept in latest_first if match in kept), None)
            if kept is not None:
                nodes, edges = kept
                if nodes.dtype != trees.nodes.dtype:
                    nodes = _in_tier(nodes, tier, num_words)
                grown = trees.nodes[tree], trees.edges[tree]
                trees.sizes[tree] = _take_over(nodes, edges, positions, tree, self.most, *grown)

    def keep(self, draws: Draws, trees: Trees) -> None:
        """Keep the trees of the searches of this ply."""
        kept = self._trees.setdefault(draws.ply, {})
        for tree, (match, size) in enumerate(zip(draws.match.tolist(), trees.sizes.tolist(), strict=True)):
            kept[match] = trees.nodes[tree, :size].copy(), trees.edges[tree, :size].copy()


def _in_tier(nodes: Nodes, tier: Tier, num_words: int) -> Nodes:
    """Nodes that were kept in the other tier, in this one; `num_words`: W of the game."""
    same = np.zeros(len(nodes), dtype=node_dtype(tier.word))
    for name in set(nodes.dtype.names or ()) - {"position"}:
        same[name] = nodes[name]
    same["position"] = tier.rows(stored_rows(nodes["position"])[:, :num_words])
    return same


@part_of_compiled
def find(nodes: Nodes, position: Bits) -> int:
    """The number of the first node with this position among the children and grandchildren of the root."""
    for number in range(1, len(nodes)):
        node = nodes[number]
        if position_of(node) == position and (node.parent == 0 or nodes[node.parent].parent == 0):
            return number
    return NOT_ADDED


@compiled
def _take_over(
    old_nodes: Nodes,
    old_edges: NDArray[np.void],
    positions: Words,
    row: int,
    most: int,
    nodes: Nodes,
    edges: NDArray[np.void],
) -> int:
    """Copy the node with the position in this row and those below it to an empty tree, in their order, at most `most`.

    Returns their number; 0 if there is no such node.
    """
    root = find(old_nodes, load(positions, row))
    if root == NOT_ADDED:
        return 0
    numbers, size = np.full(len(old_nodes), NOT_ADDED), 0
    for old in range(root, len(old_nodes)):
        node = old_nodes[old]
        parent = NOT_ADDED if old == root else numbers[node.parent]
        if (old == root or parent != NOT_ADDED) and size < most:
            nodes[size] = node
            nodes[size].parent = parent
            for i in range(node.num_edges):
                edges[size, i] = old_edges[old, i]
                edges[size, i].child = NOT_ADDED
            if old != root:
                edges[parent, node.edge].child = size
            numbers[old] = size
            size += 1
    if nodes[0].is_proved != 0:
        # As those of a new root that is proved.
        set_priors(edges[0, : nodes[0].num_edges], np.zeros(nodes[0].num_edges))
    return size
