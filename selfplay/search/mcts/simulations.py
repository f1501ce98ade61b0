"""The simulations of a tree search, compiled for the rules of a game and a rule of selection.

At the root, the rule selects the edges of a round; each of the next simulations follows one of them. From there, a
simulation descends along the edges that the rule selects, until it ends at a settled edge or adds a position. An added
position is evaluated, unless it is proved at once, and its value is backed up to the root.

With an evaluator that is compiled too, the search of a batch is one compiled function (`compile_whole_search`); with
any other, see `selfplay.search.mcts.lockstep`.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.compilation import Words, borrowed, by_reference, compiled, part_of_compiled
from selfplay.compute.compiled_words import load, lowest, position_of, set_position
from selfplay.compute.positions import pack
from selfplay.compute.random_numbers import fold
from selfplay.games.rules import Position, Rules
from selfplay.search.evaluation import finished_value, moves_again
from selfplay.search.mcts.evaluator import CompiledPositionValue
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
)
from selfplay.search.threads import LIMIT, STOP, StopFlag

Part = Callable[..., Any]


@cache
def compile_steps(rules: Rules, pass_action: int | None, rule: RuleFunctions) -> tuple[Part, Part, Part, Part, Part]:
    """Parts of compiled functions, each working on one tree: `plant_root`, `begin`, `begin_round`, `descend` and
    `conclude`."""
    legal_actions, play, is_terminal = rules.legal_actions, rules.play, rules.is_terminal
    unpack, is_again, value_at_end, back_up = (
        rules.position.unpack,
        moves_again(rules),
        finished_value(rules),
        back_up_of(rules),
    )
    begin_root, select_at_root, select, final_score, policy_weights = rule
    passing = -1 if pass_action is None else pass_action

    @part_of_compiled
    def is_over(position: Position) -> bool:
        return bool(legal_actions(position) == 0 and is_terminal(position))

    @part_of_compiled
    def end_value(position: Position, finished: NDArray[np.float64]) -> float:
        """The value of a finished match to the player who has made the last move."""
        value: float = value_at_end(position, finished)
        return value if is_again(position) else 0.0 - value

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
        """Add an unfinished position as the child of edge i of `parent`; returns its number."""
        number = int(search.trees.sizes[tree])
        search.trees.sizes[tree] += 1
        node, edges = search.trees.nodes[tree, number], search.trees.edges[tree, number]
        set_position(node, pack(position))
        node.parent, node.edge, node.value, node.is_proved, node.waits = parent, i, 0.0, 0, 0
        bits, count = legal_actions(position), 0
        while bits != 0 or count == 0:
            edge = edges[count]
            edge.prior, edge.value, edge.visits, edge.child, edge.status = 0.0, 0.0, 0, NOT_ADDED, OPEN
            edge.action = passing if bits == 0 else lowest(bits)
            bits &= bits - 1
            count += 1
        node.num_edges = count
        if search.proves:
            settle_ends(search, tree, number)
        return number

    @part_of_compiled
    def plant_root(search: CompiledTreeSearch, tree: int, position: Position) -> bool:
        """Begin a new tree; returns whether its root is to be evaluated. A finished match gets no node."""
        search.trees.sizes[tree] = 0
        if is_over(position):
            return False
        add_node(search, tree, NOT_ADDED, 0, position)
        root = search.trees.nodes[tree, 0]
        set_priors(edges_of(search.trees, tree, 0), np.zeros(root.num_edges))
        return bool(root.is_proved == 0)

    @part_of_compiled
    def follow(search: CompiledTreeSearch, tree: int, number: int, i: int) -> int:
        """Add the child of an edge that has none. NOT_ADDED if the match is over there, which settles the edge."""
        node, edge = search.trees.nodes[tree, number], search.trees.edges[tree, number, i]
        position = play(unpack(position_of(node)), edge.action)
        if is_over(position):
            settle_edge(edge, end_value(position, search.finished), search.proves)
            return NOT_ADDED
        child = add_node(search, tree, number, i, position)
        edge.child = child
        return child

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

    @part_of_compiled
    def begin(search: CompiledTreeSearch, tree: int, bits: int) -> None:
        edges = edges_of(search.trees, tree, 0)
        begin_root(edges, search.trees.noise[tree, : len(edges)], bits, search.constants)

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

    return plant_root, begin, begin_round, descend, conclude


ROW, IN_TREE, IN_ALL = range(3)
"""The indices of the progress of a whole search: the row of the batch, the simulations run in its tree, and in all."""


@cache
def compile_whole_search(
    rules: Rules, pass_action: int | None, rule: RuleFunctions, position_value: CompiledPositionValue
) -> Callable[..., bool]:
    """`search_batch(positions, root_bits, leaf_bits, search, progress, stop, results)`, with a compiled evaluator.

    It grows one tree after another. With `search.continues` each tree has its own memory. Otherwise all use the memory
    of the first of `search.trees`, which has the last tree afterwards. It returns False if it was stopped, after whole
    rounds (see `selfplay.search.threads.StopFlag`; a step is a simulation). If it stopped because of its limit, a call
    with the same arguments continues. `progress` is int64[3], 0 at first.
    """
    plant_root, begin, begin_round, descend, conclude = compile_steps(rules, pass_action, rule)
    unpack, back_up = rules.position.unpack, back_up_of(rules)

    @part_of_compiled
    def evaluate(search: CompiledTreeSearch, tree: int, number: int, bits: int, logits: NDArray[np.float64]) -> float:
        node, edges = search.trees.nodes[tree, number], edges_of(search.trees, tree, number)
        position = unpack(position_of(node))
        value = position_value(position, edges, fold(bits, number), search.parameters, logits)
        node.value = value
        set_priors(edges, logits)
        return value

    @part_of_compiled
    def begin_tree(
        search: CompiledTreeSearch,
        tree: int,
        position: Position,
        root_bits: int,
        leaf_bits: int,
        logits: NDArray[np.float64],
    ) -> bool:
        """Plant a tree or continue the kept one; returns whether simulations can follow."""
        if search.continues and search.trees.sizes[tree] > 0:
            if search.trees.nodes[tree, 0].is_proved != 0:
                return False
        elif plant_root(search, tree, position):
            evaluate(search, tree, 0, leaf_bits, logits)
        else:
            return False
        begin(search, tree, root_bits)
        return True

    @part_of_compiled
    def simulate(
        search: CompiledTreeSearch,
        tree: int,
        bits: int,
        progress: NDArray[np.int64],
        stop: StopFlag,
        chosen: NDArray[np.int64],
        logits: NDArray[np.float64],
    ) -> None:
        """Run the simulations of one tree that are left, until its root is proved."""
        root = search.trees.nodes[tree, 0]
        while progress[IN_TREE] < search.simulations and root.is_proved == 0:
            # A tree that has begun runs at least one round, because `progress` shows a beginning only by simulations.
            if progress[IN_TREE] > 0 and progress[IN_ALL] >= stop[LIMIT]:
                stop[STOP] = 1
            if stop[STOP] != 0:
                return
            count = begin_round(search, tree, chosen)
            for k in range(min(count, search.simulations - progress[IN_TREE])):
                if root.is_proved == 0:
                    progress[IN_TREE] += 1
                    progress[IN_ALL] += 1
                    number = descend(search, tree, chosen[k])
                    if number != NOT_ADDED:
                        back_up(search.trees, tree, number, evaluate(search, tree, number, bits, logits), search.proves)

    @compiled
    def search_batch(
        positions: Words,
        root_bits: NDArray[np.int64],
        leaf_bits: NDArray[np.int64],
        search: CompiledTreeSearch,
        progress: NDArray[np.int64],
        stop: StopFlag,
        results: TreeSearchResult,
    ) -> bool:
        search, (progress, stop) = by_reference(search), borrowed((progress, stop))
        num_actions = search.trees.edges.shape[2]
        chosen, logits = np.empty(num_actions, dtype=np.int64), np.empty(num_actions)
        for row in range(progress[ROW], len(positions)):
            tree, bits = row if search.continues else 0, leaf_bits[row]
            if progress[IN_TREE] > 0 or begin_tree(
                search, tree, unpack(load(positions, row)), root_bits[row], bits, logits
            ):
                simulate(search, tree, bits, progress, stop, chosen, logits)
                if stop[STOP] != 0:
                    return False
            conclude(search, tree, row, results)
            progress[ROW], progress[IN_TREE] = row + 1, 0
        return True

    return search_batch
