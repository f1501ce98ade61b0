"""How many matches fit into the memory of a GPU."""

import pytest
import torch

from selfplay import compose_settings
from selfplay.architectures import build_network
from selfplay.games import make_game
from selfplay.matches.arena import play_matches
from selfplay.players.device_memory import batch_size_within, fitting_batch_size, match_bytes, network_bytes
from selfplay.players.player import Player
from selfplay.players.random import RandomPlayer
from selfplay.players.value_net import ValueNetPlayer
from tests.support.games import BOARDS
from tests.support.pretended_gpu import GPU, pretended_gpu

GIB = 1 << 30


def test_a_network_takes_its_weights_and_its_largest_outputs():
    network = build_network({"name": "mlp", "hidden_sizes": [100, 10]}, (2, 3, 3), 9)
    weights = 18 * 100 + 100 + 100 * 10 + 10 + 10 + 1
    assert network_bytes(network, (2, 3, 3), 50) == 4 * (weights + 4 * 50 * 100)
    narrow = build_network({"name": "mlp", "hidden_sizes": [2]}, (2, 3, 3), 9)
    assert network_bytes(narrow, (2, 3, 3), 50) == 4 * (18 * 2 + 2 + 2 + 1 + 4 * 50 * 18), "the observation is wider"
    assert not any(module._forward_hooks for module in network.modules())


@pytest.mark.parametrize("name", sorted(BOARDS))
def test_a_batch_is_the_largest_power_of_two_that_fits(name):
    game = make_game(name)
    players = [RandomPlayer(game)]
    for memory in (10 * match_bytes(game), 1000 * match_bytes(game) - 1, GIB):
        size = batch_size_within(memory, game, players)
        assert size & (size - 1) == 0
        assert size * match_bytes(game) <= memory
        assert size == 65536 or 2 * size * match_bytes(game) > memory
    assert batch_size_within(0, game, players) == 1
    assert batch_size_within(1 << 50, game, players) == 65536


def test_more_actions_plies_and_squares_take_more():
    assert (
        match_bytes(make_game("tictactoe")) < match_bytes(make_game("connect_four")) < match_bytes(make_game("othello"))
    )


def test_wider_and_deeper_players_leave_less_memory():
    game = make_game("connect_four")

    def size(channels, depth, players=1):
        network = build_network(
            {"name": "residual", "channels": channels}, game.observation_shape, game.num_distinct_actions
        )
        return batch_size_within(18_000 * match_bytes(game), game, [ValueNetPlayer(game, network, depth)] * players)

    assert size(8, 1) > size(8, 3)
    assert size(8, 1) > size(128, 1)
    assert size(128, 1) == size(128, 1, players=2)


def test_the_batch_size_is_the_default_on_the_cpu_and_fits_free_memory_on_a_gpu():
    game = make_game("othello")
    players = [RandomPlayer(game)]
    assert compose_settings().batch_size is None
    assert fitting_batch_size(game, players, "cpu") == 16384
    with pretended_gpu():
        assert fitting_batch_size(game, players, GPU) == batch_size_within(4 * GIB, game, players)


class CountedPlayer(RandomPlayer):
    """Records how many matches it was asked about at once."""

    def __init__(self, game):
        super().__init__(game)
        self.sizes = []

    def act(self, state, draws):
        self.sizes.append(state.batch_size)
        return super().act(state, draws)


class NeededPlayer(CountedPlayer):
    """Leaves memory for only a few matches."""

    def bytes_on_device(self):
        return 4 * GIB - 5 * match_bytes(make_game("tictactoe"))


@pytest.mark.parametrize(("kind", "expected"), [(CountedPlayer, 8), (NeededPlayer, 4)])
def test_the_arena_plays_as_many_matches_as_fit(kind, expected):
    game = make_game("tictactoe")
    player: Player = kind(game)
    with pretended_gpu():
        records = list(play_matches(game, (player, player), range(8), 1, device=GPU))
    assert max(player.sizes) == expected
    sequences = [actions for record in records for actions in record.action_sequences().tolist()]
    (whole,) = play_matches(game, (player, player), range(8), 1)
    assert [[a for a in s if a >= 0] for s in sequences] == [
        [a for a in s if a >= 0] for s in whole.action_sequences().tolist()
    ]
    assert torch.equal(torch.cat([record.returns() for record in records]), whole.returns())
