"""The simulations of a tree search, compiled for the rules of a game and a rule of selection.

At the root, the rule selects the edges of a round; each of the next simulations follows one of them. From there, a
simulation descends along the edges that the rule selects, until it ends at a settled edge or adds a position. An added
position is evaluated, unless it is proved at once, and its value is backed up to the root.

With an evaluator that is compiled too, the search of a batch is one compiled function
(`selfplay.search.mcts.whole_search`); with any other, see `selfplay.search.mcts.lockstep`.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.compilation import part_of_compiled
from selfplay.compute.compiled_words import lowest, position_of, set_position
from selfplay.compute.positions import pack
from selfplay.games.general_rules import pass_of
from selfplay.games.rules import Position, Rules, over_of
from selfplay.search.evaluation import finished_value, moves_again
from selfplay.search.mcts.rule import RuleFunctions
from selfplay.search.mcts.tree import (
    NOT_ADDED,
    OPEN,
    WAITING,
    CompiledTreeSearch,
    TreeSearchResult,
    back_up_of,
    edges_of,
    is_candidate,
    prove_by_edges,
    root_value,
    set_priors,
    settle_edge,
    settle_known,
)

Part = Callable[..., Any]


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
def compile_additions(rules: Rules, pass_action: int | None) -> tuple[Part, Part]:
    """Parts that add positions to a tree.

    `plant_root(search, tree, position, known)` begins a new tree, and returns whether its root is to be evaluated.
    `known`: float64[A], the exact values of actions, nan where unknown. A finished match gets no node.

    `follow(search, tree, number, i)` adds the child of an edge that has none, and returns its number, or NOT_ADDED if
    the match is over there, which settles the edge.
    """
    play, unpack = rules.play, rules.position.unpack
    add_node, is_over, end_value = adding_of(rules, pass_action), over_of(rules), value_at_end_of(rules)

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

    return plant_root, follow


@cache
def compile_steps(rules: Rules, pass_action: int | None, rule: RuleFunctions) -> tuple[Part, Part, Part, Part, Part]:
    """Parts of compiled functions, each working on one tree: `plant_root`, `begin`, `begin_round`, `descend` and
    `conclude`."""
    begin_root, select_at_root, select, *_ = rule
    (plant_root, follow), back_up = compile_additions(rules, pass_action), back_up_of(rules)

    @part_of_compiled
    def begin(search: CompiledTreeSearch, tree: int, bits: int) -> None:
        edges = edges_of(search.trees, tree, 0)
        begin_root(edges, search.trees.noise[tree, : len(edges)], bits, search.constants)

    @part_of_compiled
    def begin_round(search: CompiledTreeSearch, tree: int, chosen: NDArray[np.int64]) -> int:
        """Write the edges of the root that the next simulations follow into `chosen`; returns their number."""
        trees, edges = search.trees, edges_of(search.trees, tree, 0)
        count: int = select_at_root(edges, trees.nodes[tree, 0].value, trees.noise[tree], search.constants, chosen)
        return count

    @part_of_compiled
    def descend(search: CompiledTreeSearch, tree: int, i: int) -> int:
        """Run a simulation that follows edge i of the root up to a position that is to be evaluated.

        Returns the number of this position, NOT_ADDED if there is none, or WAITING if the simulation did not run,
        because it would pass through a position that waits for its evaluation.
        """
        trees, number, is_new = search.trees, 0, False
        while not is_new:
            edges, value = edges_of(trees, tree, number), trees.nodes[tree, number].value
            if trees.nodes[tree, number].waits != 0:
                return WAITING
            if number != 0:
                i = select(edges, value, search.constants)
            edge = edges[i]
            is_new = edge.child == NOT_ADDED
            child = edge.child
            if edge.status == OPEN and is_new:
                child = follow(search, tree, number, i)
            if edge.status != OPEN:
                edge.visits += 1
                back_up(trees, tree, number, edge.value, search.proves)
                return NOT_ADDED
            number = child
        if trees.nodes[tree, number].is_proved != 0:
            back_up(trees, tree, number, trees.nodes[tree, number].value, search.proves)
            return NOT_ADDED
        return number

    return plant_root, begin, begin_round, descend, conclusion_of(rule)


@cache
def conclusion_of(rule: RuleFunctions) -> Part:
    """`conclude(search, tree, row, results)`: write what the search of a tree has found into a row of the results."""
    *_, final_score, policy_weights = rule

    @part_of_compiled
    def write_policy(search: CompiledTreeSearch, tree: int, weights: NDArray[np.float64]) -> None:
        trees, edges = search.trees, edges_of(search.trees, tree, 0)
        policy_weights(edges, trees.nodes[tree, 0].value, search.constants, weights)
        for use_priors in (False, True):
            total = 0.0
            for i in range(len(edges)):
                if use_priors:
                    weights[i] = edges[i].prior
                weights[i] *= is_candidate(trees, tree, i)
                total += weights[i]
            if total > 0.0:
                break
        for i in range(len(edges)):
            weights[i] /= total

    @part_of_compiled
    def conclude(search: CompiledTreeSearch, tree: int, row: int, results: TreeSearchResult) -> None:
        trees = search.trees
        if trees.sizes[tree] == 0:
            return
        edges = edges_of(trees, tree, 0)
        weights = np.zeros(len(edges))
        write_policy(search, tree, weights)
        best = -np.inf
        for i in range(len(edges)):
            edge = edges[i]
            results.visits[row, edge.action] = edge.visits
            results.priors[row, edge.action] = edge.prior
            results.policy[row, edge.action] = weights[i]
            if edge.visits > 0 or edge.status != OPEN:
                results.action_values[row, edge.action] = edge.value
            if is_candidate(trees, tree, i):
                score = final_score(edges, i, trees.noise[tree], search.constants)
                if score > best:
                    best, results.actions[row] = score, edge.action
        results.value[row] = root_value(trees, tree)
        results.is_proved[row] = trees.nodes[tree, 0].is_proved != 0

    return conclude
