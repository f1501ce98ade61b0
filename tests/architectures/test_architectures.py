"""Networks: shapes, sizes, and rejected options."""

from itertools import product

import pytest
import torch
from torch import nn

from selfplay.architectures import ARCHITECTURES, build_network
from selfplay.architectures.capabilities import ListedLayers, has_compiled_values
from selfplay.architectures.mlp import LEVELS, MLP, Dropout
from selfplay.errors import SettingError

BOARD, ACTIONS = (2, 3, 3), 9

ANY_BOARD = sorted(set(ARCHITECTURES) - {"othello_features"})
"""The architectures for boards of every game."""
OF_LAYERS = sorted(set(ANY_BOARD) - {"ntuple"})
"""Those that numbers between 0 and 1 go through."""
WITH_POLICY = {"alphazero_mlp", "alphazero_residual", "alphazero_convolutional"}
"""Those with a policy head."""


def sizes(network):
    return [tuple(parameter.shape) for parameter in network.parameters()]


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        *product(sorted({*ANY_BOARD} - {"alphazero_convolutional"}), [(2, 3, 3), (2, 8, 8)]),
        ("alphazero_convolutional", (2, 3, 3)),
        ("alphazero_convolutional", (2, 2, 4)),
        ("mlp", (101,)),
        ("alphazero_mlp", (101,)),
        *(("othello_features", (2, width, width)) for width in (4, 8)),
    ],
)
def test_every_network_returns_one_value_per_observation_and_policy_logits_if_it_has_a_policy_head(name, shape):
    network = build_network({"name": name}, shape, ACTIONS)
    for count in (5, 0):
        value, policy_logits = network(torch.zeros(count, *shape))
        assert value.shape == (count,)
        assert (None if policy_logits is None else policy_logits.shape) == ((count, 9) if name in WITH_POLICY else None)


def test_the_sizes_of_the_network_of_the_article():
    network = build_network({"name": "mlp", "hidden_sizes": [1024], "dropout": 0.5}, BOARD, ACTIONS)
    assert [type(layer) for layer in network.layers] == [nn.Flatten, nn.Linear, nn.ReLU, Dropout, nn.Linear]
    assert sizes(network) == [(1024, 18), (1024,), (1, 1024), (1,)]
    assert network.layers[3].dropped == LEVELS // 2


@pytest.mark.parametrize("name", OF_LAYERS)
def test_every_entry_of_the_observation_changes_the_value(name):
    torch.manual_seed(0)
    observation = torch.rand(1, *BOARD, requires_grad=True)
    build_network({"name": name}, BOARD, ACTIONS)(observation).value.sum().backward()
    assert (observation.grad != 0).all()


@pytest.mark.parametrize("name", OF_LAYERS)
def test_listed_layers_compute_what_the_network_does(name):
    torch.manual_seed(0)
    network = build_network({"name": name, "dropout": 0.5}, BOARD, ACTIONS).eval()
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    observations = torch.rand(4, *BOARD)
    assert isinstance(network, ListedLayers)
    value, policy, trunk = (layers and nn.Sequential(*layers) for layers in network.listed_layers())
    features = trunk(observations) if trunk else observations
    expected = network(observations)
    assert torch.equal(value(features).squeeze(1), expected.value)
    assert (policy is None) == (expected.policy_logits is None)
    assert policy is None or torch.equal(policy(features), expected.policy_logits)


@pytest.mark.parametrize("name", OF_LAYERS)
def test_dropout_acts_in_training_only(name):
    torch.manual_seed(0)
    network = build_network({"name": name, "dropout": 0.5}, BOARD, ACTIONS)
    observations = torch.ones(1, *BOARD)
    assert network(observations).value != network(observations).value
    network.eval()
    assert network(observations).value == network(observations).value


@pytest.mark.parametrize(
    ("architecture", "message"),
    [
        (
            {"name": "transformer"},
            "unknown architecture 'transformer'; choose from alphazero_convolutional, alphazero_mlp",
        ),
        ({"name": "mlp", "channels": 3}, "architecture mlp has no option 'channels'; it has hidden_sizes, dropout"),
        ({"name": "mlp", "hidden_sizes": [0]}, r"architecture.hidden_sizes=\[0\]: must be integers of at least 1"),
        ({"name": "mlp", "dropout": "a"}, r"architecture=.*'dropout': 'a'.* has a value of the wrong type"),
        (
            {"name": None},
            "unknown architecture None; set architecture.name=module:Class, or choose from alphazero_conv",
        ),
        ({"name": "conv", "hidden_sizes": 8}, r"^architecture.hidden_sizes=8: must be a list, such as \[64\]$"),
        ({"name": "mlp", "dropout": 1}, "architecture.dropout=1: must be at least 0 and less than 1"),
        (
            {"name": "othello_features"},
            r"^architecture=othello_features: .* for observations of shape \(2, 3, 3\); set",
        ),
        ({"name": "conv", "channels": 0}, "architecture.channels=0: must be an integer of at least 1"),
    ],
    ids=str,
)
def test_an_invalid_description_is_refused_by_name(architecture, message):
    with pytest.raises(SettingError, match=message):
        build_network(architecture, BOARD, ACTIONS)


def test_an_argument_of_a_network_is_refused_by_its_own_name():
    with pytest.raises(SettingError, match=r"^hidden_sizes=\[0\]: must be integers of at least 1$"):
        MLP(BOARD, hidden_sizes=[0])


@pytest.mark.parametrize(
    ("name", "has_them"),
    [("ntuple", True), ("othello_features", True), ("mlp", False), ("conv", False), ("alphazero_residual", False)],
)
def test_compiled_searches_compute_the_values_of_tables_and_of_weighted_features(name, has_them):
    assert has_compiled_values(name) == has_them
