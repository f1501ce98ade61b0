"""Networks as programs: the outputs of portable arithmetic to the bit, and of torch closely."""

import numpy as np
import pytest
import torch
from torch import nn

from selfplay.architectures import build_network
from selfplay.architectures.layer_program import NoProgramError, layer_program
from selfplay.compute.devices import NATIVE, PORTABLE
from selfplay.compute.layer_steps import run_steps
from selfplay.compute.portable import arithmetic_of, set_numerics
from selfplay.games import make_game
from selfplay.games.random_positions import random_positions
from selfplay.training.fitting import seeded
from tests.support.amazons import Amazons
from tests.support.clobber import Clobber

ACTIONS = 11
NETWORKS = [
    ({"name": "mlp", "hidden_sizes": [20, 13]}, (2, 3, 3)),
    ({"name": "mlp"}, (10,)),
    ({"name": "conv"}, (2, 6, 7)),
    ({"name": "residual", "channels": 20, "blocks": 2}, (2, 5, 4)),
    ({"name": "alphazero_mlp"}, (3, 4, 4)),
    ({"name": "alphazero_residual", "channels": 16, "blocks": 2, "dropout": 0.5}, (10, 7, 7)),
    ({"name": "alphazero_convolutional", "channels": 5, "blocks": 1, "value_channels": 3}, (2, 3, 3)),
    ({"name": "alphazero_convolutional", "channels": 20, "blocks": 3, "board_blocks": [1, 3]}, (2, 3, 3)),
]


@pytest.mark.parametrize(
    ("architecture", "shape"),
    NETWORKS,
    ids=[f"{one['name']}{'_board' * ('board_blocks' in one)}" for one, _ in NETWORKS],
)
@pytest.mark.parametrize("numerics", [PORTABLE, NATIVE])
def test_a_program_computes_what_its_network_does(architecture, shape, numerics):
    with seeded(3):
        network = build_network(architecture, shape, ACTIONS).eval()
        for parameter in network.parameters():
            nn.init.normal_(parameter, std=0.2)
        observations = (torch.rand(4, *shape) < 0.4).float()
    set_numerics(network, numerics)
    program = layer_program(network, shape)
    with torch.no_grad(), arithmetic_of(network):
        expected = network(observations)
    tolerance = {"rtol": 0, "atol": 0} if numerics == PORTABLE else {"rtol": 1e-4, "atol": 1e-5}
    for row, observation in enumerate(observations):
        program.memory[program.observation] = observation.flatten().numpy()
        run_steps(program.steps, program.weights, program.indices, program.memory, program.is_portable)
        np.testing.assert_allclose(program.memory[program.value], expected.value[row].numpy(), **tolerance)
        assert len(program.logits) == (0 if expected.policy_logits is None else ACTIONS)
        if expected.policy_logits is not None:
            logits = program.memory[program.logits]
            np.testing.assert_allclose(logits, expected.policy_logits[row].numpy(), **tolerance)


@pytest.mark.parametrize(
    "game",
    [Clobber(), pytest.param(Amazons(), marks=pytest.mark.slow), make_game("connect_four")],
    ids=lambda game: game.name,
)
@pytest.mark.parametrize("numerics", [PORTABLE, NATIVE])
@pytest.mark.parametrize("width", [16, 20])
def test_the_logits_of_actions_that_are_not_squares_are_those_of_the_network(game, numerics, width):
    architecture = {"name": "alphazero_convolutional", "channels": 5, "blocks": 1, "policy_channels": width}
    with seeded(3):
        network = build_network(architecture, game.observation_shape, game.num_distinct_actions, game).eval()
        for parameter in network.parameters():
            nn.init.normal_(parameter, std=0.2)
    observations = game.observe(random_positions(game, game.max_game_length).state.select(torch.arange(3)))
    set_numerics(network, numerics)
    program = layer_program(network, game.observation_shape)
    with torch.no_grad(), arithmetic_of(network):
        expected = network(observations).policy_logits
    assert expected.std() > 0.01
    tolerance = {"rtol": 0, "atol": 0} if numerics == PORTABLE else {"rtol": 1e-4, "atol": 1e-4}
    for logits, observation in zip(expected, observations, strict=True):
        program.memory[program.observation] = observation.flatten().numpy()
        run_steps(program.steps, program.weights, program.indices, program.memory, program.is_portable)
        np.testing.assert_allclose(program.memory[program.logits], logits.numpy(), **tolerance)


class Doubled(nn.Module):
    """Computes something else than its layers."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, observations):
        output = self.network(observations)
        return output._replace(value=2 * output.value + 1)

    def listed_layers(self):
        return self.network.listed_layers()


def test_a_network_whose_list_of_layers_is_wrong_or_unknown_has_no_program():
    network = build_network({"name": "mlp"}, (2, 3, 3), ACTIONS).eval()
    with pytest.raises(NoProgramError, match="do not compute what it does"):
        layer_program(Doubled(network), (2, 3, 3))
    network.layers.append(nn.Sigmoid())
    with pytest.raises(NoProgramError, match=r"its layer Sigmoid\(\) is not one of"):
        layer_program(network, (2, 3, 3))
    with pytest.raises(NoProgramError, match="give its class Linear a method listed_layers"):
        layer_program(nn.Linear(2, 1), (2,))
