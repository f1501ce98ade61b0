"""The memory of evaluations: the same results as without it, and fewer requests."""

import pytest
import torch

from selfplay.games.position_graph import positions_of
from selfplay.search.mcts.evaluation_cache import EvaluationCache
from tests.search.mcts.hashed_evaluator import HashedEvaluator


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
