"""Learned values, which order the moves of long searches."""

import numpy as np
import pytest

from selfplay.compute.compilation import borrowed, compiled
from selfplay.games import make_game
from selfplay.games.patterns import make_patterns
from selfplay.search.endgame import move_ordering as learned
from selfplay.search.endgame.solver import LEARNED_VALUES_FROM, EndgameSolver
from selfplay.search.exact_solver import empties
from selfplay.search.pattern_evaluation import pattern_tables, sum_of_entries
from tests.search.endgame.test_solver import FFO, ffo_state, named_values


def random_tables(patterns, squares=64, phases=3):
    made = make_patterns(patterns, "square", int(squares**0.5), int(squares**0.5))
    weights = np.random.default_rng(0).normal(scale=0.2, size=(phases, made.num_weights)).astype(np.float32)
    return pattern_tables(made, weights, squares)


def test_a_search_without_learned_values_says_so():
    assert learned.NO_LEARNED_VALUES.squares == 0
    assert learned.learned_values_of("othello_6x6") is learned.NO_LEARNED_VALUES


def test_patterns_whose_index_needs_more_than_16_bits_give_no_learned_values():
    assert learned.learned_values(random_tables((tuple(range(10)),), phases=1)).squares == 64
    assert learned.learned_values(random_tables((tuple(range(11)),), phases=1)) is learned.NO_LEARNED_VALUES


@pytest.mark.slow
def test_learned_values_are_those_of_the_evaluation_up_to_rounding():
    tables = random_tables(((0, 1, 2, 9), (0, 1, 2, 3, 4, 5, 6, 7, 9, 14), (27, 28)))
    values = learned.learned_values(tables)
    learned_value = learned.learned_value

    @compiled
    def both(own, opp, values, tables, found, expected):
        for i in range(len(own)):
            found[i] = learned_value(own[i], opp[i], borrowed(values))
            expected[i] = sum_of_entries(opp[i], own[i], tables)

    own, opp = np.random.default_rng(1).integers(-(2**63), 2**63 - 1, size=(2, 1000))
    own = np.concatenate([own & opp, [0, 1 << 62, -(1 << 63)]])
    opp = np.concatenate([opp & ~own[:-3], [0, 0, 1]])
    found, expected = np.empty((2, len(own)))
    both(own, opp, values, tables, found, expected)
    error = found / (64 * learned.UNITS_PER_SQUARE) - expected
    assert np.abs(error).max() <= len(tables.offsets) / (2 * 64 * learned.UNITS_PER_SQUARE) + 1e-5


@pytest.mark.slow
def test_learned_values_change_no_result():
    solver, plain = EndgameSolver(make_game("othello")), EndgameSolver(make_game("othello"))
    assert FFO["FFO#40"]["board"].count("-") >= LEARNED_VALUES_FROM
    assert solver.solve(ffo_state("FFO#40")).value == 38
    for name in ("fforum-10", "fforum-19"):
        assert named_values(solver, ffo_state(name)) == named_values(plain, ffo_state(name)) == FFO[name]["all_moves"]
        assert solver.solve(ffo_state(name))[:3] == plain.solve(ffo_state(name))[:3]


@pytest.mark.slow
def test_another_package_can_give_the_values_for_a_game(monkeypatch):
    game, asked = make_game("othello_6x6"), []
    learned.learned_values_of.cache_clear()
    monkeypatch.setattr(learned, "PATTERN_TABLES", learned.Registry("evaluation", {}))
    learned.PATTERN_TABLES.register("othello_6x6", lambda: asked.append(1) or random_tables(((0, 1, 6, 7),), 36))
    solver, plain = EndgameSolver(game), EndgameSolver(game)
    state = game.state_after(["c2", "b4", "c5", "d2", "e4", "e3", "d1", "c1", "b1", "d5", "d6", "f4"])
    assert int(empties(solver.game, state)[0]) == LEARNED_VALUES_FROM
    assert solver.value(state) == -4
    assert asked == [1]
    learned.learned_values_of.cache_clear()
    monkeypatch.setattr(learned, "PATTERN_TABLES", learned.Registry("evaluation", {}))
    assert plain.value(state) == -4
    assert plain.visited != solver.visited
    learned.learned_values_of.cache_clear()
