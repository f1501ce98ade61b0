"""Tree searches of a batch in lockstep, compiled in steps: for evaluators that value the leaves of all trees at once.

Trees are independent of each other: whether they grow one after another or in lockstep changes nothing.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import bit_count
from selfplay.compute.compilation import Words, borrowed, compiled, part_of_compiled
from selfplay.games.rules import Rules
from selfplay.search.mcts.rule import Constants, RuleFunctions
from selfplay.search.mcts.simulations import compile_steps
from selfplay.search.mcts.tree import NOT_ADDED, Plan, Trees, TreeSearchResult, back_up, edges_of, set_priors


class Frontier(NamedTuple):
    """The trees that wait for the evaluation of a position, in their order. Only the first `count` entries count."""

    tree: NDArray[np.int64]
    node: NDArray[np.int64]
    """int64[B]: the number of the node that is to be evaluated."""
    own: Words
    opp: Words
    """int64[B]: its position."""
    left: NDArray[np.int64]
    """int64[B]: the number of simulations that the tree still runs."""


def make_frontier(batch_size: int) -> Frontier:
    """Memory for `batch_size` trees."""
    return Frontier(*np.empty((5, batch_size), dtype=np.int64))


class LockstepKernels(NamedTuple):
    """The steps of a search whose leaves are evaluated outside. Trees whose root is a finished match do not grow."""

    plant: Callable[..., int]
    """(own, opp, bits, plan, constants, trees, frontier): make the searched positions the roots of empty trees, and
    run simulations in the others as `advance` does; returns the count of the frontier."""
    advance: Callable[..., int]
    """(count, values, logits, rows, bits, plan, constants, trees, frontier): give the nodes of the frontier their
    evaluations, and run simulations in their trees until each has another such node or is done; returns the new count.
    `values` (float64[N]) and `logits` (float64[N, A]) are the evaluations of the distinct positions, and `rows`
    (int64[count]) has the number of that of each tree."""
    conclude: Callable[..., None]
    """(constants, trees, results): write the results."""


@cache
def compile_lockstep(rules: Rules, pass_action: int | None, rule: RuleFunctions) -> LockstepKernels:
    """The kernels for evaluators outside the compiled search."""
    plant_root, descend, begin, conclude_tree = compile_steps(rules, pass_action, rule)
    passing = -1 if pass_action is None else pass_action

    @part_of_compiled
    def wait(trees: Trees, tree: int, number: int, left: int, place: int, frontier: Frontier) -> None:
        node = trees.nodes[tree, number]
        frontier.tree[place], frontier.node[place], frontier.left[place] = tree, number, left
        frontier.own[place], frontier.opp[place] = node.own, node.opp

    @part_of_compiled
    def receive(
        trees: Trees,
        tree: int,
        number: int,
        value: float,
        logits: NDArray[np.float64],
        of_edges: NDArray[np.float64],
        proves: bool,
    ) -> None:
        """Give a node its evaluation, and back its value up; `of_edges` is scratch memory."""
        edges = edges_of(trees, tree, number)
        for i in range(len(edges)):
            move = edges[i].move
            of_edges[i] = logits[passing if move == 0 else bit_count(move - 1)]
        set_priors(edges, of_edges)
        trees.nodes[tree, number].value = value
        back_up(trees, tree, number, value, proves)

    @part_of_compiled
    def simulate(
        trees: Trees, tree: int, left: int, plan: Plan, constants: Constants, place: int, frontier: Frontier
    ) -> int:
        """Run simulations until the tree waits, in this place of the frontier, or is done; returns the next place."""
        number = NOT_ADDED
        while left > 0 and number == NOT_ADDED and trees.nodes[tree, 0].is_proved == 0:
            number = descend(trees, tree, plan, constants)
            left -= 1
        if number == NOT_ADDED:
            return place
        wait(trees, tree, number, left, place, frontier)
        return place + 1

    @compiled
    def plant(
        own: Words, opp: Words, bits: Words, plan: Plan, constants: Constants, trees: Trees, frontier: Frontier
    ) -> int:
        constants, trees, frontier = borrowed((constants, trees, frontier))
        count = 0
        for tree in range(len(own)):
            if plan.has_kept and trees.sizes[tree] > 0:
                if trees.nodes[tree, 0].is_proved == 0:
                    begin(trees, tree, bits[tree], constants)
                count = simulate(trees, tree, plan.simulations, plan, constants, count, frontier)
            elif plant_root(trees, tree, own[tree], opp[tree], plan):
                wait(trees, tree, 0, plan.simulations, count, frontier)
                count += 1
        return count

    @compiled
    def advance(
        count: int,
        values: NDArray[np.float64],
        logits: NDArray[np.float64],
        rows: NDArray[np.int64],
        bits: Words,
        plan: Plan,
        constants: Constants,
        trees: Trees,
        frontier: Frontier,
    ) -> int:
        constants, trees, frontier = borrowed((constants, trees, frontier))
        values, logits, rows = borrowed((values, logits, rows))
        waiting = 0
        of_edges = np.empty(logits.shape[1])
        for i in range(count):
            tree, number = frontier.tree[i], frontier.node[i]
            receive(trees, tree, number, values[rows[i]], logits[rows[i]], of_edges, plan.proves)
            if number == 0:
                begin(trees, tree, bits[tree], constants)
        for i in range(count):
            waiting = simulate(trees, frontier.tree[i], frontier.left[i], plan, constants, waiting, frontier)
        return waiting

    @compiled
    def conclude(constants: Constants, trees: Trees, results: TreeSearchResult) -> None:
        for tree in range(len(results.actions)):
            conclude_tree(trees, tree, tree, constants, results)

    return LockstepKernels(plant, advance, conclude)
