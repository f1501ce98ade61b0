"""The tree search of a batch as one compiled function, for evaluators that are compiled too."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.compilation import Words, borrowed, by_reference, compiled, part_of_compiled
from selfplay.compute.compiled_words import load, position_of
from selfplay.compute.random_numbers import fold
from selfplay.games.rules import Position, Rules
from selfplay.search.mcts.evaluator import CompiledPositionValue
from selfplay.search.mcts.rule import RuleFunctions
from selfplay.search.mcts.simulations import compile_steps
from selfplay.search.mcts.tree import NOT_ADDED, CompiledTreeSearch, TreeSearchResult, back_up_of, edges_of, set_priors
from selfplay.search.threads import LIMIT, STOP, StopFlag

ROW, IN_TREE, IN_ALL = range(3)
"""The indices of the progress of a whole search: the row of the batch, the simulations run in its tree, and in all."""


@cache
def _evaluating(rules: Rules, position_value: CompiledPositionValue) -> Callable[..., float]:
    unpack = rules.position.unpack

    @part_of_compiled
    def evaluate(search: CompiledTreeSearch, tree: int, number: int, bits: int, logits: NDArray[np.float64]) -> float:
        """Give a node its value and its edges their priors; `logits` is scratch memory."""
        node, edges = search.trees.nodes[tree, number], edges_of(search.trees, tree, number)
        position = unpack(position_of(node))
        value = position_value(position, edges, fold(bits, number), search.parameters, logits)
        node.value = value
        set_priors(edges, logits)
        return value

    return evaluate


@cache
def _simulating(
    rules: Rules, pass_action: int | None, rule: RuleFunctions, position_value: CompiledPositionValue
) -> Callable[..., None]:
    _, _, begin_round, descend, _ = compile_steps(rules, pass_action, rule)
    evaluate, back_up = _evaluating(rules, position_value), back_up_of(rules)

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

    return simulate


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
    plant_root, begin, _, _, conclude = compile_steps(rules, pass_action, rule)
    evaluate, simulate = _evaluating(rules, position_value), _simulating(rules, pass_action, rule, position_value)
    unpack = rules.position.unpack

    @part_of_compiled
    def begin_tree(
        search: CompiledTreeSearch,
        tree: int,
        position: Position,
        root_bits: int,
        leaf_bits: int,
        known: Any,
        logits: NDArray[np.float64],
    ) -> bool:
        """Plant a tree or continue the kept one; returns whether simulations can follow."""
        if search.continues and search.trees.sizes[tree] > 0:
            if search.trees.nodes[tree, 0].is_proved != 0:
                return False
        elif plant_root(search, tree, position, known):
            evaluate(search, tree, 0, leaf_bits, logits)
        else:
            return False
        begin(search, tree, root_bits)
        return True

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
            tree, bits, known = row if search.continues else 0, leaf_bits[row], results.action_values[row]
            if progress[IN_TREE] > 0 or begin_tree(
                search, tree, unpack(load(positions, row)), root_bits[row], bits, known, logits
            ):
                simulate(search, tree, bits, progress, stop, chosen, logits)
                if stop[STOP] != 0:
                    return False
            conclude(search, tree, row, results)
            progress[ROW], progress[IN_TREE] = row + 1, 0
        return True

    return search_batch
