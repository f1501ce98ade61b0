"""The networks with a policy head: sizes, initial output, independence of the batch, and rejected options."""

import pytest
import torch

from selfplay.architectures import build_network
from selfplay.compute.devices import NATIVE, PORTABLE
from selfplay.compute.portable import arithmetic_of, set_numerics
from selfplay.errors import SettingError
from selfplay.training.fitting import seeded
from tests.games.test_found_symmetries import Doubled
from tests.support.clobber import Clobber
from tests.support.slides import Slides

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


# ---------------------------------------------------------------------- actions that are not squares

CONVOLUTIONAL = {"name": "alphazero_convolutional", "channels": 8, "blocks": 1, "policy_channels": 6}


def network_for(game, **options):
    with seeded(3):
        network = build_network(
            {**CONVOLUTIONAL, **options}, game.observation_shape, game.num_distinct_actions, game
        ).eval()
        torch.nn.init.normal_(network.policy_head[-1].linear.weight)
    return network


@pytest.mark.parametrize("numerics", [PORTABLE, NATIVE])
def test_the_logits_of_a_few_actions_are_those_among_all(numerics):
    observations, actions = torch.rand(4, *Clobber().observation_shape), torch.tensor([[3, 0], [9, 9], [70, 1], [2, 5]])
    network = network_for(Clobber())
    set_numerics(network, numerics)
    with torch.no_grad(), arithmetic_of(network):
        few, every = network.output_of(observations, actions), network(observations)
        none = network.output_of(observations, actions[:, :0])
    assert torch.equal(few.value, every.value)
    assert torch.equal(none.value, every.value)
    assert none.policy_logits.shape == (4, 0)
    assert torch.allclose(few.policy_logits, every.policy_logits.gather(1, actions), atol=1e-5)
    assert few.policy_logits.std() > 0.01


@pytest.mark.parametrize("game", [Clobber(), Slides()], ids=lambda game: game.name)
def test_the_images_of_features_give_the_images_of_logits(game):
    """The trunk is not the same in all directions, but the policy head is."""
    network = network_for(game)
    features = torch.rand(4, 8, *game.board_shape)
    with torch.no_grad():
        logits = network.policy_head(features)
        for actions, seen in zip(*game.symmetries, strict=True):
            image = features.flatten(2)[:, :, seen[: game.num_squares].copy()].reshape(features.shape)
            torch.testing.assert_close(network.policy_head(image)[:, actions], logits)


def test_a_logit_depends_on_the_features_of_the_squares_of_its_action_besides_those_of_the_whole_board():
    game = Clobber()
    network = network_for(game)
    torch.nn.init.zeros_(network.policy_head[0].parts[1][3].weight)  # of the means and largest numbers
    features = torch.rand(1, 8, 5, 5)
    changed = features.clone()
    changed[:, :, 1, 2] += 1
    with torch.no_grad():
        differ = (network.policy_head(features) != network.policy_head(changed))[0]
    found = game.touched_squares
    touches = (torch.from_numpy(found.places) % 25 == 7) & (torch.from_numpy(found.places) < 25 * found.num_roles)
    assert differ.any()
    assert not differ[~touches.any(dim=1)].any()


def test_an_agent_of_one_board_has_the_weights_of_another():
    small, large = network_for(Clobber()), network_for(Clobber(6))
    large.load_state_dict(small.state_dict())
    assert large(torch.rand(2, 2, 6, 6)).policy_logits.shape == (2, 144)


def test_actions_of_the_same_squares_have_numbers_of_their_own():
    game = Doubled()
    assert game.touched_squares.num_kinds == 2
    logits = network_for(game)(torch.rand(1, 2, 3, 3)).policy_logits[0]
    assert (logits[:9] != logits[9:]).all()


def test_without_a_game_actions_must_be_squares():
    with pytest.raises(SettingError, match="needs an action for each of the 25 squares and few others"):
        build_network(CONVOLUTIONAL, (2, 5, 5), 100)
