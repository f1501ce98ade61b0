"""Observations are made from packed positions, and turned back into them."""

import numpy as np
import pytest
import torch

from selfplay.compute.random_numbers import Draws
from selfplay.games import make_game
from selfplay.games.observation_codec import ForeignObservationError
from tests.support.dataset_tools import random_rows
from tests.support.games import BOARDS
from tests.support.kalah import Kalah


@pytest.mark.parametrize("name", BOARDS)
def test_positions_are_recovered(name):
    game = make_game(name)
    rows, codec = random_rows(game, range(20)), game.observation_codec
    assert codec.entries.size == np.prod(game.observation_shape)
    assert (codec.unpack(codec.pack(rows.position)) == rows.position).all()


@pytest.mark.parametrize("game", [*map(make_game, ["tictactoe", "connect_four", "sumto100"]), Kalah()], ids=str)
def test_packed_observations_are_those_of_the_positions(game):
    state = game.init(3)
    state = game.step(state, game.kernels.random_actions(state, Draws(1, torch.arange(3), 0)))
    packed = torch.from_numpy(game.observation_codec.pack(state.position.numpy()))
    assert torch.equal(game.observations_in(packed), game.observe(state))


@pytest.mark.parametrize("sums", [[], [1, 2], [100, 0]])
def test_a_row_that_is_not_one_hot_is_rejected(sums):
    entries = np.zeros((2, 101), dtype=np.uint8)
    entries[0, 5] = entries[1, sums] = 1
    with pytest.raises(ForeignObservationError) as caught:
        make_game("sumto100").observation_codec.unpack(np.packbits(entries, axis=1))
    assert caught.value.row == 1
