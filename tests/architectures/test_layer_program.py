"""Networks as programs: the outputs of portable arithmetic to the bit, and of torch closely."""

import numpy as np
import pytest
import torch
from torch import nn

from selfplay.architectures import build_network
from selfplay.architectures.layer_program import layer_program
from selfplay.compute.devices import NATIVE, PORTABLE
from selfplay.compute.layer_steps import run_program
from selfplay.compute.portable import arithmetic_of, set_numerics
from selfplay.training.fitting import seeded

ACTIONS = 11
NETWORKS = [
    ({"name": "mlp", "hidden_sizes": [20, 13]}, (2, 3, 3)),
    ({"name": "mlp"}, (10,)),
    ({"name": "conv"}, (2, 6, 7)),
    ({"name": "residual", "channels": 20, "blocks": 2}, (2, 5, 4)),
    ({"name": "alphazero_mlp"}, (3, 4, 4)),
    ({"name": "alphazero_residual", "channels": 16, "blocks": 2, "dropout": 0.5}, (10, 7, 7)),
    ({"name": "alphazero_convolutional", "channels": 5, "blocks": 1, "value_channels": 3}, (2, 3, 3)),
]


@pytest.mark.parametrize(("architecture", "shape"), NETWORKS, ids=[one["name"] for one, _ in NETWORKS])
@pytest.mark.parametrize("numerics", [PORTABLE, NATIVE])
def test_a_program_computes_what_its_network_does(architecture, shape, numerics):
    with seeded(3):
        network = build_network(architecture, shape, ACTIONS).eval()
        for parameter in network.parameters():
            nn.init.normal_(parameter, std=0.2)
        observations = (torch.rand(4, *shape) < 0.4).float()
    set_numerics(network, numerics)
    program = layer_program(network, shape)
    assert program is not None
    with torch.no_grad(), arithmetic_of(network):
        expected = network(observations)
    tolerance = {"rtol": 0, "atol": 0} if numerics == PORTABLE else {"rtol": 1e-4, "atol": 1e-5}
    for row, observation in enumerate(observations):
        program.memory[program.observation] = observation.flatten().numpy()
        run_program(program.steps, program.weights, program.indices, program.memory, program.is_portable)
        np.testing.assert_allclose(program.memory[program.value], expected.value[row].numpy(), **tolerance)
        assert len(program.logits) == (0 if expected.policy_logits is None else ACTIONS)
        if expected.policy_logits is not None:
            logits = program.memory[program.logits]
            np.testing.assert_allclose(logits, expected.policy_logits[row].numpy(), **tolerance)


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
    assert layer_program(Doubled(network), (2, 3, 3)) is None
    network.layers.append(nn.Sigmoid())
    assert layer_program(network, (2, 3, 3)) is None
    assert layer_program(nn.Linear(2, 1), (2,)) is None
