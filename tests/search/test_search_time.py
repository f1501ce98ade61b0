"""Searches that end early: by a time limit, by Ctrl-C, or because a deeper search would find the same."""

import numpy as np
import pytest
import torch

from selfplay.games import make_game
from selfplay.named_players.evaluations import make_evaluation
from selfplay.search.deadline import Deadline
from selfplay.search.searcher import Searcher
from tests.support.searches import at_ctrl_c, evaluation_for, position_after, searched_in_time


@pytest.mark.parametrize(("name", "depth"), [("tictactoe", 9), ("othello_4x4", 14)])
def test_deepening_stops_once_all_lines_reach_the_end_of_the_match(name, depth):
    game = make_game(name)
    searcher = Searcher(game, evaluation_for(game))
    found = searcher.search(game.init(), 100, time_limit=60)
    assert found.depth == depth
    full = Searcher(game, evaluation_for(game)).search(game.init(), 20)
    assert (found.value, found.action) == (full.value, full.action)
    values = searcher.action_values(game.init(), 100, time_limit=60)
    assert values.nan_to_num(nan=-np.inf).max() == found.value


def test_with_a_time_limit_the_deepest_finished_search_counts():
    game = make_game("connect_four")
    searcher = Searcher(game, evaluation_for(game))
    state = position_after(game, 4, 3)
    result = searched_in_time(lambda seconds: searcher.search(state, 60, time_limit=seconds), 2)
    assert 1 < result.depth < 60
    exact = Searcher(game, evaluation_for(game)).search(state, result.depth)
    assert (result.value, result.action) == (exact.value, exact.action)


@pytest.mark.usefixtures("default_sigint")
def test_an_interrupt_ends_a_search():
    game = make_game("connect_four")
    searcher, state = Searcher(game, evaluation_for(game), "minimax"), position_after(game, 4, 3)
    searcher.search(state, 1)  # compiles the search
    # A search to this depth would take years.
    with pytest.raises(KeyboardInterrupt):
        at_ctrl_c(lambda: searcher.search(state, 30))


def test_action_values_respect_a_time_limit() -> None:
    game = make_game("connect_four")
    searcher, state = Searcher(game, make_evaluation("none", game)), game.init()
    whole = searcher.action_values(state, 3)
    assert torch.equal(searcher.action_values(state, 3, time_limit=60).nan_to_num(), whole.nan_to_num())
    # As deep as the time allows, which is one ply at least.
    hurried = searcher.action_values(state, 120, time_limit=0.01)
    assert torch.equal(hurried.isnan(), whole.isnan())


def test_a_deadline_ends_a_search_of_fixed_depth_with_the_deepest_that_it_leaves_time_for() -> None:
    game = make_game("connect_four")
    state = position_after(game, 4, 3)

    def found(depth: int, seconds: float) -> tuple[int, float, int]:
        searcher = Searcher(game, evaluation_for(game))
        with Deadline(seconds).applied():
            result = searcher.search(state, depth)
        return len(result.principal_variation), result.value, result.action

    for depth, seconds in ((60, 0.0), (60, 0.3), (5, 60)):
        reached, *rest = found(depth, seconds)
        assert (reached == depth) == (depth == 5)
        exact = Searcher(game, evaluation_for(game)).search(state, reached)
        assert rest == [exact.value, exact.action]
