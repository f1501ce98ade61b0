"""The search player: its actions and its results."""

import numpy as np
import pytest
import torch

from selfplay.compute.random_numbers import Draws
from selfplay.games import make_game
from selfplay.named_players.make import make_player
from selfplay.search.deadline import Deadline
from selfplay.search.endgame.solver import EndgameSolver

OTHELLO = make_game("othello_4x4")


def named(text, game=OTHELLO):
    return make_player(text, game, "nowhere")


def midgame(game, matches=30, plies=4):
    state = game.init(matches)
    for ply in range(plies):
        state = game.step(state, game.kernels.random_actions(state, Draws(5, torch.arange(matches), ply)))
    return state


def test_it_takes_the_lowest_of_the_best_actions():
    player, state = named("search:negascout?depth=3&evaluation=article"), midgame(OTHELLO)
    values = player.action_values(state).nan_to_num(nan=-np.inf)
    actions = player.act(state, Draws(0, torch.arange(30), 4))
    assert actions.tolist() == values.argmax(dim=1).tolist()
    assert player.policy(state).argmax(dim=1).tolist() == actions.tolist()
    assert player.policy(state).sum(dim=1).tolist() == [1.0] * 30


def test_endgames_are_played_exactly():
    player = named("search:negascout?depth=1&evaluation=article&endgame=10")
    state = midgame(OTHELLO, matches=4)
    actions = player.act(state, Draws(0, torch.arange(4), 4)).tolist()
    values, solver = player.action_values(state), EndgameSolver(OTHELLO)
    for row in range(4):
        exact = solver.action_values(state, row)
        assert {a: int(v) for a, v in enumerate(values[row]) if not v.isnan()} == exact
        assert actions[row] == (max(exact, key=lambda action: (exact[action], -action)) if exact else -1)


@pytest.mark.parametrize("options", ["", "&slack=0", "&endgame=12", "&time_limit=0.02"])
def test_a_deadline_and_a_time_limit_give_legal_actions(options):
    player, state = named(f"search:negascout?depth=30&evaluation=article{options}"), midgame(OTHELLO, matches=4)
    with Deadline(0.0).applied():
        actions = player.act(state, Draws(0, torch.arange(4), 4))
    assert OTHELLO.legal_action_mask(state)[torch.arange(4), actions].all()
