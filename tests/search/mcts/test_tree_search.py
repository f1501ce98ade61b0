"""Tree search: exact values, policies, and independence of the batch."""

import os
import signal
import threading

import numpy as np
import pytest
import torch

from selfplay.compute.random_numbers import Draws
from selfplay.errors import SettingError
from selfplay.games import make_game
from selfplay.games.position_graph import positions_of
from selfplay.search.backward_induction import optimal_actions, perfect_values
from selfplay.search.mcts import tree_search
from selfplay.search.mcts.rollouts import RolloutEvaluator
from selfplay.search.mcts.rule import make_rule
from selfplay.search.mcts.tree_search import TreeSearch
from tests.search.mcts.hashed_evaluator import HashedEvaluator

GAME = make_game("tictactoe")
NOISE = {"puct": {"noise": 0.25}, "gumbel": {"gumbel_scale": 1.0}}


def with_batches(name, simulations, **arguments):
    return TreeSearch(GAME, HashedEvaluator(9), make_rule(name, NOISE[name]), simulations, **arguments)


@pytest.fixture(scope="module")
def graph():
    return positions_of("tictactoe")


@pytest.mark.slow
def test_with_enough_simulations_every_position_of_tictactoe_is_solved(graph):
    """Every action is optimal and every value rounds to the exact one; most values are proved."""
    search = TreeSearch(GAME, RolloutEvaluator(), make_rule("uct"), 20000)
    result = search.search(graph.state)
    exact, proved = perfect_values(graph), result.is_proved.numpy()
    assert (result.value.numpy()[proved] == exact[proved]).all()
    optimal, rows = optimal_actions(graph, exact), np.flatnonzero(~graph.terminated)
    assert proved[rows].mean() > 0.99
    assert optimal[rows, result.actions.numpy()[rows]].all()
    np.testing.assert_allclose(result.value.numpy()[rows], exact[rows], atol=0.1)


@pytest.mark.parametrize("name", ["puct", "gumbel"])
@pytest.mark.parametrize("proves", [False, True])
def test_policies_are_distributions_over_legal_actions(graph, name, proves):
    state = graph.state.select(torch.arange(0, len(graph), 10))
    result = with_batches(name, 7, proves=proves).search(state)
    mask = GAME.legal_action_mask(state)
    totals = (~state.terminated).double()
    torch.testing.assert_close(result.policy.sum(dim=1), totals)
    assert (result.policy[~mask] == 0).all()
    assert (result.policy >= 0).all()
    assert (result.visits[~mask] == 0).all()
    open_rows = ~state.terminated & ~result.is_proved
    assert (result.visits.sum(dim=1)[open_rows] == 7).all()
    assert mask.gather(1, result.actions[:, None])[~state.terminated].all()
    assert result.action_values[~mask].isnan().all()


@pytest.mark.parametrize("name", ["puct", "gumbel"])
def test_a_result_does_not_depend_on_the_batch(graph, name, monkeypatch):
    rows = torch.arange(1, len(graph), 130)
    state, match = graph.state.select(rows), torch.arange(len(rows)) % 7
    search = with_batches(name, 12)
    together = search.search(state, Draws(5, match, 2))
    for start in range(0, len(rows), 3):
        alone = search.search(state.select(torch.arange(start, start + 1)), Draws(5, match[start : start + 1], 2))
        for one, all_of_them in zip(alone, together, strict=True):
            assert torch.equal(one[0].nan_to_num(9), all_of_them[start].nan_to_num(9))
    monkeypatch.setattr(tree_search, "BYTES_AT_ONCE", 1 << 16)
    for one, other in zip(search.search(state, Draws(5, match, 2)), together, strict=True):
        assert torch.equal(one.nan_to_num(9), other.nan_to_num(9))


