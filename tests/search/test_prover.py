"""Results proved by proof-number search are those of all positions, in games with draws and games in which a player
moves again."""

from functools import partial

import numpy as np
import pytest
import torch

from selfplay.games import make_game
from selfplay.games.position_graph import enumerate_positions
from selfplay.players.perfect import PerfectPlayer
from selfplay.search.deadline import Deadline
from selfplay.search.prover import Prover, ResultSolver
from selfplay.search.shared_solver import SharedSolver
from tests.support.dots import Dots

ENOUGH = 1_000_000


def differences(game, plies, seed, count=20):
    """How many results of actions after random plies differ from perfect play, and which results there are."""
    perfect, prover, generator = PerfectPlayer(enumerate_positions(game)), Prover(game, 12), np.random.default_rng(seed)
    wrong, seen = 0, set()
    for _ in range(count):
        state = game.init()
        for _ in range(plies):
            state = game.step(state, torch.tensor([generator.choice(legal_in(game, state))]))
        if not bool(state.terminated):
            proofs = prover.proofs(state)
            proofs.prove(proofs.actions, ENOUGH)
            assert proofs.are_all
            expected = perfect.action_values(state)[0].numpy()
            wrong += not np.array_equal(proofs.results, expected, equal_nan=True)
            seen.update(proofs.results[proofs.actions].tolist())
    return wrong, seen


def legal_in(game, state):
    return game.legal_action_mask(state)[0].nonzero()[:, 0].numpy()


@pytest.mark.parametrize(("game", "plies"), [(make_game("tictactoe"), 2), (Dots(), 5)], ids=["tictactoe", "dots"])
def test_proved_results_are_those_of_perfect_play(game, plies):
    assert differences(game, plies, 3) == (0, {-1.0, 0.0, 1.0})


def test_the_result_of_a_position_gives_an_action_that_leads_to_it():
    game = make_game("tictactoe")
    proofs = Prover(game).proofs(game.state_after(["0,0", "1,1", "2,2"]))
    proofs.prove_best(ENOUGH)
    # O must take an edge: a corner loses.
    assert np.nanmax(proofs.results) == 0
    assert {game.action_text(one, 1) for one in np.flatnonzero(proofs.results == 0)} <= {"0,1", "1,0", "1,2", "2,1"}


def test_proofs_depend_only_on_the_position_and_on_how_many_positions_may_be_visited():
    game = make_game("tictactoe")
    prover, state = Prover(game), game.state_after(["0,0", "1,1", "2,2"])

    def found(most_visited):
        proofs = prover.proofs(state)
        proofs.prove(proofs.actions, most_visited)
        return proofs.results[proofs.actions]

    few = found(100)
    assert 0 < np.isnan(few).sum() < len(few)
    assert found(ENOUGH).tolist() == [0, -1, 0, 0, -1, 0]
    assert np.array_equal(found(100), few, equal_nan=True)


def test_a_deadline_leaves_results_unknown_but_none_wrong():
    game = make_game("tictactoe")
    proofs = Prover(game).proofs(game.init())
    with Deadline(0.0).applied():
        proofs.prove_best(ENOUGH)
        proofs.prove(proofs.actions, ENOUGH)
    assert set(proofs.results[~np.isnan(proofs.results)]) <= {0}
    proofs.prove(proofs.actions, ENOUGH)
    assert proofs.results.tolist() == [0] * 9


def test_results_are_found_in_the_background_and_known_afterwards():
    game = make_game("tictactoe")
    solver, state = SharedSolver(game, partial(ResultSolver, game)), game.state_after(["0,0", "1,1", "2,2"])
    assert solver.known(state) == {}
    results = {1: 0, 2: -1, 3: 0, 5: 0, 6: -1, 7: 0}
    assert solver.action_values(state, time_limit=60.0) == results
    assert solver.known(state) == results
    assert solver.value_text(-1, state) == "loses"
