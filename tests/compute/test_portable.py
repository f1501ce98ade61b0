"""Portable arithmetic: what torch computes, to within rounding, in an order of sums that is fixed."""

import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from selfplay.architectures import ARCHITECTURES, Output, build_network
from selfplay.compute.devices import NATIVE, PORTABLE
from selfplay.compute.portable import PortableArithmetic, arithmetic_of, product, set_numerics
from selfplay.training.losses import cross_entropies
from selfplay.training.optimizers import Adam
from selfplay.training.parameters import Training

SHAPE, ACTIONS = (2, 6, 7), 43


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed)) - 0.5


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 5, 2), (8, 7, 9), (33, 130, 17)])
def test_a_product_adds_in_order_of_the_inner_index(shape: tuple[int, int, int]) -> None:
    rows, inner, columns = shape
    left, right = drawn(rows, inner), drawn(inner, columns, seed=1)
    expected = np.zeros((rows, columns), dtype=np.float32)
    for k in range(inner):
        expected += left.numpy()[:, k : k + 1] * right.numpy()[k]
    assert np.array_equal(product(left, right).numpy(), expected)
    assert np.array_equal(product(left.t().contiguous().t(), right).numpy(), expected)


def losses_of(output: Output) -> Tensor:
    loss = (output.value - 0.25).square().mean()
    if output.policy_logits is not None:
        loss = loss + cross_entropies(output.policy_logits, functional.softmax(drawn(64, ACTIONS), dim=1)).mean()
    return loss


@pytest.mark.parametrize("name", [name for name in ARCHITECTURES if name != "othello_features"])
def test_networks_and_their_gradients_are_those_of_torch(name: str) -> None:
    options = (
        {"dropout": 0.0} if name in ("mlp", "alphazero_mlp", "alphazero_residual", "alphazero_convolutional") else {}
    )
    if name == "alphazero_convolutional":
        options["board_blocks"] = [2]
    torch.manual_seed(0)
    network = build_network({"name": name, **options}, SHAPE, ACTIONS)
    for parameter in network.parameters():
        parameter.data.copy_(drawn(*parameter.shape) / 5)
    squares = drawn(64, 1, *SHAPE[1:])
    observations = torch.cat([squares > 0.2, squares < -0.2], dim=1).float()
    found = {}
    for numerics in (NATIVE, PORTABLE):
        set_numerics(network, numerics)
        network.zero_grad()
        with arithmetic_of(network):
            output = network(observations)
            loss = losses_of(output)
        loss.backward()
        gradients = [parameter.grad.clone() for parameter in network.parameters() if parameter.grad is not None]
        found[numerics] = [part.detach() for part in (*output, loss, *gradients) if part is not None]
    for native, portable in zip(found[NATIVE], found[PORTABLE], strict=True):
        torch.testing.assert_close(portable, native, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "options",
    [{}, {"padding": 1}, {"stride": 2, "padding": (0, 1)}, {"stride": (1, 2), "dilation": (2, 1), "padding": 2}],
)
def test_convolutions_and_their_gradients_are_those_of_torch(options: dict[str, Any]) -> None:
    found = []
    for arithmetic in (nullcontext(), PortableArithmetic()):
        tensors = drawn(3, 2, 6, 5), drawn(4, 2, 3, 2, seed=1), drawn(4, seed=2)
        for tensor in tensors:
            tensor.requires_grad_()
        with arithmetic:
            outputs = functional.conv2d(*tensors, **options)
        outputs.backward(drawn(*outputs.shape, seed=3))
        found.append([outputs.detach(), *(tensor.grad for tensor in tensors)])
    for native, portable in zip(*found, strict=True):
        torch.testing.assert_close(portable, native)


@pytest.mark.skipif(sys.platform != "linux", reason="counts the threads of a process in /proc")
def test_few_positions_are_valued_in_one_thread() -> None:
    """Threads that wait for each other on a busy machine take 200 times as long as the work."""
    network = build_network({"name": "residual"}, SHAPE, ACTIONS)
    set_numerics(network, PORTABLE)
    observations = drawn(4, *SHAPE)
    if (child := os.fork()) == 0:
        threads = 0
        try:
            torch.set_num_threads(4)
            with arithmetic_of(network):
                network(observations).value.sum().backward()
            threads = len([*Path("/proc/self/task").iterdir()])
        finally:
            os._exit(threads)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1


def test_sums_and_means_are_those_of_torch() -> None:
    numbers = drawn(3, 4, 5).double()
    for function in (torch.sum, torch.mean):
        for options in ({}, {"dim": 0}, {"dim": 1, "keepdim": True}, {"dim": -1}):
            expected = function(numbers, **options)
            with PortableArithmetic():
                torch.testing.assert_close(function(numbers, **options), expected)
    with PortableArithmetic():
        assert torch.ones(4, dtype=torch.int64).sum() == 4
        assert Tensor.mean(drawn(2, 3)).shape == ()


def test_initial_weights_have_the_distributions_of_torch() -> None:
    torch.manual_seed(0)
    with PortableArithmetic():
        uniform, normal, kaiming = torch.empty(50000), torch.empty(50000), torch.empty(200, 300)
        nn.init.uniform_(uniform, 2.0, 4.0)
        nn.init.normal_(normal, 1.0, 0.5)
        nn.init.kaiming_normal_(kaiming, nonlinearity="relu")
        layer = nn.Linear(100, 200)
    assert uniform.min() >= 2
    assert uniform.max() < 4
    assert abs(uniform.mean() - 3) < 0.01
    assert abs(normal.mean() - 1) < 0.01
    assert abs(normal.std() - 0.5) < 0.01
    assert abs(kaiming.std() - (2 / 300) ** 0.5) < 0.001
    assert layer.weight.abs().max() <= 0.1
    assert layer.weight.std() > 0.055


REFUSED: dict[str, Callable[[], Any]] = {
    "groups": lambda: functional.conv2d(drawn(1, 2, 3, 3), drawn(2, 1, 3, 3), groups=2),
    "rows of a matrix": lambda: torch.log_softmax(drawn(2, 3), dim=0),
    "along one dimension": lambda: drawn(2, 3).sum(dim=(0, 1)),
    "sums of single weights": lambda: functional.embedding_bag(torch.zeros(1, 1, dtype=torch.int64), drawn(2, 3)),
    "number of inputs": lambda: nn.init.kaiming_uniform_(torch.empty(2, 3), mode="fan_out"),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_it_does_not_have_is_refused(reason: str) -> None:
    with PortableArithmetic(), pytest.raises(NotImplementedError, match=reason):
        REFUSED[reason]()


@pytest.mark.parametrize(("weight_decay", "decoupled"), [(0.0, False), (0.01, False), (0.01, True)])
def test_portable_steps_of_adam_are_those_of_torch(weight_decay: float, decoupled: bool) -> None:
    weights, training = [drawn(20), drawn(20)], Training(weight_decay=weight_decay, decoupled_weight_decay=decoupled)
    steps = [Adam(weights[0], drawn(20), training), Adam(weights[1], drawn(20), training, is_portable=True)]
    for step in range(20):
        for adam in steps:
            adam.gradient.copy_(drawn(20, seed=step))
            adam.step(0.01)
    torch.testing.assert_close(weights[1], weights[0], rtol=1e-5, atol=1e-6)
