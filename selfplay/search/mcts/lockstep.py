"""Tree searches of a batch in lockstep, compiled in steps: for evaluators that value the leaves of all trees at once.

Trees are independent of each other: whether they grow one after another or in lockstep changes nothing. The simulations
of one round of a tree are independent too, because they follow different edges of the root and proofs need no
evaluation. So all of a round wait together, with the result of one after another.

With `CompiledTreeSearch.parallel` above 1, further rounds begin before the evaluations of the first are known, until
this number of positions of the tree wait. Each of these counts as lost in the meantime. A simulation that would pass
through one of them waits for the next batch.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.compilation import Words, borrowed, by_reference, compiled, part_of_compiled
from selfplay.compute.compiled_words import load, position_of, store
from selfplay.games.rules import Rules
from selfplay.search.mcts.rule import RuleFunctions
from selfplay.search.mcts.simulations import compile_steps
from selfplay.search.mcts.tree import (
    NOT_ADDED,
    WAITING,
    CompiledTreeSearch,
    TreeSearchResult,
    add_losses,
    back_up_of,
    edges_of,
    set_priors,
)


class Frontier(NamedTuple):
    """The nodes that wait for their evaluation, by tree. Only the first `count` entries count."""

    tree: NDArray[np.int64]
    node: NDArray[np.int64]
    """The number of the node in its tree."""
    positions: Words
    """Its position, packed."""
    left: NDArray[np.int64]
    """int64[B]: the number of simulations that each tree still runs."""


def make_frontier(batch_size: int, num_actions: int, word: "np.dtype[Any]", parallel: int) -> Frontier:
    """Memory for `batch_size` trees, whose packed positions are such words."""
    most = batch_size * (num_actions + parallel - 1)
    tree, node = np.empty((2, most), dtype=np.int64)
    return Frontier(tree, node, np.empty(most, dtype=word), np.zeros(batch_size, dtype=np.int64))


@part_of_compiled
def wait(search: CompiledTreeSearch, tree: int, number: int, place: int, frontier: Frontier) -> None:
    """Put a node into this place of the frontier."""
    frontier.tree[place], frontier.node[place] = tree, number
    store(frontier.positions, place, position_of(search.trees.nodes[tree, number]))
    if search.parallel > 1:
        search.trees.nodes[tree, number].waits = 1
        add_losses(search.trees, tree, number, 1)


@cache
def _receiving(rules: Rules) -> Callable[..., None]:
    back_up = back_up_of(rules)

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
        if search.parallel > 1:
            search.trees.nodes[tree, number].waits = 0
            add_losses(search.trees, tree, number, -1)
        back_up(search.trees, tree, number, value, search.proves)

    return receive


@cache
def _simulating(rules: Rules, pass_action: int | None, rule: RuleFunctions) -> Callable[..., int]:
    _, _, begin_round, descend, _ = compile_steps(rules, pass_action, rule)

    @part_of_compiled
    def simulate(
        search: CompiledTreeSearch, tree: int, place: int, frontier: Frontier, chosen: NDArray[np.int64]
    ) -> int:
        """Run rounds until enough nodes wait, from this place of the frontier on, or the tree is done.

        Returns the next place. `chosen` is scratch memory.
        """
        root, next_place, number = search.trees.nodes[tree, 0], place, NOT_ADDED
        while next_place < place + search.parallel and number != WAITING:
            if frontier.left[tree] == 0 or root.is_proved != 0:
                break
            count = begin_round(search, tree, chosen)
            for k in range(min(count, frontier.left[tree])):
                if root.is_proved != 0:
                    break
                number = descend(search, tree, chosen[k])
                if number == WAITING:
                    break
                frontier.left[tree] -= 1
                if number != NOT_ADDED:
                    wait(search, tree, number, next_place, frontier)
                    next_place += 1
        if next_place == place:
            frontier.left[tree] = 0
        return next_place

    return simulate


@cache
def compile_lockstep(
    rules: Rules, pass_action: int | None, rule: RuleFunctions
) -> tuple[Callable[..., int], Callable[..., int], Callable[..., None]]:
    """The kernels `plant`, `advance` and `conclude`. Trees whose root is a finished match do not grow."""
    plant_root, begin, _, _, conclude_tree = compile_steps(rules, pass_action, rule)
    receive, simulate, unpack = _receiving(rules), _simulating(rules, pass_action, rule), rules.position.unpack

    @compiled
    def plant(
        positions: Words,
        bits: NDArray[np.int64],
        known: NDArray[np.float64],
        search: CompiledTreeSearch,
        frontier: Frontier,
    ) -> int:
        """Make the searched positions the roots of empty trees, and run simulations in the others as `advance` does.

        Returns the count of the frontier. `bits`: int64[B] random bits for the roots. `known`: float64[B, A], the
        exact values of actions there, nan where unknown.
        """
        search, (frontier, known) = by_reference(search), borrowed((frontier, known))
        count, chosen = 0, np.empty(search.trees.edges.shape[2], dtype=np.int64)
        for tree in range(len(positions)):
            if search.continues and search.trees.sizes[tree] > 0:
                frontier.left[tree] = search.simulations
                if search.trees.nodes[tree, 0].is_proved == 0:
                    begin(search, tree, bits[tree])
                count = simulate(search, tree, count, frontier, chosen)
            elif plant_root(search, tree, unpack(load(positions, tree)), known[tree]):
                frontier.left[tree] = search.simulations
                wait(search, tree, 0, count, frontier)
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

        Then each tree runs simulations until other nodes wait or it is done. `values` (float64[N]) and `logits`
        (float64[N, A]) belong to distinct positions; `rows` (int64[count]) has for each entry of the frontier the
        number of its position.
        """
        search = by_reference(search)
        frontier, values, logits, rows = borrowed((frontier, values, logits, rows))
        of_edges, chosen = np.empty(logits.shape[1]), np.empty(logits.shape[1], dtype=np.int64)
        for i in range(count):
            tree, number = frontier.tree[i], frontier.node[i]
            receive(search, tree, number, values[rows[i]], logits[rows[i]], of_edges)
            if number == 0:
                begin(search, tree, bits[tree])
        waiting = 0
        for tree in range(len(frontier.left)):
            waiting = simulate(search, tree, waiting, frontier, chosen)
        return waiting

    @compiled
    def conclude(search: CompiledTreeSearch, results: TreeSearchResult) -> None:
        search = by_reference(search)
        for tree in range(len(results.actions)):
            conclude_tree(search, tree, tree, results)

    return plant, advance, conclude
