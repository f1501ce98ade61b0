"""The random player: each legal action equally often."""

from functools import cache

import pytest
import torch

from selfplay.compute.random_numbers import Draws
from selfplay.games import make_game
from selfplay.players.player import RandomPlayer
from tests.support import chi_square

NAMES = ["othello", "sumto100"]


def positions_on_the_way(game, matches):
    """Random matches, ply after ply."""
    player, state, ply = RandomPlayer(game), game.init(matches), 0
    while not state.terminated.all():
        yield ply, state
        state = game.step(state, player.act(state, Draws(77, torch.arange(matches), ply)))
        ply += 1


@cache
def some_positions(name):
    return list(positions_on_the_way(make_game(name), 20))


@pytest.mark.parametrize(
    ("name", "moves"),
    [("tictactoe", []), ("tictactoe", ["1,1", "0,0", "2,2"]), ("sumto100", ["10"]), ("sumto100", ["10"] * 9 + ["4"])],
)
def test_legal_actions_are_drawn_equally_often(name, moves):
    game = make_game(name)
    state = game.state_after(moves).select(torch.zeros(60_000, dtype=torch.int64))
    actions = RandomPlayer(game).act(state, Draws(13, torch.arange(60_000), len(moves)))
    legal = game.legal_action_mask(state)[0]
    counts = torch.bincount(actions, minlength=len(legal))
    assert not counts[~legal].any()
    assert chi_square.p_value(counts[legal].numpy()) > 1e-3
