"""Adam and the schedules, compared with torch.optim; the learning rate of a step and a level."""

import copy

import pytest
import torch
from torch import nn

from selfplay.training.optimizers import Adam, LearningRate, flattened, one_cycle
from selfplay.training.parameters import Training

STEPS = 20


def small_network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1)).double()


def backward(network, step):
    generator = torch.Generator().manual_seed(step)
    inputs = torch.randn(16, 6, generator=generator, dtype=torch.float64)
    (network(inputs) - inputs.sum(dim=1, keepdim=True)).square().mean().backward()


@pytest.mark.parametrize(
    ("theirs", "weight_decay", "decoupled"),
    [
        (torch.optim.Adam, 0.0, False),
        (torch.optim.Adam, 0.1, False),
        (torch.optim.AdamW, 0.1, True),
    ],
)
def test_the_steps_equal_those_of_torch(theirs, weight_decay, decoupled):
    ours, reference = small_network(), small_network()
    weights, gradient = flattened(ours.parameters())
    adam = Adam(weights, gradient, Training(weight_decay=weight_decay, decoupled_weight_decay=decoupled))
    torch_adam = theirs(reference.parameters(), lr=1.0, weight_decay=weight_decay)
    for step in range(STEPS):
        learning_rate = 0.01 + 0.001 * step
        for group in torch_adam.param_groups:
            group["lr"] = learning_rate
        gradient.zero_()
        torch_adam.zero_grad()
        backward(ours, step)
        backward(reference, step)
        adam.step(learning_rate)
        torch_adam.step()
        for weight, expected in zip(ours.parameters(), reference.parameters(), strict=True):
            torch.testing.assert_close(weight, expected, rtol=1e-12, atol=1e-13)


def test_the_networks_weights_are_views_of_one_vector():
    network = small_network()
    before = copy.deepcopy(network.state_dict())
    weights, _ = flattened(network.parameters())
    assert all(torch.equal(network.state_dict()[name], tensor) for name, tensor in before.items())
    weights.zero_()
    assert not any(parameter.any() for parameter in network.parameters())
    assert len(weights) == 6 * 8 + 8 + 8 + 1


@pytest.mark.parametrize("total_steps", [4, 33])
def test_one_cycle_equals_that_of_torch_at_every_step(total_steps):
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.003, total_steps=total_steps)
    for step in range(total_steps):
        ours = one_cycle(0.003, step, total_steps)
        assert ours == pytest.approx(optimizer.param_groups[0]["lr"], rel=1e-9, abs=1e-15)
        optimizer.step()
        if step < total_steps - 1:
            schedule.step()


def test_the_learning_rate_falls_from_level_to_level():
    settings = Training(epochs=2, steps_per_epoch=3, learning_rate=0.4, level_decay=0.5, schedule="constant")
    for level, rate in ((1, 0.4), (2, 0.2), (4, 0.05)):
        schedule = LearningRate(settings, rows=10, level=level)
        assert [schedule.at(step) for step in range(6)] == pytest.approx([rate] * 6)


def test_a_decayed_schedule_is_a_scaled_schedule_of_the_first_level():
    settings = Training(epochs=3, steps_per_epoch=None, batch_size=4, level_decay=0.8)
    first, third = (LearningRate(settings, rows=10, level=level) for level in (1, 3))
    # One pass over 10 rows is three batches.
    assert first.steps_per_epoch == 3
    rates = [first.at(step) for step in range(9)]
    assert len(set(rates)) > 5
    assert [third.at(step) for step in range(9)] == pytest.approx([rate * 0.8**2 for rate in rates])
