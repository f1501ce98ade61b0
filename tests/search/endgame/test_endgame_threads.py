"""Several threads that solve the same position."""

import threading

import pytest

from selfplay.games import make_game
from selfplay.search.endgame.solver import THREADS_FROM, EndgameSolver
from tests.search.endgame.test_solver import FFO, ffo_state, named_values

SIXTEEN_EMPTIES = ("fforum-18", "fforum-19")


def solver_with(threads, table_bits=20):
    solver = EndgameSolver(make_game("othello"), table_bits)
    solver.num_threads = threads
    return solver


def test_the_number_of_threads_changes_no_result():
    name, threads = "fforum-19", 5
    assert FFO[name]["board"].count("-") == THREADS_FROM
    one, several = solver_with(1), solver_with(threads)
    before = threading.active_count()
    assert several.solve(ffo_state(name))[:3] == one.solve(ffo_state(name))[:3]
    assert several.visited > 0
    assert threading.active_count() == before
    assert named_values(several, ffo_state(name)) == FFO[name]["all_moves"]


@pytest.mark.slow
def test_threads_that_often_write_to_the_same_entries_find_the_same_values():
    table_bits = 1
    solver = solver_with(6, table_bits)
    for name in 2 * SIXTEEN_EMPTIES:
        assert solver.value(ffo_state(name)) == max(FFO[name]["all_moves"].values())
