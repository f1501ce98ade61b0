"""Several threads that solve the same position, and learned values, which order the moves of long searches."""

import threading

import numba
import numpy as np
import pytest

from selfplay.games import make_game
from selfplay.games.patterns import make_patterns
from selfplay.search.endgame import move_ordering as learned
from selfplay.search.endgame.kernel import words_as_vectors
from selfplay.search.endgame.solver import LEARNED_VALUES_FROM, THREADS_FROM, EndgameSolver
from selfplay.search.exact_solver import empties
from selfplay.search.pattern_evaluation import pattern_tables
from tests.search.endgame.test_solver import FFO, ffo_state, named_values


def test_solvers_that_are_compiled_at_the_same_time_leave_the_compiler_as_it_was():
    before, second_is_in = numba.config.SLP_VECTORIZE, threading.Event()
    first_is_in, first_has_left = threading.Event(), threading.Event()

    def first():
        with words_as_vectors():
            first_is_in.set()
            second_is_in.wait(0.2)
        first_has_left.set()

    def second():
        first_is_in.wait()
        with words_as_vectors():
            second_is_in.set()
            first_has_left.wait()

    both = [threading.Thread(target=work) for work in (first, second)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert before == numba.config.SLP_VECTORIZE


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
    solver = solver_with(6, 1)
    for name in 2 * SIXTEEN_EMPTIES:
        assert solver.value(ffo_state(name)) == max(FFO[name]["all_moves"].values())


def random_tables(patterns, squares=64, phases=3):
    made = make_patterns(patterns, "square", int(squares**0.5), int(squares**0.5))
    weights = np.random.default_rng(0).normal(scale=0.2, size=(phases, made.num_weights)).astype(np.float32)
    return pattern_tables(made, weights, squares)


@pytest.mark.slow
def test_learned_values_change_no_result():
    solver, plain = EndgameSolver(make_game("othello")), EndgameSolver(make_game("othello"))
    assert FFO["FFO#40"]["board"].count("-") >= LEARNED_VALUES_FROM
    assert solver.solve(ffo_state("FFO#40")).value == 38
    for name in ("fforum-10", "fforum-19"):
        assert named_values(solver, ffo_state(name)) == named_values(plain, ffo_state(name)) == FFO[name]["all_moves"]
        assert solver.solve(ffo_state(name))[:3] == plain.solve(ffo_state(name))[:3]


def tables_of_corners():
    return random_tables(((0, 1, 8, 9),))


@pytest.mark.slow
def test_another_package_can_give_the_values_for_a_game(monkeypatch):
    game, state = make_game("othello"), ffo_state("FFO#40")
    learned.learned_values_of.cache_clear()
    tables = learned.Registry("evaluation", {"othello": f"{__name__}:tables_of_corners"})
    monkeypatch.setattr(learned, "PATTERN_TABLES", tables)
    solver, plain = EndgameSolver(game), EndgameSolver(game)
    assert int(empties(solver.game, state)[0]) >= LEARNED_VALUES_FROM
    assert solver.value(state) == 38
    learned.learned_values_of.cache_clear()
    monkeypatch.setattr(learned, "PATTERN_TABLES", learned.Registry("evaluation", {}))
    assert plain.value(state) == 38
    assert plain.visited != solver.visited
    learned.learned_values_of.cache_clear()
