"""Several threads that search the same position."""

import threading
import time

import numpy as np
import pytest
import torch

from selfplay.compute.devices import search_threads, set_search_threads
from selfplay.games import make_game
from selfplay.search import searcher as searcher_module
from selfplay.search.evaluation import position_values
from selfplay.search.searcher import MOST_SHARED, THREADS_FROM, Searcher
from selfplay.search.stack_and_table import EXACT, FRAME, KNOWN, OPP, OWN, VALUE, look_up, make_table, store
from tests.support.searches import evaluation_for, position_after

SEARCHED = [
    ("tictactoe", 0, 9, "negascout", 16),
    ("othello_4x4", 3, 9, "negascout", 4),
    ("othello_4x4", 3, 9, "alpha_beta", 16),
]


def searcher_with(threads, name, table_bits=16, algorithm="negascout"):
    game = make_game(name)
    searcher = Searcher(game, evaluation_for(game), algorithm, table_bits=table_bits)
    searcher.num_threads = threads
    return searcher


@pytest.mark.parametrize(("name", "plies", "depth", "algorithm", "bits"), SEARCHED)
def test_the_number_of_threads_changes_no_value_and_no_action(name, plies, depth, algorithm, bits):
    one, several = (searcher_with(threads, name, bits, algorithm) for threads in (1, 3))
    before = threading.active_count()
    for seed in range(3):
        state = position_after(one.game, plies, seed)
        expected, found = one.search(state, depth), several.search(state, depth)
        assert (found.value, found.action) == (expected.value, expected.action)
        leaf = state
        for action in found.principal_variation:
            leaf = one.game.step(leaf, torch.tensor([action]))
        sign = 1 if len(found.principal_variation) % 2 == 0 else -1
        assert sign * float(position_values(one.evaluation, one.game, leaf)) == found.value
    assert threading.active_count() == before


@pytest.mark.parametrize(
    ("batch_size", "depth", "bits", "counts"),
    [
        (1, THREADS_FROM, 10, [3]),
        (2, THREADS_FROM, 10, [3, 3]),
        (1, THREADS_FROM - 1, 10, []),
        (MOST_SHARED + 1, THREADS_FROM, 10, []),
        (1, THREADS_FROM, 0, []),
    ],
)
def test_threads_share_long_searches_of_few_positions_with_a_table(monkeypatch, batch_size, depth, bits, counts):
    searcher, found = searcher_with(3, "tictactoe", bits), []
    together = searcher_module.search_together
    monkeypatch.setattr(searcher_module, "search_together", lambda work: found.append(len(work)) or together(work))
    searcher.search_batch(searcher.game.init(batch_size), depth)
    assert found == counts


def test_new_searchers_use_the_number_of_threads_that_was_set():
    assert search_threads() == searcher_with(1, "tictactoe").num_threads == 1
    set_search_threads(3)
    game = make_game("tictactoe")
    assert Searcher(game, evaluation_for(game)).num_threads == 3


def test_a_time_limit_ends_all_threads():
    searcher, before = searcher_with(3, "connect_four"), threading.active_count()
    result = searcher.search(position_after(searcher.game, 4, 0), 60, time_limit=0.3)
    assert THREADS_FROM <= result.depth < 60
    end = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < end:
        time.sleep(0.01)
    assert threading.active_count() == before


def test_an_entry_in_which_two_writes_are_mixed_belongs_to_no_position():
    def write(table, frames):
        with np.errstate(over="ignore"):  # compiled code wraps around without a warning
            store(table, frames[0], 7)

    def find(table, frames):
        with np.errstate(over="ignore"):
            return look_up(table, frames[0], 7, False)

    def frame_of(own, opp, best, move):
        frames = np.zeros(1, dtype=FRAME).view(np.recarray)
        frames["own"], frames["opp"], frames["best"], frames["best_move"] = own, opp, best, move
        frames["alpha"], frames["beta"], frames["is_open"] = -2.0, 2.0, 1
        return frames

    first, second = frame_of(0x1234, -0x7000000000000000, 0.25, 1 << 20), frame_of(0x4321, 0x70, -0.5, 0)
    better = frame_of(0x1234, -0x7000000000000000, 0.75, -(1 << 63))
    tables = {name: make_table(1) for name in ("first", "second", "better")}
    for name, frames in (("first", first), ("second", second), ("better", better)):
        write(tables[name], frames)
    places = {name: table.nonzero()[0][0] // 4 * 4 for name, table in tables.items()}
    assert tables["first"][places["first"] + KNOWN] & 3 == EXACT
    for frames, name, move in ((first, "first", 1 << 20), (better, "better", -(1 << 63)), (second, "second", 0)):
        assert find(tables[name], frames) == (False, move)  # inside the window: no answer, but a move
        narrow = frames.copy()
        narrow["alpha"], narrow["beta"] = 3.0, 4.0
        assert find(tables[name], narrow) == (True, move)
        assert (narrow["best"][0], narrow["is_open"][0]) == (frames["best"][0], 1)
    for other in ("second", "better"):
        for words in ((OWN,), (OPP,), (VALUE,), (KNOWN,), (OWN, OPP), (VALUE, KNOWN), (OWN, VALUE), (OPP, KNOWN)):
            mixed = tables["first"].copy()
            for word in words:
                mixed[places["first"] + word] = tables[other][places[other] + word]
            for frames in (first, second, better):
                narrow = frames.copy()
                narrow["alpha"], narrow["beta"] = 3.0, 4.0
                assert find(mixed, narrow) == (False, 0)
