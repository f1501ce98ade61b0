"""Tree searches that begin with exact values, and choices that proofs check."""

import numpy as np
import pytest
import torch

from selfplay.compute.random_numbers import Draws
from selfplay.errors import SettingError
from selfplay.games import make_game
from selfplay.games.position_graph import optimal_actions, perfect_values, positions_of
from selfplay.named_players.make import make_player
from selfplay.players.mcts import TreeSearchParameters
from selfplay.players.tempered import TemperedPlayer
from selfplay.search.mcts.checked_search import CheckedSearch
from selfplay.search.mcts.rule import make_rule
from selfplay.search.mcts.tree_search import TreeSearch
from tests.search.mcts.hashed_evaluator import HashedEvaluator
from tests.support.searches import position_after

GAME = make_game("tictactoe")
ALL = 100_000
"""More positions than a proof in this game visits."""


def few_simulations(number: int = 2) -> TreeSearch:
    return TreeSearch(GAME, HashedEvaluator(GAME.num_distinct_actions), make_rule("puct"), number)


def test_a_checked_choice_is_the_best_in_every_position_although_its_tree_sees_two_plies():
    graph = positions_of(GAME)
    some = torch.from_numpy(np.flatnonzero(~graph.terminated)[::41])
    state, best = graph.state.select(some), torch.from_numpy(optimal_actions(graph, perfect_values(graph)))[some]
    trees, number = few_simulations(), torch.arange(len(some))
    unchecked, checked = trees.search(state).actions, CheckedSearch(trees, ALL).search(state)
    assert not best[number, unchecked].all()
    assert best[number, checked.actions].all()
    assert torch.equal(CheckedSearch(trees, ALL).search(state, Draws(3, number, 4)).actions, checked.actions)


def test_simulations_follow_no_action_that_is_known_to_lose():
    state = position_after(GAME, 2, 0)
    trees, size = few_simulations(40), GAME.num_distinct_actions
    chosen = int(trees.search(state).actions)
    known = torch.full((1, size), torch.nan, dtype=torch.float64)
    known[0, chosen] = -1
    found = trees.search(state, None, known)
    assert found.visits[0, chosen] == 0
    assert found.visits.sum() == 40
    assert int(found.actions) != chosen
    assert found.action_values[0, chosen] == -1
    known[0, chosen] = 1
    won = trees.search(state, None, known)
    assert (int(won.actions), float(won.value), bool(won.is_proved)) == (chosen, 1.0, True)


def test_a_player_that_draws_by_simulations_draws_no_action_that_is_proved_to_be_worse():
    graph = positions_of(GAME)
    values = perfect_values(graph)
    rows = np.flatnonzero(~graph.terminated)[::41]
    state, best = graph.state.select(torch.from_numpy(rows)), torch.from_numpy(optimal_actions(graph, values))[rows]
    player = TreeSearchParameters(simulations=2, proof_positions=ALL).search_player(GAME, HashedEvaluator(9))
    drawn = TemperedPlayer(GAME, player, temperature=100.0).policy(state)
    is_won = best[torch.from_numpy(values[rows] == 1)]
    assert len(is_won) > 0
    assert not (drawn[torch.from_numpy(values[rows] == 1)] > 0)[~is_won].any()


@pytest.mark.slow
@pytest.mark.parametrize("strength", ["hard", "strongest"])
def test_an_open_three_is_stopped_where_nearly_all_moves_lose(strength):
    """On 15x15 crossings, where three of 204 moves stop it, or begin with a four."""
    moves = (112, 142, 113, 99, 125, 138, 144, 160, 152, 156, 190, 132, 149, 83, 94, 97, 179, 71, 98, 173, 194)
    game = make_game("gomoku_15x15")
    state = game.follow([torch.tensor([move]) for move in moves])
    draws = Draws(0, torch.tensor([0]), len(moves))
    assert int(make_player(strength, game).act(state, draws)) in {134, 164, 209}


def test_a_search_that_continues_its_tree_is_not_repeated():
    with pytest.raises(SettingError, match="proof_positions=0"):
        TreeSearchParameters(reuse=True, proof_positions=1).search_player(GAME, HashedEvaluator(9))
