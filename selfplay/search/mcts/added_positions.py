"""How a tree search adds positions to its trees, compiled for the rules of a game."""

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.compilation import part_of_compiled
from selfplay.compute.compiled_words import lowest, position_of, set_position
from selfplay.compute.positions import pack
from selfplay.games.general_rules import pass_of
from selfplay.games.rules import Position, Rules, over_of
from selfplay.search.evaluation import finished_value, moves_again
from selfplay.search.mcts.tree import (
    NOT_ADDED,
    OPEN,
    CompiledTreeSearch,
    edges_of,
    prove_by_edges,
    set_priors,
    settle_edge,
    settle_known,
)


@cache
def value_at_end_of(rules: Rules) -> Callable[[Position, NDArray[np.float64]], float]:
    """The value of a finished match to the player who has made the last move; see `finished_value`."""
    is_again, value_at_end = moves_again(rules), finished_value(rules)

    @part_of_compiled
    def end_value(position: Position, finished: NDArray[np.float64]) -> float:
        value: float = value_at_end(position, finished)
        return value if is_again(position) else 0.0 - value

    return end_value


@cache
def adding_of(rules: Rules, pass_action: int | None) -> Callable[[CompiledTreeSearch, int, int, int, Position], int]:
    """`add_node(search, tree, parent, i, position)` adds an unfinished position as the child of edge i of `parent`.

    It returns the number of the new node. With proofs, the edges that end the match are settled.
    """
    legal_actions, play, unpack = rules.legal_actions, rules.play, rules.position.unpack
    is_over, end_value, pass_in = over_of(rules), value_at_end_of(rules), pass_of(pass_action)

    @part_of_compiled
    def settle_ends(search: CompiledTreeSearch, tree: int, number: int) -> None:
        """Settle the edges of a node that end the match, and prove the node if that suffices."""
        node, edges, is_any = search.trees.nodes[tree, number], edges_of(search.trees, tree, number), False
        before = unpack(position_of(node))
        for i in range(len(edges)):
            position = play(before, edges[i].action)
            if is_over(position):
                settle_edge(edges[i], end_value(position, search.finished), True)
                is_any = True
        if is_any:
            prove_by_edges(node, edges)

    @part_of_compiled
    def add_node(search: CompiledTreeSearch, tree: int, parent: int, i: int, position: Position) -> int:
        number = int(search.trees.sizes[tree])
        search.trees.sizes[tree] += 1
        node, edges = search.trees.nodes[tree, number], search.trees.edges[tree, number]
        set_position(node, pack(position))
        node.parent, node.edge, node.value, node.is_proved, node.waits = parent, i, 0.0, 0, 0
        bits, count = legal_actions(position), 0
        while bits != 0 or count == 0:
            edge = edges[count]
            edge.prior, edge.value, edge.visits, edge.child, edge.status = 0.0, 0.0, 0, NOT_ADDED, OPEN
            edge.action = pass_in(position) if bits == 0 else lowest(bits)
            bits &= bits - 1
            count += 1
        node.num_edges = count
        if search.proves:
            settle_ends(search, tree, number)
        return number

    return add_node


@cache
def planting_of(rules: Rules, pass_action: int | None) -> Callable[..., bool]:
    """`plant_root(search, tree, position, known)` begins a new tree, and returns whether its root is to be evaluated.

    `known`: float64[A], the exact values of actions, nan where unknown. A finished match gets no node.
    """
    add_node, is_over = adding_of(rules, pass_action), over_of(rules)

    @part_of_compiled
    def plant_root(search: CompiledTreeSearch, tree: int, position: Position, known: NDArray[np.float64]) -> bool:
        search.trees.sizes[tree] = 0
        if is_over(position):
            return False
        add_node(search, tree, NOT_ADDED, 0, position)
        root = search.trees.nodes[tree, 0]
        set_priors(edges_of(search.trees, tree, 0), np.zeros(root.num_edges))
        settle_known(search.trees, tree, known, search.proves)
        return bool(root.is_proved == 0)

    return plant_root


@cache
def following_of(rules: Rules, pass_action: int | None) -> Callable[[CompiledTreeSearch, int, int, int], int]:
    """`follow(search, tree, number, i)` adds the child of an edge that has none, and returns its number.

    NOT_ADDED if the match is over there, which settles the edge.
    """
    play, unpack = rules.play, rules.position.unpack
    add_node, is_over, end_value = adding_of(rules, pass_action), over_of(rules), value_at_end_of(rules)

    @part_of_compiled
    def follow(search: CompiledTreeSearch, tree: int, number: int, i: int) -> int:
        node, edge = search.trees.nodes[tree, number], search.trees.edges[tree, number, i]
        position = play(unpack(position_of(node)), edge.action)
        if is_over(position):
            settle_edge(edge, end_value(position, search.finished), search.proves)
            return NOT_ADDED
        child = add_node(search, tree, number, i, position)
        edge.child = child
        return child

    return follow
