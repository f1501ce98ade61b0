"""Several threads that solve the same position."""

import os
import threading
import time

import numpy as np
import pytest

from selfplay.compute.devices import search_threads, set_search_threads, usable_cores
from selfplay.errors import TimeLimitError
from selfplay.games import make_game
from selfplay.search.endgame.solver import THREADS_FROM, EndgameSolver
from selfplay.search.endgame.stack_and_table import KNOWN, OPP, OWN, bounds_of, entry_of, make_table, remember
from selfplay.search.threads import search_together
from tests.search.endgame.test_solver import FFO, ffo_state, named_values

SIXTEEN_EMPTIES = ("fforum-18", "fforum-19")


def solver_with(threads, table_bits=20):
    solver = EndgameSolver(make_game("othello"), table_bits)
    solver.num_threads = threads
    return solver


def test_new_solvers_use_the_number_of_threads_that_was_set():
    assert search_threads() == EndgameSolver(make_game("othello"), 1).num_threads == 1
    set_search_threads(3)
    assert EndgameSolver(make_game("othello"), 1).num_threads == 3
    set_search_threads(None)
    assert EndgameSolver(make_game("othello"), 1).num_threads == usable_cores() <= os.cpu_count()


@pytest.mark.parametrize(("name", "threads"), [("fforum-18", 2), ("fforum-19", 5)])
def test_the_number_of_threads_changes_no_result(name, threads):
    assert FFO[name]["board"].count("-") == THREADS_FROM
    one, several = solver_with(1), solver_with(threads)
    before = threading.active_count()
    assert several.solve(ffo_state(name))[:3] == one.solve(ffo_state(name))[:3]
    assert several.visited > 0
    assert threading.active_count() == before
    assert named_values(several, ffo_state(name)) == FFO[name]["all_moves"]


@pytest.mark.slow
@pytest.mark.parametrize("table_bits", [1, 6])
def test_threads_that_often_write_to_the_same_entries_find_the_same_values(table_bits):
    solver = solver_with(6, table_bits)
    for name in 2 * SIXTEEN_EMPTIES:
        assert solver.value(ffo_state(name)) == max(FFO[name]["all_moves"].values())


def test_a_time_limit_ends_all_threads():
    solver = solver_with(3)
    before = threading.active_count()
    with pytest.raises(TimeLimitError):
        solver.value(solver.game.init(), time_limit=0.1)
    end = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < end:
        time.sleep(0.01)
    assert threading.active_count() == before
    assert solver.visited > 0


def test_the_value_of_any_thread_is_taken():
    assert search_together([lambda: None, lambda: None, lambda: 7]) == 7
    assert search_together([lambda: None, lambda: None]) is None


def test_an_entry_in_which_two_writes_are_mixed_belongs_to_no_position():
    def write_and_find(table, own, opp, lower, find):
        # Numbers of numpy wrap around, as compiled ones do.
        own, opp, lower, upper, *rest = np.array([own, opp, lower, 20, 1, 12, 1, 1])
        with np.errstate(over="ignore"):
            if not find:
                remember(table, 0, own, opp, (lower, upper), *rest)
            entry, known = entry_of(table, 0, own, opp)
        return entry, bounds_of(known, 1)

    first, second = (0x1234, -0x7000000000000000), (0x4321, 0x70)
    tables = [make_table(1) for _ in range(2)]
    assert write_and_find(tables[0], *first, 3, False) == (0, (3, 20))
    assert write_and_find(tables[1], *second, 4, False) == (0, (4, 20))
    # The same position with another bound is another write too.
    for position, lower in ((first, 5), (second, 4)):
        other = make_table(1)
        write_and_find(other, *position, lower, False)
        for words in ((OWN,), (OPP,), (KNOWN,), (OWN, OPP), (OWN, KNOWN), (OPP, KNOWN)):
            mixed = tables[0].copy()
            mixed[list(words)] = other[list(words)]
            assert write_and_find(mixed, *first, 0, True)[0] == -1
            assert write_and_find(mixed, *position, 0, True)[0] == -1
