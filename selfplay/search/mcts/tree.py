"""The memory of tree searches and the steps that all of them share: adding positions, backing values up, proofs.

A tree holds one node for each position that its search has added; node 0 is the searched position. The legal actions
of a node are its edges, in ascending order. All values are to the player to move in the node they belong to, so a value
changes its sign on its way from a node to its parent, unless the same player has moved twice.

An edge is settled when its value is exact: its action ends the match or, with proofs, leads to a proved position. A
simulation that chooses a settled edge ends there. With proofs (MCTS-solver: Winands, Bjornsson & Saito, "Monte-Carlo
tree search solver", 2008), every action that ends the match is settled as soon as its node is added. A node is proved
when one of its edges is settled as won or all its edges are settled. Its value is then the largest value of its edges,
and the edge that leads to the node is settled.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.bit_algebra import Bits
from selfplay.compute.compilation import part_of_compiled
from selfplay.compute.compiled_word_type import word_dtype
from selfplay.compute.compiled_words import position_of
from selfplay.compute.elementary import exponential
from selfplay.games.rules import Rules
from selfplay.search.evaluation import moves_again

OPEN, SETTLED, LOST = range(3)
"""Kinds of edges: not settled; settled; settled as lost by proof, so that rules do not choose it."""

NOT_ADDED = -1
WAITING = -2
"""In place of the number of a node: the node waits for its evaluation."""
WON = 1.0
"""The largest value that a match can have; the smallest is its negative."""


class Node(Protocol):
    """One position of a tree, read and written by compiled code."""

    position: Bits
    """Packed; `selfplay.compute.compiled_words.position_of` reads it and `set_position` writes it."""
    value: float
    """The value that the evaluator gives the position, or the exact value if `is_proved`."""
    parent: int
    edge: int
    """The number of the edge of the parent that leads here."""
    num_edges: int
    is_proved: int
    waits: int
    """1 while it waits for its evaluation and other simulations run; otherwise 0."""


class Edge(Protocol):
    """One legal action of a node, read and written by compiled code."""

    prior: float
    """How probable the evaluator considers it to be the best action, before any search."""
    value: float
    """The mean of the values backed up through it, or its exact value if settled; 0 at first."""
    action: int
    visits: int
    child: int
    """The number of the node it leads to, or NOT_ADDED."""
    status: int
    """OPEN, SETTLED or LOST."""


def _record(protocol: type, word: "np.dtype[Any] | None" = None) -> "np.dtype[np.void]":
    kinds: dict[Any, Any] = {float: np.float64, int: np.int32, Bits: word}
    return np.dtype([(name, kinds[kind]) for name, kind in protocol.__annotations__.items()], align=True)


@cache
def node_dtype(word: "np.dtype[Any]") -> "np.dtype[np.void]":
    """The records of nodes whose packed positions are such words (`word_dtype`)."""
    return _record(Node, word)


EDGE = _record(Edge)

Edges = NDArray[np.void]
"""The edges of one node, records of dtype EDGE."""


class Trees(NamedTuple):
    """B trees of up to N nodes with up to A edges each."""

    nodes: NDArray[np.void]
    """[B, N] records of `node_dtype`."""
    edges: NDArray[np.void]
    """[B, N, A] records of dtype EDGE."""
    sizes: NDArray[np.int64]
    """int64[B]: the number of nodes of each tree."""
    noise: NDArray[np.float64]
    """float64[B, A]: a random number for each edge of the root, for rules that use them."""


def tree_bytes(num_nodes: int, num_actions: int, num_words: int) -> int:
    """The memory of one tree, with positions of W = `num_words`."""
    return num_nodes * (node_dtype(word_dtype(num_words)).itemsize + num_actions * EDGE.itemsize)


def make_trees(batch_size: int, num_nodes: int, num_actions: int, word: "np.dtype[Any]") -> Trees:
    """Memory for trees of up to `num_nodes` nodes, whose packed positions are such words."""
    nodes = np.zeros((batch_size, num_nodes), dtype=node_dtype(word))
    edges = np.zeros((batch_size, num_nodes, num_actions), dtype=EDGE)
    return Trees(nodes, edges, np.zeros(batch_size, dtype=np.int64), np.zeros((batch_size, num_actions)))


@part_of_compiled
def edges_of(trees: Trees, tree: int, number: int) -> Edges:
    """The edges of a node."""
    return trees.edges[tree, number, : trees.nodes[tree, number].num_edges]


@part_of_compiled
def settle_edge(edge: Edge, value: float, proves: bool) -> None:
    """Give an edge its exact value."""
    edge.value = value
    edge.status = LOST if proves and value <= -WON else SETTLED


@part_of_compiled
def prove_by_edges(node: Node, edges: Edges) -> None:
    """Prove the value of a node if its settled edges do."""
    best, is_open = -np.inf, False
    for i in range(len(edges)):
        if edges[i].status == OPEN:
            is_open = True
        elif edges[i].value > best:
            best = edges[i].value
    if best >= WON or not is_open:
        node.value, node.is_proved = best, 1


@cache
def back_up_of(rules: Rules) -> Callable[[Trees, int, int, float, bool], None]:
    """`back_up(trees, tree, number, value, proves)` of a game with these rules.

    It adds the result of a simulation, with this value to the player to move in a node, to all edges from the node to
    the root.
    """
    unpack, is_again = rules.position.unpack, moves_again(rules)

    @part_of_compiled
    def back_up(trees: Trees, tree: int, number: int, value: float, proves: bool) -> None:
        while number > 0:
            node = trees.nodes[tree, number]
            parent, edge = node.parent, trees.edges[tree, node.parent, node.edge]
            edge.visits += 1
            if node.is_proved != 0:
                value = node.value
            if not is_again(unpack(position_of(node))):
                value = 0.0 - value
            if node.is_proved != 0:
                settle_edge(edge, value, proves)
                prove_by_edges(trees.nodes[tree, parent], edges_of(trees, tree, parent))
            else:
                edge.value += (value - edge.value) / edge.visits
            number = parent

    return back_up


@part_of_compiled
def add_losses(trees: Trees, tree: int, number: int, count: int) -> None:
    """Add `count` simulations that were lost to the open edges from a node to the root; a negative one removes them.

    Where the next simulation does not know the result of one that waits at the node, this leads it elsewhere (virtual
    loss: Chaslot, Winands & van den Herik, "Parallel Monte-Carlo tree search", 2008).
    """
    while number > 0:
        node = trees.nodes[tree, number]
        edge = trees.edges[tree, node.parent, node.edge]
        total = edge.visits * edge.value - count * WON
        edge.visits += count
        if edge.status == OPEN:
            edge.value = total / max(edge.visits, 1)
        number = node.parent


@part_of_compiled
def set_priors(edges: Edges, logits: NDArray[np.float64]) -> None:
    """Set the priors to softmax(logits); `logits`: float64, one for each edge."""
    largest, total = -np.inf, 0.0
    for i in range(len(edges)):
        largest = max(largest, logits[i])
    for i in range(len(edges)):
        edges[i].prior = exponential(logits[i] - largest)
        total += edges[i].prior
    for i in range(len(edges)):
        edges[i].prior /= total


@part_of_compiled
def settle_known(trees: Trees, tree: int, values: NDArray[np.float64], proves: bool) -> None:
    """Settle the edges of the root whose exact values (float64[A]) are known, and prove the root if that suffices."""
    edges, is_any = edges_of(trees, tree, 0), False
    for i in range(len(edges)):
        if not np.isnan(values[edges[i].action]):
            settle_edge(edges[i], values[edges[i].action], proves)
            is_any = True
    if is_any:
        prove_by_edges(trees.nodes[tree, 0], edges)


@part_of_compiled
def is_candidate(trees: Trees, tree: int, edge_number: int) -> bool:
    """Whether the proofs allow an edge of the root to be played."""
    root, edge = trees.nodes[tree, 0], trees.edges[tree, 0, edge_number]
    if root.is_proved != 0:
        return bool(edge.status != OPEN and edge.value == root.value)
    return bool(edge.status != LOST)


@part_of_compiled
def root_value(trees: Trees, tree: int) -> float:
    """The value of the root: exact if it is proved, otherwise the mean of its evaluation and of all simulations."""
    root, edges = trees.nodes[tree, 0], edges_of(trees, tree, 0)
    if root.is_proved != 0:
        return float(root.value)
    total, count = float(root.value), 1
    for i in range(len(edges)):
        total += edges[i].visits * edges[i].value
        count += edges[i].visits
    return total / count


# ---------------------------------------------------------------------- what searches are given and find


class CompiledTreeSearch(NamedTuple):
    """What is the same for all trees of a search."""

    simulations: int
    proves: bool
    """Whether exact values are proved (MCTS-solver)."""
    continues: bool
    """Whether trees that are not empty are continued."""
    parallel: int
    """How many positions of a tree wait for their evaluation together, if the evaluator evaluates batches."""
    finished: NDArray[np.float64]
    """float64[2], the second argument of `selfplay.search.evaluation.finished_value`."""
    constants: Any
    """Those of the rule."""
    parameters: Any
    """Those of a compiled evaluator; 0 for others."""
    trees: Trees


class TreeSearchResult(NamedTuple):
    """The result of tree searches of B positions; inside a search, arrays."""

    actions: Tensor
    """int64[B]: the action to play; 0 where the match is over."""
    policy: Tensor
    """float64[B, A]: the improved policy, which sums to 1 and is 0 where illegal; 0 where the match is over."""
    visits: Tensor
    """int64[B, A]: the number of simulations through each action."""
    action_values: Tensor
    """float64[B, A]: the value of each action to the player to move; nan where unknown or illegal."""
    value: Tensor
    """float64[B]: the value of the position to the player to move: the mean of its evaluation and of all simulations,
    or the exact value if it is proved."""
    is_proved: Tensor
    """bool[B]: whether `value` is exact."""
    priors: Tensor
    """float64[B, A]: the prior probability of each action; 0 where illegal."""


def make_results(known: NDArray[np.float64]) -> TreeSearchResult:
    """Arrays for compiled code to write into, with nothing found yet but the values of `TreeSearch.search`."""
    batch_size, num_actions = known.shape
    actions, policy = np.zeros(batch_size, dtype=np.int64), np.zeros((batch_size, num_actions))
    visits, priors = np.zeros((batch_size, num_actions), dtype=np.int64), np.zeros((batch_size, num_actions))
    proved = np.zeros(batch_size, dtype=np.bool_)
    arrays: Any = actions, policy, visits, known.copy(), np.zeros(batch_size), proved, priors
    return TreeSearchResult(*arrays)
