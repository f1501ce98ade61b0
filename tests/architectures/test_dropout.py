"""Dropout: rate, scaling, and random numbers."""

import pytest
import torch

from selfplay.architectures.mlp import LEVELS, Dropout

RATES = (0.1, 0.5)
COUNT = 400_000
STANDARD_ERRORS = 5


@pytest.fixture(autouse=True)
def _seeded():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        yield


@pytest.mark.parametrize("rate", RATES)
def test_the_rate_is_kept_within_sampling_error(rate):
    dropped = (Dropout(rate)(torch.ones(COUNT)) == 0).double().mean()
    assert abs(dropped - rate) < STANDARD_ERRORS * (rate * (1 - rate) / COUNT) ** 0.5


@pytest.mark.parametrize("rate", RATES)
def test_kept_entries_are_scaled_so_that_the_mean_is_unchanged(rate):
    entries = Dropout(rate)(torch.full((COUNT,), 3.0))
    # The rate that is really used, a multiple of 1 / LEVELS, keeps the expectation exactly.
    used = int(rate * LEVELS) / LEVELS
    assert entries[entries != 0].unique().tolist() == pytest.approx([3 / (1 - used)])
    assert abs(entries.mean() - 3) < STANDARD_ERRORS * 3 * (rate / (1 - rate) / COUNT) ** 0.5


@pytest.mark.parametrize("rate", RATES)
def test_the_gradient_is_masked_and_scaled_like_the_entries(rate):
    entries = torch.ones(1000, requires_grad=True)
    kept = Dropout(rate)(entries)
    kept.sum().backward()
    assert torch.equal(entries.grad, kept.detach())
    assert 0 < (entries.grad == 0).sum() < 1000


@pytest.mark.parametrize("shape", [(), (3,), (0, 4)])
def test_any_shape_is_accepted(shape):
    assert Dropout(0.5)(torch.ones(shape)).shape == shape
