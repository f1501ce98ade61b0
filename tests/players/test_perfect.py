"""The perfect player: it cannot lose, takes every win, and breaks ties as configured."""

import numpy as np
import pytest
import torch

from selfplay.compute.random_numbers import Draws
from selfplay.games import make_game
from selfplay.games.position_graph import positions_of
from selfplay.grading.proof import FIRST, SECOND, Grader
from selfplay.players.perfect import EndgamePlayer, PerfectPlayer
from selfplay.search.deadline import Deadline, current_deadline
from selfplay.search.shared_solver import SharedSolver

GAME, OTHELLO = make_game("tictactoe"), make_game("othello")


def perfect_player(ties="random"):
    return PerfectPlayer(positions_of(GAME), ties)


@pytest.mark.parametrize("ties", ["random", "lowest"])
def test_it_cannot_lose_and_takes_every_win(ties):
    grade = Grader(positions_of(GAME)).grade(perfect_player(ties))
    assert grade.lines[FIRST].lost == grade.lines[SECOND].lost == 0
    assert grade.optimal_action_rate == 1
    assert grade.wins_given_away.lost == 0


def test_its_values_are_the_perfect_returns_of_its_actions():
    # X X .
    # O O .
    # . . .
    state = GAME.state_after(["0,0", "1,0", "0,1", "1,1"])
    values = perfect_player().action_values(state)[0]
    assert values.isnan().tolist() == [True, True, False, True, True, False, False, False, False]
    # X wins at once in the corner, and blocks on the edge; else O completes its row.
    assert values[2] == 1
    assert (values[[6, 7, 8]] == -1).all()


def test_ties_are_broken_at_random_or_by_the_lowest_action():
    draws = Draws(5, torch.arange(9000), 0)
    start = GAME.init(9000)
    assert (perfect_player("lowest").act(start, draws) == 0).all()
    counts = np.bincount(perfect_player().act(start, draws), minlength=9)
    assert (abs(counts - 1000) < 5 * 1000**0.5).all()
    assert perfect_player().policy(GAME.init()).tolist() == [[pytest.approx(1 / 9)] * 9]


def test_a_match_that_is_over_has_no_policy():
    state = GAME.state_after(["0,0", "1,0", "0,1", "1,1", "0,2"])
    assert perfect_player().policy(state).sum() == 0


MATCH = "c4c5f6c3b5g7e3e6c2f3g3a5h8b3f4f2b4f5f7h3a3d2e2e1a6e7d7c1c6g8f1g4d1b6b1d3g6b7f8a7c7h6a8b2g5g2a1d6"
"""Of Othello, without a pass, up to a position with twelve empty squares."""


def test_positions_near_the_end_are_those_with_at_most_14_empty_squares():
    player = EndgamePlayer(SharedSolver(OTHELLO, lambda _: None))
    moves = [MATCH[start : start + 2] for start in range(0, len(MATCH), 2)]
    near = [bool(player.solves(OTHELLO.state_after(moves[: 60 - empty]))) for empty in (16, 15, 14, 13, 12)]
    assert near == [False, False, True, True, True]


class SolverToCompile:
    """Gives every action the value 1; the first time that takes longer than there is, as where it is compiled."""

    def __init__(self, clock):
        self.clock = clock

    def action_values(self, state, *, on_value, **_):
        self.clock[0] = 60.0
        for action in OTHELLO.legal_action_mask(state)[0].nonzero()[:, 0].tolist():
            on_value(action, 1)


def test_the_first_values_near_the_end_are_exact_although_the_solver_is_compiled_first(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("selfplay.search.deadline.monotonic", lambda: clock[0])
    player = EndgamePlayer(SharedSolver(OTHELLO, lambda _: SolverToCompile(clock), lambda: clock[0]), time_limit=0.01)
    with Deadline(0.1).applied():
        values = player.action_values(OTHELLO.init())[0]
        assert not current_deadline().is_over
    assert values[~values.isnan()].tolist() == [1, 1, 1, 1]
