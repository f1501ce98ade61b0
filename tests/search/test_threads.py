"""Several threads that search the same position."""

import threading
import time

import pytest
import torch

from selfplay.games import make_game
from selfplay.search.searcher import THREADS_FROM, Searcher, SearchParameters
from tests.support.searches import evaluation_for, position_after, position_values, searched_in_time

SEARCHED = [
    ("tictactoe", 0, 9, "negascout", 16),
    ("othello_4x4", 3, 9, "negascout", 4),
]


def searching():
    """The threads of this process, without those that solve positions in the background, perhaps of earlier tests."""
    return {thread for thread in threading.enumerate() if not thread.name.startswith(("solving", "proving"))}


def searcher_with(threads, name, table_bits=16, algorithm="negascout"):
    game = make_game(name)
    searcher = Searcher(game, evaluation_for(game), algorithm, SearchParameters(table_bits=table_bits))
    searcher.num_threads = threads
    return searcher


@pytest.mark.parametrize(("name", "plies", "depth", "algorithm", "bits"), SEARCHED)
def test_the_number_of_threads_changes_no_value_and_no_action(name, plies, depth, algorithm, bits):
    one, several = (searcher_with(threads, name, bits, algorithm) for threads in (1, 3))
    before = searching()
    for seed in range(3):
        state = position_after(one.game, plies, seed)
        expected, found = one.search(state, depth), several.search(state, depth)
        assert (found.value, found.action) == (expected.value, expected.action)
        leaf = state
        for action in found.principal_variation:
            leaf = one.game.step(leaf, torch.tensor([action]))
        sign = 1 if len(found.principal_variation) % 2 == 0 else -1
        assert sign * float(position_values(one.evaluation, one.game, leaf)) == found.value
    assert not searching() - before


def test_a_time_limit_ends_all_threads():
    searcher, before = searcher_with(3, "connect_four"), searching()
    state = position_after(searcher.game, 4, 0)
    result = searched_in_time(lambda seconds: searcher.search(state, 60, time_limit=seconds), THREADS_FROM)
    assert THREADS_FROM <= result.depth < 60
    end = time.monotonic() + 60
    while searching() - before and time.monotonic() < end:
        time.sleep(0.01)
    assert not searching() - before
