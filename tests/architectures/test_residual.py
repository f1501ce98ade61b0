"""The residual network: initial blocks, sizes, independence of the batch, and learning."""

from pathlib import Path

import pandas as pd
import pytest
import torch

from selfplay.architectures import build_network
from selfplay.architectures.residual import ResidualBlock
from selfplay.errors import SettingError
from selfplay.settings.run import compose_settings
from selfplay.stages.loop import learn_levels
from selfplay.training.fitting import read_epoch_losses, seeded

SMALL = {"name": "residual", "channels": 4, "blocks": 2, "head_channels": 3, "hidden_sizes": [5]}


def network_of(shape, seed=0, **options):
    with seeded(seed):
        return build_network({**SMALL, **options}, shape, 9)


def test_every_parameter_has_the_size_given_by_the_options():
    sizes = [tuple(parameter.shape) for parameter in network_of((2, 3, 5)).parameters()]
    block = [(4, 4, 3, 3), (4,)] * 2
    head = [(3, 4, 1, 1), (3,), (5, 3 * 3 * 5), (5,), (1, 5), (1,)]
    assert sizes == [(4, 2, 3, 3), (4,), *block, *block, *head]


def test_at_the_start_a_block_is_the_identity_and_its_last_convolution_learns_first():
    with seeded(1):
        block = ResidualBlock(4, blocks=3)
        planes = torch.randn(6, 4, 3, 3)
    assert torch.equal(block(planes), planes)
    block(planes).square().sum().backward()
    assert block.last.weight.grad.abs().sum() > 0
    assert (block.first.weight.grad == 0).all()


def test_a_trained_block_adds_the_output_of_its_convolutions():
    with seeded(2):
        block, planes = ResidualBlock(3, blocks=2), torch.randn(2, 3, 4, 5)
        torch.nn.init.normal_(block.last.weight)
        torch.nn.init.normal_(block.last.bias)
    convolve = torch.nn.functional.conv2d
    inner = convolve(planes.clamp(min=0), block.first.weight, block.first.bias, padding=1).clamp(min=0)
    torch.testing.assert_close(block(planes), planes + convolve(inner, block.last.weight, block.last.bias, padding=1))


def test_a_value_does_not_depend_on_the_rest_of_the_batch():
    network = network_of((2, 6, 7)).train()
    with seeded(3):
        torch.nn.init.normal_(network.blocks[1].last.weight)
        observations = torch.randint(0, 2, (8, 2, 6, 7)).float()
    others = torch.cat([observations[:1], 1 - observations[1:]])
    torch.testing.assert_close(network(observations).value[0], network(others).value[0], rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"channels": 0}, "architecture.channels=0: must be an integer of at least 1"),
        ({"depth": 3}, "architecture residual has no option 'depth'; it has channels, blocks, head_channels, "),
    ],
    ids=str,
)
def test_options_out_of_range_are_refused_in_one_line(options, message):
    with pytest.raises(SettingError, match=message) as caught:
        network_of((2, 3, 3), **options)
    assert "\n" not in str(caught.value)


def test_a_level_predicts_better_than_the_mean_return(tmp_path: Path):
    """Predicting the mean would give the variance of the targets as the validation loss."""
    small = ["architecture=residual", "architecture.channels=16", "architecture.blocks=2", "levels=1", "matches=300"]
    steps = ["training.epochs=4", "training.steps_per_epoch=15", "training.batch_size=256"]
    learn_levels(compose_settings([f"run_dir={tmp_path}", *small, *steps]))
    variance = pd.read_csv(tmp_path / "level_00" / "dataset.csv")["target"].var()
    losses = read_epoch_losses(tmp_path / "level_01" / "epoch_loss.csv")
    assert min(loss.validation_loss for loss in losses) < 0.97 * variance
