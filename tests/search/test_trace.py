"""The recorded visits of a search are those of the compiled search."""

import pytest
import torch

from selfplay.games import make_game
from selfplay.games.payoff_tree import PayoffTree
from selfplay.search.evaluation_files import make_evaluation
from selfplay.search.feature_evaluation import FeatureEvaluation
from selfplay.search.searcher import ALGORITHMS, Searcher

ARTICLE = [[3, -2, 2], [-1, 0, 4], [-4, -3, 1]]
POINTS = FeatureEvaluation("points", None, 0.0, 1.0, {})


@pytest.mark.parametrize(("algorithm", "visited"), [("minimax", 13), ("alpha_beta", 11), ("negascout", 15)])
def test_the_worked_table_of_the_article(algorithm, visited):
    game = PayoffTree(ARTICLE)
    searcher = Searcher(game, POINTS, algorithm, ordered=False, table_bits=0, min_scout_depth=2)
    result, trace = searcher.trace(game.init(), 2)
    assert (result.value, result.visited, len(trace.visits)) == (-1, visited, visited)
    assert [game.action_to_string(action) for action in result.principal_variation] == ["A2", "B1"]
    assert searcher.search(game.init(), 2) == result


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("bits", [0, 10])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_uncompiled_search_is_the_compiled_one(algorithm, bits, ordered):
    game = make_game("othello_6x6")
    state, options = game.state_after(["b3", "b4", "b5"]), {"ordered": ordered, "table_bits": bits}
    for depth in (1, 3, 4):
        searchers = [Searcher(game, make_evaluation("article", game), algorithm, **options) for _ in range(2)]
        traced, trace = searchers[0].trace(state, depth)
        assert traced == searchers[1].search(state, depth)
        assert len(trace.visits) == traced.visited


def test_a_visit_knows_its_position_its_moves_and_its_value():
    game = PayoffTree(ARTICLE)
    _, trace = Searcher(game, POINTS, "alpha_beta", ordered=False, table_bits=0).trace(game.init(), 2)
    root, last_row = trace.visits[0], next(visit for visit in trace.visits if visit.moves == (4,))
    assert (root.moves, root.value, root.num_tried, len(root.following), root.best_move) == ((), -1, 3, 3, 2)
    # After -4 the other two columns are cut off: B wins at least 4.
    assert (last_row.value, last_row.num_tried, len(last_row.following)) == (4, 1, 3)
    assert last_row.value >= last_row.beta
    assert not any(visit.is_scouted for visit in trace.visits)


def test_a_position_of_the_middle_of_a_match_with_passes():
    game = make_game("othello_4x4")
    state = game.init()
    evaluation = make_evaluation("article", game)
    while not bool(state.terminated):
        result, trace = Searcher(game, evaluation, "negascout", min_scout_depth=2).trace(state, 5)
        assert result == Searcher(game, evaluation, "negascout", min_scout_depth=2).search(state, 5)
        assert len(trace.visits) == result.visited
        state = game.step(state, torch.tensor([result.action]))
