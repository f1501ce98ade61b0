"""The weighted sum of features as a network: values, weights, and training."""

import pytest
import torch

from selfplay import play_matches
from selfplay.architectures import build_network
from selfplay.errors import SettingError
from selfplay.games import make_game
from selfplay.games.feature_kernels import feature_values
from selfplay.games.state import State
from selfplay.players.player import RandomPlayer
from selfplay.training.parameters import Training
from tests.support.dataset_tools import observations_of, rows_of_record
from tests.support.training import fit_to_rows

WEIGHTS = [0.01, -0.2, 0.03, 0.4, -0.05, 0.06, 0.07]
ARCHITECTURE = {"name": "othello_features"}
"""The architecture with all nine features."""


def network_for(game, weights=WEIGHTS, architecture=ARCHITECTURE):
    network = build_network(architecture, game.observation_shape, game.num_distinct_actions)
    with torch.no_grad():
        network.linear.weight.copy_(torch.tensor(weights) * network.sizes)
    return network


def record_of(game, matches):
    player = RandomPlayer(game)
    (record,) = play_matches(game, (player, player), range(matches), 7)
    return record


@pytest.mark.parametrize("name", ["othello", "othello_4x4"])
def test_the_value_is_the_negated_sum_seen_by_the_player_to_move(name):
    game = make_game(name)
    state = State(*(torch.cat(field) for field in zip(*record_of(game, 20).states, strict=True)))
    expected = -(feature_values(game, state)[:, :7] @ torch.tensor(WEIGHTS))
    values = network_for(game)(game.observe(state)).value
    torch.testing.assert_close(values, expected)


def test_wrong_features_are_rejected():
    features = ["tempo"]
    with pytest.raises(SettingError, match=r"^architecture.features=.*: must be a list of different names of discs, "):
        build_network({"name": "othello_features", "features": features}, (2, 8, 8), 65)


def test_training_finds_the_weights_that_made_the_targets():
    game = make_game("othello")
    rows = rows_of_record(game, record_of(game, 60), 1.0)
    weights = [weight / 20 for weight in WEIGHTS]
    observations = (
        torch.from_numpy(observations_of(rows, game.observation_codec)).float().reshape(-1, *game.observation_shape)
    )
    with torch.no_grad():
        targets = network_for(game, weights)(observations).value.numpy()
    settings = Training(epochs=5, steps_per_epoch=60, batch_size=256, symmetries=False, learning_rate=0.02)
    network = build_network(ARCHITECTURE, game.observation_shape, game.num_distinct_actions)
    losses = fit_to_rows(network, rows._replace(target=targets), settings, game, seed=1)
    assert losses[-1].measured["validation_loss"] < 1e-6
    assert list(network.feature_weights().values()) == pytest.approx(weights, abs=1e-3)
