"""Tree searches of a batch, compiled as a whole: for evaluators that are compiled too."""

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.compilation import Words, compiled, part_of_compiled
from selfplay.compute.intrinsics import borrowed
from selfplay.compute.random_numbers import fold
from selfplay.games.rules import Rules
from selfplay.search.interruption import LIMIT, STOP
from selfplay.search.mcts.evaluator import CompiledPositionValue
from selfplay.search.mcts.results import Plan, Results
from selfplay.search.mcts.rule import Constants, RuleFunctions
from selfplay.search.mcts.steps import compile_steps
from selfplay.search.mcts.tree import NOT_ADDED, Trees, back_up, edges_of, set_priors

ROW, IN_TREE, IN_ALL = range(3)
"""The indices of the progress of a whole search: the row of the batch, the simulations run in its tree, and in all."""


@cache
def compile_whole_search(
    rules: Rules, pass_action: int | None, rule: RuleFunctions, position_value: CompiledPositionValue
) -> Callable[..., bool]:
    """The whole search of a batch with a compiled evaluator, as one compiled function.

    `search(own, opp, root_words, leaf_words, plan, constants, parameters, trees, progress, stop, results)` grows one
    tree after another: each in the memory of the first of `trees`, which holds the last one afterwards, or with
    `plan.has_kept` each in its own. It returns False if it was stopped (see `selfplay.search.interruption.StopFlag`; a
    step is a simulation). If it stopped because of its limit, a call with the same arguments continues; `progress` is
    int64[3], 0 at first.
    """
    plant_root, descend, begin, conclude = compile_steps(rules, pass_action, rule)

    @part_of_compiled
    def evaluate(
        trees: Trees, tree: int, number: int, word: int, parameters: object, logits: NDArray[np.float64]
    ) -> float:
        node, edges = trees.nodes[tree, number], edges_of(trees, tree, number)
        value = position_value(node.own, node.opp, edges, fold(word, number), parameters, logits)
        node.value = value
        set_priors(edges, logits)
        return value

    @part_of_compiled
    def simulate(
        trees: Trees,
        tree: int,
        word: int,
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
                value = evaluate(trees, tree, number, word, parameters, logits)
                back_up(trees, tree, number, value, plan.proves)

    @part_of_compiled
    def begin_tree(
        own: int,
        opp: int,
        root_word: int,
        leaf_word: int,
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
            evaluate(trees, tree, 0, leaf_word, parameters, logits)
        else:
            return False
        begin(trees, tree, root_word, constants)
        return True

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
        progress: NDArray[np.int64],
        stop: NDArray[np.int64],
        results: Results,
    ) -> bool:
        constants, parameters, trees, progress, stop = borrowed((constants, parameters, trees, progress, stop))
        logits = np.empty(trees.edges.shape[2])
        for row in range(progress[ROW], len(own)):
            tree = row if plan.has_kept else 0
            word = leaf_words[row]
            if progress[IN_TREE] > 0 or begin_tree(
                own[row], opp[row], root_words[row], word, plan, constants, parameters, trees, tree, logits
            ):
                simulate(trees, tree, word, plan, constants, parameters, progress, stop, logits)
                if stop[STOP] != 0:
                    return False
            conclude(trees, tree, row, constants, results)
            progress[ROW], progress[IN_TREE] = row + 1, 0
        return True

    return search
