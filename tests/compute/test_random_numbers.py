"""Counter-based random numbers: published outputs, agreement of three implementations, and uniformity."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from selfplay.compute.compilation import compiled
from selfplay.compute.random_numbers import (
    GOLDEN_GAMMA,
    Activity,
    Draws,
    Purpose,
    below,
    fold,
    mix,
    random_bits,
    stream_key,
    uniform_bits,
)
from tests.support import chi_square

# The outputs of the authors' reference program for the seed 1234567.
SEED = 1234567
REFERENCE = [
    6457827717110365317,
    3203168211198807973,
    9817491932198370423,
    4593380528125082431,
    16408922859458223821,
]

INT64 = st.integers(-(2**63), 2**63 - 1)


@compiled
def all_compiled(words, bounds, out):
    for i in range(len(words)):
        out[0, i] = mix(words[i])
        out[1, i] = fold(words[i], bounds[i])
        out[2, i] = below(words[i], bounds[i])
        out[3, i] = random_bits(words[i], bounds[i], 3, 1)
        out[4, i] = uniform_bits(words[i])


class FixedBits(Draws):
    """Draws whose random bits are the match numbers themselves."""

    def bits(self, purpose):
        return self.match


def test_mix_gives_the_published_outputs_of_splitmix64():
    counters = np.array([SEED], dtype=np.int64) + np.arange(1, 6) * np.int64(GOLDEN_GAMMA)
    assert mix(counters).view(np.uint64).tolist() == REFERENCE


def test_fold_gives_the_published_outputs_of_splitmix64():
    words = fold(torch.tensor([SEED]), torch.arange(5))
    assert [word % 2**64 for word in words.tolist()] == REFERENCE


@given(st.lists(st.tuples(INT64, st.integers(1, 2**31)), min_size=1, max_size=20))
def test_numba_torch_and_numpy_agree(pairs):
    words, bounds = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
    tensor_words, tensor_bounds = torch.from_numpy(words), torch.from_numpy(bounds)
    numbers = np.empty((5, len(words)), dtype=np.int64)
    all_compiled(words, bounds, numbers)
    with np.errstate(over="ignore"):
        three, one = np.array([3]), np.array([1])
        with_numpy = [
            mix(words),
            fold(words, bounds),
            below(words, bounds),
            random_bits(words, bounds, three, one),
            uniform_bits(words),
        ]
    with_torch = [
        mix(tensor_words),
        fold(tensor_words, tensor_bounds),
        below(tensor_words, tensor_bounds),
        random_bits(tensor_words, tensor_bounds, torch.tensor(3), torch.tensor(1)),
        uniform_bits(tensor_words),
    ]
    assert numbers.tolist() == [column.tolist() for column in with_numpy]
    assert numbers.tolist() == [column.tolist() for column in with_torch]


def test_uniforms_have_53_bits_and_never_reach_1():
    # As float32 the highest word would give 1, and sampling by it an action of probability 0.
    words = torch.tensor([0, 1 << 11, -1])
    assert FixedBits(0, words, 0).uniforms(Purpose.EXPLORE).tolist() == [0.0, 2**-53, 1 - 2**-53]


@pytest.mark.parametrize("bound", [3, 60])
def test_below_is_uniform(bound):
    numbers = below(Draws(stream_key(0, 0, Activity.GENERATION), torch.arange(100_000), 0).bits(Purpose.EXPLORE), bound)
    counts = torch.bincount(numbers, minlength=bound).numpy()
    assert len(counts) == bound
    assert chi_square.p_value(counts) > 1e-3


@pytest.mark.parametrize("purpose", list(Purpose))
def test_uniforms_are_uniform_in_each_purpose(purpose):
    numbers = Draws(stream_key(0, 0, Activity.GENERATION), torch.arange(100_000), 4).uniforms(purpose)
    counts = np.histogram(numbers.numpy(), bins=100, range=(0, 1))[0]
    assert chi_square.p_value(counts) > 1e-3


def test_stream_keys_differ_by_seed_level_and_activity():
    keys = {stream_key(seed, level, activity) for seed in range(-5, 5) for level in range(20) for activity in Activity}
    assert len(keys) == 10 * 20 * len(Activity)
