"""Random numbers and schedules of the rules of tree search, uncompiled, and the memory of evaluations."""

import math
import tracemalloc

import numpy as np
import pytest
import torch

from selfplay.agents.network_evaluator import EvaluationCache
from selfplay.compute.compiled_word_type import word_dtype
from selfplay.compute.random_numbers import fold
from selfplay.errors import SettingError
from selfplay.games.position_graph import positions_of
from selfplay.search.mcts import gumbel as gumbel_rule
from selfplay.search.mcts.gumbel import gumbel_number
from selfplay.search.mcts.puct import dirichlet
from selfplay.search.mcts.rule import make_rule
from selfplay.search.mcts.tree import make_trees, tree_bytes
from tests.search.mcts.hashed_evaluator import HashedEvaluator


def test_the_moments_of_dirichlet_and_gumbel_numbers():
    """Dirichlet: mean 1 / n, variance (n - 1) / (n^2 (n alpha + 1)); Gumbel: mean 0.5772, variance pi^2 / 6."""
    with np.errstate(over="ignore"):
        shares = np.empty((3000, 3))
        for number, row in enumerate(shares):
            dirichlet(0.3, np.int64(number), row)
        numbers = [gumbel_number(fold(np.int64(1), np.int64(number))) for number in range(3000)]
    np.testing.assert_allclose(shares.mean(axis=0), 1 / 3, atol=0.02)
    np.testing.assert_allclose(shares.var(axis=0), 2 / (9 * 1.9), atol=0.01)
    assert np.mean(numbers) == pytest.approx(0.5772, abs=0.06)
    assert np.var(numbers) == pytest.approx(math.pi**2 / 6, abs=0.15)


def test_the_memory_of_a_tree_is_that_of_its_nodes_and_edges():
    made = make_trees(2, num_nodes=50, num_actions=9, word=word_dtype(3))
    assert 2 * tree_bytes(50, 9, 3) == made.nodes.nbytes + made.edges.nbytes


@pytest.mark.parametrize(
    ("considered", "simulations", "schedule"),
    [
        (1, 4, [0, 1, 2, 3]),
        (2, 5, [0, 0, 1, 1, 2]),
        # Two halvings of eight simulations each: twice 4 actions, then four times 2.
        (4, 16, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]),
        # Fewer simulations than a whole halving needs.
        (4, 3, [0, 0, 0]),
        (3, 7, [0, 0, 0, 1, 1, 2, 2]),
    ],
)
def test_sequential_halving_divides_the_simulations(considered, simulations, schedule):
    assert gumbel_rule.halving_schedule(considered, simulations) == schedule


@pytest.mark.parametrize(
    ("name", "constants", "reason"),
    [
        ("puct", {"noise": 1.5}, "noise=1.5: must be between 0 and 1"),
        ("puct", {"alpha": 0.0}, "alpha=0.0: must be above 0"),
        ("uct", {"c": -1.0}, "c=-1.0: must be 0 or more"),
        ("gumbel", {"considered": 0}, "considered=0: must be a whole number from 1"),
    ],
)
def test_constants_out_of_range_are_refused(name, constants, reason):
    with pytest.raises(SettingError, match=reason):
        make_rule(name, constants)


@pytest.mark.parametrize("memory", [1 << 22, 60])
def test_remembered_evaluations_are_those_of_the_evaluator(memory):
    graph, evaluator = positions_of("tictactoe"), HashedEvaluator(9)
    cache = EvaluationCache(9, memory)
    generator = torch.Generator().manual_seed(1)
    for _ in range(30):
        # Positions twice in a batch, and in places that others have taken.
        state = graph.state.select(torch.randint(0, 300, (40,), generator=generator))
        for found, computed in zip(
            cache.evaluate(state, evaluator.evaluate), HashedEvaluator(9).evaluate(state), strict=True
        ):
            assert torch.equal(found, computed.float())
    assert evaluator.asked < 30 * 40
    assert (evaluator.asked < 400) == (memory > 1000)


def test_a_cache_fills_most_of_the_memory_that_it_is_given_and_no_more():
    tracemalloc.start()
    try:
        cache = EvaluationCache(9, 1 << 20)
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 1 << 19 < used <= 1 << 20
    del cache
