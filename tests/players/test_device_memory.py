"""How many matches fit into the memory of a GPU."""

import pytest
import torch

from selfplay import compose_settings
from selfplay.games import make_game
from selfplay.matches.arena import play_matches
from selfplay.players.device_memory import batch_size_within, fitting_batch_size, match_bytes
from selfplay.players.player import Player
from selfplay.players.random import RandomPlayer
from tests.support.pretended_gpu import GPU, pretended_gpu

GIB = 1 << 30


def test_a_batch_is_the_largest_power_of_two_that_fits():
    game = make_game("connect_four")
    players = [RandomPlayer(game)]
    for memory in (10 * match_bytes(game), 1000 * match_bytes(game) - 1, GIB):
        size = batch_size_within(memory, game, players)
        assert size & (size - 1) == 0
        assert size * match_bytes(game) <= memory
        assert size == 65536 or 2 * size * match_bytes(game) > memory
    assert batch_size_within(0, game, players) == 1
    assert batch_size_within(1 << 50, game, players) == 65536


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
