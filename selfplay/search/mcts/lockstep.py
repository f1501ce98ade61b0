"""Tree searches of a batch in lockstep, compiled in steps: for evaluators that value the leaves of all trees at once.

Trees are independent of each other: whether they grow one after another or in lockstep changes nothing.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.compilation import Words, borrowed, compiled, part_of_compiled
from selfplay.compute.compiled_word_type import word_dtype
from selfplay.compute.compiled_words import load, position_of, store
from selfplay.games.rules import Rules
from selfplay.search.mcts.rule import RuleFunctions
from selfplay.search.mcts.simulations import compile_steps
from selfplay.search.mcts.tree import NOT_ADDED, CompiledTreeSearch, TreeSearchResult, back_up_of, edges_of, set_priors


class Frontier(NamedTuple):
    """The trees that wait for the evaluation of a position, in their order. Only the first `count` entries count."""

    tree: NDArray[np.int64]
    node: NDArray[np.int64]
    """int64[B]: the number of the node that is to be evaluated."""
    positions: Words
    """Its position, packed."""
    left: NDArray[np.int64]
    """int64[B]: the number of simulations that the tree still runs."""


def make_frontier(batch_size: int, num_words: int) -> Frontier:
    """Memory for `batch_size` trees of a game with positions of W = `num_words`."""
    tree, node, left = np.empty((3, batch_size), dtype=np.int64)
    return Frontier(tree, node, np.empty(batch_size, dtype=word_dtype(num_words)), left)


@cache
def compile_lockstep(
    rules: Rules, pass_action: int | None, rule: RuleFunctions
) -> tuple[Callable[..., int], Callable[..., int], Callable[..., None]]:
    """The kernels `plant`, `advance` and `conclude`. Trees whose root is a finished match do not grow."""
    plant_root, descend, begin, conclude_tree = compile_steps(rules, pass_action, rule)
    unpack, back_up = rules.position.unpack, back_up_of(rules)

    @part_of_compiled
    def wait(search: CompiledTreeSearch, tree: int, number: int, left: int, place: int, frontier: Frontier) -> None:
        node = search.trees.nodes[tree, number]
        frontier.tree[place], frontier.node[place], frontier.left[place] = tree, number, left
        store(frontier.positions, place, position_of(node))

    @part_of_compiled
    def receive(
        search: CompiledTreeSearch,
        tree: int,
        number: int,
        value: float,
        logits: NDArray[np.float64],
        of_edges: NDArray[np.float64],
    ) -> None:
        """Give a node its evaluation, and back its value up; `of_edges` is scratch memory."""
        edges = edges_of(search.trees, tree, number)
        for i in range(len(edges)):
            of_edges[i] = logits[edges[i].action]
        set_priors(edges, of_edges)
        search.trees.nodes[tree, number].value = value
        back_up(search.trees, tree, number, value, search.proves)

    @part_of_compiled
    def simulate(search: CompiledTreeSearch, tree: int, left: int, place: int, frontier: Frontier) -> int:
        """Run simulations until the tree waits, in this place of the frontier, or is done; returns the next place."""
        number = NOT_ADDED
        while left > 0 and number == NOT_ADDED and search.trees.nodes[tree, 0].is_proved == 0:
            number = descend(search, tree)
            left -= 1
        if number == NOT_ADDED:
            return place
        wait(search, tree, number, left, place, frontier)
        return place + 1

    @compiled
    def plant(positions: Words, bits: NDArray[np.int64], search: CompiledTreeSearch, frontier: Frontier) -> int:
        """Make the searched positions the roots of empty trees, and run simulations in the others as `advance` does.

        Returns the count of the frontier. `bits`: int64[B] random bits for the roots.
        """
        search, frontier = borrowed((search, frontier))
        count = 0
        for tree in range(len(positions)):
            if search.continues and search.trees.sizes[tree] > 0:
                if search.trees.nodes[tree, 0].is_proved == 0:
                    begin(search, tree, bits[tree])
                count = simulate(search, tree, search.simulations, count, frontier)
            elif plant_root(search, tree, unpack(load(positions, tree))):
                wait(search, tree, 0, search.simulations, count, frontier)
                count += 1
        return count

    @compiled
    def advance(
        count: int,
        values: NDArray[np.float64],
        logits: NDArray[np.float64],
        rows: NDArray[np.int64],
        bits: NDArray[np.int64],
        search: CompiledTreeSearch,
        frontier: Frontier,
    ) -> int:
        """Give the nodes of the frontier their evaluations; returns the new count.

        Then each tree runs simulations until it has another such node or is done. `values` (float64[N]) and `logits`
        (float64[N, A]) belong to distinct positions; `rows` (int64[count]) has for each tree the number of its
        position.
        """
        search, frontier, values, logits, rows = borrowed((search, frontier, values, logits, rows))
        waiting = 0
        of_edges = np.empty(logits.shape[1])
        for i in range(count):
            tree, number = frontier.tree[i], frontier.node[i]
            receive(search, tree, number, values[rows[i]], logits[rows[i]], of_edges)
            if number == 0:
                begin(search, tree, bits[tree])
        for i in range(count):
            waiting = simulate(search, frontier.tree[i], frontier.left[i], waiting, frontier)
        return waiting

    @compiled
    def conclude(search: CompiledTreeSearch, results: TreeSearchResult) -> None:
        for tree in range(len(results.actions)):
            conclude_tree(search, tree, tree, results)

    return plant, advance, conclude
