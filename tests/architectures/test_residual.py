"""The residual network: initial blocks, sizes, independence of the batch, and learning."""

import torch

from selfplay.architectures import build_network, meta_tensors
from selfplay.architectures.residual import ResidualBlock
from selfplay.training.fitting import seeded

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


def test_tensors_without_memory_are_not_initialized(monkeypatch):
    """Drawing numbers on torch's meta device would import torch's compiler, which takes a second."""
    expected = {name: tensor.shape for name, tensor in network_of((2, 3, 5)).state_dict().items()}
    monkeypatch.delattr(torch.nn.init, "kaiming_normal_")
    assert {name: tensor.shape for name, tensor in meta_tensors(SMALL, (2, 3, 5), 9).items()} == expected
