"""Tree searches of a batch, compiled: as a whole with a compiled evaluator, or in steps with any other.

Trees are independent of each other: whether they grow one after another or in lockstep changes nothing.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import bit_count
from selfplay.compute.compilation import Words, compiled, part_of_compiled
from selfplay.compute.random_numbers import fold
from selfplay.games.rules import Rules
from selfplay.search.mcts.evaluator import CompiledPositionValue
from selfplay.search.mcts.results import Plan, Results
from selfplay.search.mcts.rule import Constants, RuleFunctions
from selfplay.search.mcts.steps import compile_steps
from selfplay.search.mcts.tree import NOT_ADDED, Trees, back_up, edges_of, set_priors

Leaves = NDArray[np.int64]
"""int64[B]: the number of the node of each tree that is to be evaluated, or NOT_ADDED."""


class LockstepKernels(NamedTuple):
    """The steps of a search whose leaves are evaluated outside. Trees whose root is a finished match do not grow."""

    plant: Callable[..., None]
    """(own, opp, plan, trees, leaves): make the searched positions the roots."""
    descend: Callable[..., None]
    """(plan, constants, trees, leaves): the first part of a simulation in each tree."""
    receive: Callable[..., None]
    """(values, logits, words, plan, constants, trees, leaves): the second part, with the evaluations of the leaves,
    float64[B] and float64[B, A]; the rows of trees without a leaf are ignored."""
    conclude: Callable[..., None]
    """(constants, trees, results): write the results."""


@cache
def compile_lockstep(rules: Rules, pass_action: int | None, rule: RuleFunctions) -> LockstepKernels:
    """The kernels for evaluators outside the compiled search."""
    plant_root, descend_tree, begin, conclude_tree = compile_steps(rules, pass_action, rule)
    passing = -1 if pass_action is None else pass_action

    @compiled
    def plant(own: Words, opp: Words, plan: Plan, trees: Trees, leaves: Leaves) -> None:
        for tree in range(len(own)):
            leaves[tree] = 0 if plant_root(trees, tree, own[tree], opp[tree], plan) else NOT_ADDED

    @compiled
    def descend(plan: Plan, constants: Constants, trees: Trees, leaves: Leaves) -> None:
        for tree in range(len(leaves)):
            leaves[tree] = NOT_ADDED
            if trees.sizes[tree] > 0 and trees.nodes[tree, 0].is_proved == 0:
                leaves[tree] = descend_tree(trees, tree, plan, constants)

    @compiled
    def receive(
        values: NDArray[np.float64],
        logits: NDArray[np.float64],
        words: Words,
        plan: Plan,
        constants: Constants,
        trees: Trees,
        leaves: Leaves,
    ) -> None:
        of_edges = np.empty(logits.shape[1])
        for tree in range(len(leaves)):
            number = leaves[tree]
            if number == NOT_ADDED:
                continue
            edges = edges_of(trees, tree, number)
            for i in range(len(edges)):
                move = edges[i].move
                of_edges[i] = logits[tree, passing if move == 0 else bit_count(move - 1)]
            set_priors(edges, of_edges)
            trees.nodes[tree, number].value = values[tree]
            if number == 0:
                begin(trees, tree, words[tree], constants)
            else:
                back_up(trees, tree, number, values[tree], plan.proves)

    @compiled
    def conclude(constants: Constants, trees: Trees, results: Results) -> None:
        for tree in range(len(results.actions)):
            conclude_tree(trees, tree, tree, constants, results)

    return LockstepKernels(plant, descend, receive, conclude)


@cache
def compile_whole_search(
    rules: Rules, pass_action: int | None, rule: RuleFunctions, position_value: CompiledPositionValue
) -> Callable[..., bool]:
    """The whole search of a batch with a compiled evaluator, as one compiled function.

    `search(own, opp, root_words, leaf_words, plan, constants, parameters, trees, stop, results)` grows one tree after
    another in the memory of `trees` (B = 1), which holds the last one afterwards. It returns False if it was stopped,
    once `stop` (int64[1]) is not 0.
    """
    plant_root, descend, begin, conclude = compile_steps(rules, pass_action, rule)

    @part_of_compiled
    def evaluate(trees: Trees, number: int, word: int, parameters: object, logits: NDArray[np.float64]) -> float:
        node, edges = trees.nodes[0, number], edges_of(trees, 0, number)
        value = position_value(node.own, node.opp, edges, fold(word, number), parameters, logits)
        node.value = value
        set_priors(edges, logits)
        return value

    @compiled
    def search(
        own: Words,
        opp: Words,
        root_words: Words,
        leaf_words: Words,
        plan: Plan,
        constants: Constants,
        parameters: object,
        trees: Trees,
        stop: NDArray[np.int64],
        results: Results,
    ) -> bool:
        logits = np.empty(trees.edges.shape[2])
        for row in range(len(own)):
            if plant_root(trees, 0, own[row], opp[row], plan):
                evaluate(trees, 0, leaf_words[row], parameters, logits)
                begin(trees, 0, root_words[row], constants)
                for _ in range(plan.simulations):
                    if stop[0] != 0:
                        return False
                    if trees.nodes[0, 0].is_proved != 0:
                        break
                    number = descend(trees, 0, plan, constants)
                    if number != NOT_ADDED:
                        value = evaluate(trees, number, leaf_words[row], parameters, logits)
                        back_up(trees, 0, number, value, plan.proves)
            conclude(trees, 0, row, constants, results)
        return True

    return search
