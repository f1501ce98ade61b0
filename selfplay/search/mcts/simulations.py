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
from selfplay.games.rules import Rules
from selfplay.search.mcts.added_positions import following_of, planting_of
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
    root_value,
)

Part = Callable[..., Any]


@cache
def compile_steps(rules: Rules, pass_action: int | None, rule: RuleFunctions) -> tuple[Part, Part, Part, Part, Part]:
    """Parts of compiled functions, each working on one tree: `plant_root`, `begin`, `begin_round`, `descend` and
    `conclude`."""
    begin_root, select_at_root, select, *_ = rule
    follow, back_up = following_of(rules, pass_action), back_up_of(rules)

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

    return planting_of(rules, pass_action), begin, begin_round, descend, conclusion_of(rule)


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
