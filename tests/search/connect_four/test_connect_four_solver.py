"""Exact scores of Connect Four."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from selfplay.errors import TimeLimitError
from selfplay.games import State, make_game
from selfplay.games.connect_four import SQUARES, Position, has_line, is_terminal, legal_actions, play
from selfplay.search.connect_four.solver import ConnectFourSolver

GAME = make_game("connect_four")
POSITIONS = json.loads(Path("tests/data/connect_four.json").read_text())["positions"]
GROUPS = ("end-easy", "middle-easy", "middle-medium", "begin-easy")


@cache
def the_solver() -> ConnectFourSolver:
    return ConnectFourSolver(GAME)


@cache
def solver_without_book() -> ConnectFourSolver:
    return ConnectFourSolver(GAME, with_book=False)


def after(columns: str) -> State:
    return GAME.state_after(columns)


def plain_score(p: Position, best: int, worst: int) -> int:
    """The score by plain alpha-beta, without any knowledge of the game but its rules."""
    if is_terminal(p):
        return -(22 - ((p.own | p.opp).bit_count() + 1) // 2) if has_line(p.opp) else 0
    value = -SQUARES
    for column in range(7):
        if legal_actions(p) >> column & 1:
            value = max(value, -plain_score(play(p, column), -worst, -max(value, best)))
            if value >= worst:
                break
    return value


@pytest.mark.parametrize("group", GROUPS)
def test_published_positions_have_their_published_scores(group):
    positions = [position for position in POSITIONS if position["group"] == group]
    assert len(positions) == 50
    scores = [solver_without_book().value(after(position["columns"])) for position in positions]
    assert scores == [position["score"] for position in positions]


CHOICES = st.lists(st.integers(0, 6), min_size=SQUARES, max_size=SQUARES)


def random_actions(choices: list[int], empties: int) -> list[int]:
    """The actions of a random match until this number of squares is empty, or to its end if that comes before."""
    state, actions = GAME.init(), []
    for choice in choices[: SQUARES - empties]:
        legal = GAME.legal_action_mask(state)[0].nonzero()[:, 0].tolist()
        if not legal:
            break
        actions.append(legal[choice % len(legal)])
        state = GAME.step(state, torch.tensor(actions[-1:]))
    return actions


def position_after(actions: list[int]) -> State:
    return after("".join(str(action + 1) for action in actions))


@settings(max_examples=40)
@given(CHOICES, st.integers(0, 10))
def test_scores_are_those_of_plain_alpha_beta(choices, empties):
    state = position_after(random_actions(choices, empties))
    score = plain_score(*GAME.positions(state), -SQUARES, SQUARES)
    assert the_solver().value(state) == score


def test_values_of_many_positions_are_clipped_single_values():
    states = [after(position["columns"]) for position in POSITIONS if position["group"] == "end-easy"]
    states += [after("4455667"), after("1212121"), after("444444")]
    batch = State(*map(torch.cat, zip(*states, strict=True)))
    single = np.array([the_solver().value(state) for state in states])
    for lowest, highest in ((-SQUARES, SQUARES), (-1, 1), (-5, -2), (3, 4)):
        bounds = (np.full(len(states), bound) for bound in (lowest, highest))
        assert (the_solver().values_within(batch, *bounds) == single.clip(lowest, highest)).all()


@settings(max_examples=25)
@given(CHOICES, st.integers(0, 16))
def test_values_the_best_action_and_the_principal_variation_agree(choices, empties):
    state = position_after(random_actions(choices, empties))
    values, result = the_solver().action_values(state), the_solver().solve(state)
    assert list(values) == GAME.legal_action_mask(state)[0].nonzero()[:, 0].tolist()
    assert result.value == the_solver().value(state)
    assert the_solver().plies_to_end(result.value, state) == len(result.principal_variation)
    if values:
        assert result.value == max(values.values())
        best = [action for action, value in values.items() if value == result.value]
        assert result.action == min(best)
        assert the_solver().best_action_mask(state).nonzero()[:, 1].tolist() == best
    for action in result.principal_variation:
        state = GAME.step(state, torch.tensor([action]))
    assert bool(state.terminated[0])
    sign = 1 if len(result.principal_variation) % 2 == 0 else -1
    assert the_solver().value(state) * sign == result.value


def test_a_time_limit_is_kept():
    with pytest.raises(TimeLimitError, match="did not finish within"):
        ConnectFourSolver(GAME, with_book=False).value(GAME.init(), time_limit=0.05)