def test_searches_without_random_numbers_are_done_once_for_equal_positions(graph):
    evaluator = HashedEvaluator(9)
    search = TreeSearch(GAME, evaluator, make_rule("gumbel"), 10)
    one = search.search(GAME.init())
    asked = evaluator.asked
    many = search.search(GAME.init(5), Draws(1, torch.arange(5), 0))
    assert evaluator.asked == 2 * asked
    assert torch.equal(many.visits, one.visits.expand(5, -1))


def test_equal_leaves_are_evaluated_once(graph):
    """Five trees with different noise share their first position, and most of the next."""
    search = with_batches("puct", 1)
    result = search.search(GAME.init(5), Draws(1, torch.arange(5), 0))
    assert search.evaluator.asked == 1 + len(result.visits.argmax(dim=1).unique())


def test_a_proved_win_is_played_although_another_action_was_visited_more():
    # X has two in a row at 0 and 1, and is to move.
    state = GAME.state_at(torch.tensor([0b000000011]), torch.tensor([0b000011000]))
    result = with_batches("puct", 5).search(state)
    assert (int(result.actions), float(result.value), bool(result.is_proved)) == (2, 1.0, True)
    assert result.policy[0].tolist() == [0, 0, 1, 0, 0, 0, 0, 0, 0]


def test_a_proved_loss_gets_no_weight():
    # O threatens 5; every other reply loses at once.
    state = GAME.state_at(torch.tensor([0b100000001]), torch.tensor([0b000011000]))
    result = with_batches("gumbel", 20).search(state)
    assert int(result.actions) == 5
    assert result.policy[0, 5] == 1


def test_nothing_is_searched_where_the_match_is_over():
    state = GAME.state_at(torch.tensor([0b000011000]), torch.tensor([0b000000111]))
    result = with_batches("puct", 5).search(state)
    assert float(result.visits.sum()) == float(result.policy.sum()) == 0
    assert with_batches("puct", 5).search(state.select(torch.tensor([], dtype=torch.int64))).actions.shape == (0,)


@pytest.mark.parametrize("simulations", [0, 10**7])
def test_the_number_of_simulations_must_be_in_range(simulations):
    with pytest.raises(SettingError, match=f"simulations={simulations}: must be 1 to 1,000,000"):
        with_batches("puct", simulations)


@pytest.mark.parametrize("reuse", [False, True])
def test_a_search_that_continues_in_another_thread_finds_the_same(graph, monkeypatch, reuse):
    state, found, starts = graph.state.select(torch.arange(0, len(graph), 50)), [], []
    start = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda thread: (starts.append(thread.name), start(thread)))
    for quick_simulations in (10**9, 1, 101):
        search = TreeSearch(GAME, RolloutEvaluator(), make_rule("uct"), 20, reuse=reuse)
        for ply in range(2):
            starts.clear()
            search._quick_simulations = quick_simulations
            found.append(search.search(state, Draws(1, torch.arange(state.batch_size), ply)))
            assert len(starts) == (quick_simulations < 10**9)
    for result, expected in zip(found[2:], found[:2] * 2, strict=True):
        for tensor, same in zip(result, expected, strict=True):
            assert torch.equal(tensor.nan_to_num(9), same.nan_to_num(9))


def test_short_searches_start_no_thread():
    search = TreeSearch(GAME, RolloutEvaluator(), make_rule("uct"), 20)
    for _ in range(3):
        search.search(GAME.init())
    assert search._quick_simulations > 20


def test_ctrl_c_ends_a_long_search(default_sigint):
    search = TreeSearch(GAME, RolloutEvaluator(), make_rule("uct"), 1_000_000)
    search.search(GAME.state_after(["1,1", "0,0", "0,1", "2,1", "1,0", "1,2"]))  # compiles
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        search.search(GAME.init(10_000))


def test_fewer_simulations_are_allowed_where_a_tree_would_not_fit_into_memory():
    with pytest.raises(SettingError, match=r"simulations=1000000: must be 1 to 8[0-9]{2},[0-9]{3}"):
        TreeSearch(make_game("othello"), RolloutEvaluator(), make_rule("uct"), 1_000_000)
