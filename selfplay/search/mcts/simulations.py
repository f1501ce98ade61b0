"""The simulations of a tree search, compiled for the rules of a game and a rule of selection.

A simulation descends from the root along the edges that the rule selects, until it ends at a settled edge or adds a
position. An added position is evaluated, unless it is proved at once, and its value is backed up to the root.

With an evaluator that is compiled too, the search of a batch is one compiled function (`compile_whole_search`); with
any other, see `selfplay.search.mcts.lockstep`.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import bit_count
from selfplay.compute.compilation import Words, borrowed, compiled, part_of_compiled, register_rules
from selfplay.compute.random_numbers import fold
from selfplay.games.rules import Rules
from selfplay.search.evaluation import finished_value
from selfplay.search.mcts.evaluator import CompiledPositionValue
from selfplay.search.mcts.rule import Constants, RuleFunctions
from selfplay.search.mcts.tree import (
    NOT_ADDED,
    OPEN,
    Plan,
    Trees,
    TreeSearchResult,
    back_up,
    edges_of,
    is_candidate,
    prove_by_edges,
    root_value,
    set_priors,
    settle_edge,
)
from selfplay.search.threads import LIMIT, STOP

Part = Callable[..., Any]


@cache
def compile_steps(rules: Rules, pass_action: int | None, rule: RuleFunctions) -> tuple[Part, Part, Part, Part]:
    """`plant_root`, `descend`, `begin` and `conclude`: parts of compiled functions, each working on one tree."""
    legal_actions, play, is_terminal = rules.legal_actions, rules.play, rules.is_terminal
    value_at_end = finished_value(rules)
    begin_root, select_at_root, select, final_score, policy_weights = rule
    passing = -1 if pass_action is None else pass_action
    register_rules()

    @part_of_compiled
    def is_over(own: int, opp: int) -> bool:
        return bool(legal_actions(own, opp) == 0 and is_terminal(own, opp))

    @part_of_compiled
    def list_edges(trees: Trees, tree: int, number: int) -> None:
        """Write the edges of a node, none of them visited."""
        node, edges = trees.nodes[tree, number], trees.edges[tree, number]
        bits, count = legal_actions(node.own, node.opp), 0
        while bits != 0 or count == 0:
            edge, move = edges[count], bits & -bits
            edge.prior, edge.value, edge.visits, edge.child, edge.status = 0.0, 0.0, 0, NOT_ADDED, OPEN
            edge.move = move
            bits ^= move
            count += 1
        node.num_edges = count

    @part_of_compiled
    def settle_ends(trees: Trees, tree: int, number: int, plan: Plan) -> None:
        """Settle the edges of a node that end the match, and prove the node if that suffices."""
        node, edges, is_any = trees.nodes[tree, number], edges_of(trees, tree, number), False
        for i in range(len(edges)):
            own, opp = play(node.own, node.opp, edges[i].move)
            if is_over(own, opp):
                settle_edge(edges[i], 0.0 - value_at_end(own, opp, plan.finished), True)
                is_any = True
        if is_any:
            prove_by_edges(node, edges)

    @part_of_compiled
    def add_node(trees: Trees, tree: int, parent: int, i: int, own: int, opp: int, plan: Plan) -> int:
        """Add an unfinished position as the child of edge i of `parent`; returns its number."""
        number = int(trees.sizes[tree])
        trees.sizes[tree] += 1
        node = trees.nodes[tree, number]
        node.own, node.opp, node.parent, node.edge = own, opp, parent, i
        node.value, node.is_proved = 0.0, 0
        list_edges(trees, tree, number)
        if plan.proves:
            settle_ends(trees, tree, number, plan)
        return number

    @part_of_compiled
    def plant_root(trees: Trees, tree: int, own: int, opp: int, plan: Plan) -> bool:
        """Begin a new tree; returns whether its root is to be evaluated. A finished match gets no node."""
        trees.sizes[tree] = 0
        if is_over(own, opp):
            return False
        add_node(trees, tree, NOT_ADDED, 0, own, opp, plan)
        set_priors(edges_of(trees, tree, 0), np.zeros(trees.nodes[tree, 0].num_edges))
        return bool(trees.nodes[tree, 0].is_proved == 0)

    @part_of_compiled
    def follow(trees: Trees, tree: int, number: int, i: int, plan: Plan) -> int:
        """The child of an edge without one, added now; NOT_ADDED if it is a finished match, which settles the edge."""
        node, edge = trees.nodes[tree, number], trees.edges[tree, number, i]
        own, opp = play(node.own, node.opp, edge.move)
        if is_over(own, opp):
            settle_edge(edge, 0.0 - value_at_end(own, opp, plan.finished), plan.proves)
            return NOT_ADDED
        child = add_node(trees, tree, number, i, own, opp, plan)
        edge.child = child
        return child

    @part_of_compiled
    def descend(trees: Trees, tree: int, plan: Plan, constants: Constants) -> int:
        """Run a simulation up to a position that is to be evaluated; returns its number, NOT_ADDED if there is none."""
        number, is_new = 0, False
        while not is_new:
            edges = edges_of(trees, tree, number)
            if number == 0:
                i = select_at_root(edges, trees.nodes[tree, 0].value, trees.noise[tree], constants)
            else:
                i = select(edges, trees.nodes[tree, number].value, constants)
            edge = edges[i]
            is_new = edge.child == NOT_ADDED
            child = edge.child
            if edge.status == OPEN and is_new:
                child = follow(trees, tree, number, i, plan)
            if edge.status != OPEN:
                edge.visits += 1
                back_up(trees, tree, number, edge.value, plan.proves)
                return NOT_ADDED
            number = child
        if trees.nodes[tree, number].is_proved != 0:
            back_up(trees, tree, number, trees.nodes[tree, number].value, plan.proves)
            return NOT_ADDED
        return number

    @part_of_compiled
    def begin(trees: Trees, tree: int, bits: int, constants: Constants) -> None:
        edges = edges_of(trees, tree, 0)
        begin_root(edges, trees.noise[tree, : len(edges)], bits, constants)

    @part_of_compiled
    def write_policy(trees: Trees, tree: int, weights: NDArray[np.float64], constants: Constants) -> None:
        root, edges = trees.nodes[tree, 0], edges_of(trees, tree, 0)
        policy_weights(edges, root.value, constants, weights)
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
    def conclude(trees: Trees, tree: int, row: int, constants: Constants, results: TreeSearchResult) -> None:
        if trees.sizes[tree] == 0:
            return
        edges = edges_of(trees, tree, 0)
        weights = np.zeros(len(edges))
        write_policy(trees, tree, weights, constants)
        best = -np.inf
        for i in range(len(edges)):
            edge = edges[i]
            action = passing if edge.move == 0 else bit_count(edge.move - 1)
            results.visits[row, action] = edge.visits
            results.policy[row, action] = weights[i]
            if edge.visits > 0 or edge.status != OPEN:
                results.action_values[row, action] = edge.value
            if is_candidate(trees, tree, i):
                score = final_score(edges, i, trees.noise[tree], constants)
                if score > best:
                    best, results.actions[row] = score, action
        results.value[row] = root_value(trees, tree)
        results.is_proved[row] = trees.nodes[tree, 0].is_proved != 0

    return plant_root, descend, begin, conclude


ROW, IN_TREE, IN_ALL = range(3)
"""The indices of the progress of a whole search: the row of the batch, the simulations run in its tree, and in all."""


@cache
def compile_whole_search(
    rules: Rules, pass_action: int | None, rule: RuleFunctions, position_value: CompiledPositionValue
) -> Callable[..., bool]:
    """The whole search of a batch with a compiled evaluator, as one compiled function.

    `search(own, opp, root_bits, leaf_bits, plan, constants, parameters, trees, progress, stop, results)` grows one
    tree after another: each in the memory of the first of `trees`, which holds the last one afterwards, or with
    `plan.has_kept` each in its own. It returns False if it was stopped (see `selfplay.search.threads.StopFlag`; a
    step is a simulation). If it stopped because of its limit, a call with the same arguments continues; `progress` is
    int64[3], 0 at first.
    """
    plant_root, descend, begin, conclude = compile_steps(rules, pass_action, rule)

    @part_of_compiled
    def evaluate(
        trees: Trees, tree: int, number: int, bits: int, parameters: object, logits: NDArray[np.float64]
    ) -> float:
        node, edges = trees.nodes[tree, number], edges_of(trees, tree, number)
        value = position_value(node.own, node.opp, edges, fold(bits, number), parameters, logits)
        node.value = value
        set_priors(edges, logits)
        return value

    @part_of_compiled
    def simulate(
        trees: Trees,
        tree: int,
        bits: int,
        plan: Plan,
        constants: Constants,
        parameters: object,
        progress: NDArray[np.int64],
        stop: NDArray[np.int64],
        logits: NDArray[np.float64],
    ) -> None:
        """Run the simulations of one tree that are left, until its root is proved."""
        while progress[IN_TREE] < plan.simulations and trees.nodes[tree, 0].is_proved == 0:
            # A tree that has begun gets a simulation, so that `progress` shows that it has.
            if progress[IN_TREE] > 0 and progress[IN_ALL] >= stop[LIMIT]:
                stop[STOP] = 1
            if stop[STOP] != 0:
                return
            progress[IN_TREE] += 1
            progress[IN_ALL] += 1
            number = descend(trees, tree, plan, constants)
            if number != NOT_ADDED:
                value = evaluate(trees, tree, number, bits, parameters, logits)
                back_up(trees, tree, number, value, plan.proves)

    @part_of_compiled
    def begin_tree(
        own: int,
        opp: int,
        root_bits: int,
        leaf_bits: int,
        plan: Plan,
        constants: Constants,
        parameters: object,
        trees: Trees,
        tree: int,
        logits: NDArray[np.float64],
    ) -> bool:
        """Plant a tree or continue the kept one; returns whether simulations can follow."""
        if plan.has_kept and trees.sizes[tree] > 0:
            if trees.nodes[tree, 0].is_proved != 0:
                return False
        elif plant_root(trees, tree, own, opp, plan):
            evaluate(trees, tree, 0, leaf_bits, parameters, logits)
        else:
            return False
        begin(trees, tree, root_bits, constants)
        return True

    @compiled
    def search(
        own: Words,
        opp: Words,
        root_bits: Words,
        leaf_bits: Words,
        plan: Plan,
        constants: Constants,
        parameters: object,
        trees: Trees,
        progress: NDArray[np.int64],
        stop: NDArray[np.int64],
        results: TreeSearchResult,
    ) -> bool:
        constants, parameters, trees, progress, stop = borrowed((constants, parameters, trees, progress, stop))
        logits = np.empty(trees.edges.shape[2])
        for row in range(progress[ROW], len(own)):
            tree = row if plan.has_kept else 0
            bits = leaf_bits[row]
            if progress[IN_TREE] > 0 or begin_tree(
                own[row], opp[row], root_bits[row], bits, plan, constants, parameters, trees, tree, logits
            ):
                simulate(trees, tree, bits, plan, constants, parameters, progress, stop, logits)
                if stop[STOP] != 0:
                    return False
            conclude(trees, tree, row, constants, results)
            progress[ROW], progress[IN_TREE] = row + 1, 0
        return True

    return search
