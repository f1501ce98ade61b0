"""The networks with a policy head: sizes, initial output, independence of the batch, and rejected options."""

import pytest
import torch

from selfplay.architectures import build_network
from selfplay.training.fitting import seeded

SMALL = {
    "alphazero_mlp": {"hidden_sizes": [6, 5]},
    "alphazero_residual": {"channels": 4, "blocks": 1, "value_channels": 2, "policy_channels": 3, "hidden_sizes": [5]},
}


def network_of(name, **options):
    with seeded(3):
        return build_network({"name": name, **SMALL[name], **options}, (2, 3, 5), 7)


def test_every_parameter_has_the_size_given_by_the_options():
    sizes = {name: [tuple(parameter.shape) for parameter in network_of(name).parameters()] for name in SMALL}
    heads = [(1, 5), (1,), (7, 5), (7,)]
    assert sizes["alphazero_mlp"] == [(6, 30), (6,), (5, 6), (5,), *heads]
    trunk = [(4, 2, 3, 3), (4,), *[(4, 4, 3, 3), (4,)] * 2]
    value = [(2, 4, 1, 1), (2,), (5, 2 * 15), (5,), (1, 5), (1,)]
    assert sizes["alphazero_residual"] == [*trunk, *value, (3, 4, 1, 1), (3,), (7, 3 * 15), (7,)]


@pytest.mark.parametrize("name", SMALL)
def test_an_untrained_network_considers_all_actions_equally_probable_and_values_within_the_range(name):
    output = network_of(name)(torch.rand(20, 2, 3, 5) * 100)
    assert (output.policy_logits == 0).all()
    assert output.value.abs().max() <= 1
    assert output.value.std() > 0


@pytest.mark.parametrize("name", SMALL)
def test_both_heads_train_the_trunk_they_share(name):
    network = network_of(name)
    torch.nn.init.normal_((network.policy_head if name == "alphazero_mlp" else network.policy_head[-1]).weight)
    for head in ("value", "policy_logits"):
        network.zero_grad()
        getattr(network(torch.rand(4, 2, 3, 5)), head).square().sum().backward()
        assert next(network.trunk.parameters()).grad.abs().sum() > 0
