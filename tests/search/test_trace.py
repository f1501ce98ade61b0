"""The recorded visits of a search are those of the compiled search."""

import pytest
import torch

from selfplay.games import make_game
from selfplay.games.payoff_tree import PayoffTree
from selfplay.named_players.evaluations import make_evaluation
from selfplay.search.feature_evaluation import FeatureEvaluation
from selfplay.search.negamax import ALGORITHMS
from selfplay.search.searcher import Searcher, SearchParameters

ARTICLE = [[3, -2, 2], [-1, 0, 4], [-4, -3, 1]]
POINTS = FeatureEvaluation(win=0.0, margin=1.0, weights={})


@pytest.mark.parametrize(
    ("algorithm", "scouts_from", "visited"),
    # So close to the leaves NegaScout by default searches as alpha-beta does.
    [("minimax", None, 13), ("alpha_beta", None, 11), ("negascout", None, 11), ("negascout", 2, 15)],
)
def test_the_worked_table_of_the_article(algorithm, scouts_from, visited):
    game = PayoffTree(ARTICLE)
    searcher = Searcher(
        game, POINTS, algorithm, SearchParameters(ordered=False, table_bits=0, min_scout_depth=scouts_from)
    )
    result, trace = searcher.trace(game.init(), 2)
    assert (result.value, result.visited, len(trace.visits)) == (-1, visited, visited)
    assert [game.action_to_string(action) for action in result.principal_variation] == ["A2", "B1"]


@pytest.mark.parametrize("bits", [0, 10])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_uncompiled_search_is_the_compiled_one(algorithm, bits):
    game = make_game("othello_4x4")
    evaluation, state, plies = make_evaluation("article", game), game.init(), 0
    while not bool(state.terminated):  # with passes
        parameters = SearchParameters(ordered=plies % 2 == 0, table_bits=bits, min_scout_depth=2)
        searchers = [Searcher(game, evaluation, algorithm, parameters) for _ in range(2)]
        traced, trace = searchers[0].trace(state, (1, 3, 4)[plies % 3])
        assert traced == searchers[1].search(state, traced.depth)
        assert len(trace.visits) == traced.visited
        state, plies = game.step(state, torch.tensor([traced.action])), plies + 1


def test_a_visit_knows_its_position_its_moves_and_its_value():
    game = PayoffTree(ARTICLE)
    _, trace = Searcher(game, POINTS, "alpha_beta", SearchParameters(ordered=False, table_bits=0)).trace(game.init(), 2)
    root, last_row = trace.visits[0], next(visit for visit in trace.visits if visit.actions == (2,))
    assert (root.actions, root.value, root.num_tried, root.following) == ((), -1, 3, (0, 1, 2))
    # After -4 the other two columns are cut off: B wins at least 4.
    assert (last_row.value, last_row.num_tried, last_row.following) == (4, 1, (3, 4, 5))
    assert last_row.value >= last_row.beta
