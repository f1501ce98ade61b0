"""Random numbers without a generator: a pure function of (seed, level, activity, match, ply, purpose).

The method is SplitMix64 (Steele, Lea & Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014). The
numbers are folded into a key one after another: each is added as a multiple of the golden gamma, and then the mixing
function is applied. Integer arithmetic wraps around at 64 bits. So a random number depends only on its use, and not on
the batch, the shard or the worker that draws it.

A key identifies a stream of random numbers, as in JAX. `stream_key` makes the key of each activity; everywhere in this
package, an argument `key` is such a key.
"""

from enum import IntEnum, unique
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from selfplay.compute.bit_algebra import Bits, rule

GOLDEN_GAMMA = 0x9E3779B97F4A7C15 - (1 << 64)
MIX_1 = 0xBF58476D1CE4E5B9 - (1 << 64)
MIX_2 = 0x94D049BB133111EB - (1 << 64)
LOW_34 = (1 << 34) - 1
LOW_37 = (1 << 37) - 1
LOW_33 = (1 << 33) - 1
LOW_53 = (1 << 53) - 1
LOW_31 = (1 << 31) - 1


@unique
class Activity(IntEnum):
    """What a stream of random numbers is for, within a level."""

    GENERATION = 0
    TRAINING = 1
    VERSUS_PREVIOUS = 2
    VERSUS_RANDOM = 3
    VERSUS_PERSON = 4
    TABULAR_TRAINING = 5
    NAMED_PLAYERS = 6
    TOURNAMENT = 7
    MEASUREMENT = 8
    LATE_POSITIONS = 9
    JUDGED_POSITIONS = 10
    VERSUS_PERFECT = 11
    POLICY_POSITIONS = 12
    GATE = 13


class Purpose(IntEnum):
    """What one random number decides."""

    EXPLORE = 0
    RANDOM_ACTION = 1
    SAMPLED_ACTION = 2
    VALIDATION_SPLIT = 3
    INITIAL_WEIGHTS = 4
    BATCH_ORDER = 5
    DROPOUT = 6
    TIE_BREAK = 7
    OPPONENT = 8
    ROOT_NOISE = 13
    LEAF = 14
    POSITION = 15
    OPENING = 16
    NOTICE = 17


@rule
def mix(word: Bits) -> Bits:
    """The mixing function of SplitMix64: int64 to int64, one to one."""
    word = (word ^ ((word >> 30) & LOW_34)) * MIX_1
    word = (word ^ ((word >> 27) & LOW_37)) * MIX_2
    return word ^ ((word >> 31) & LOW_33)


@rule
def wrapping(number: Bits) -> Bits:
    """A number whose arithmetic wraps around at 64 bits, as it does in compiled code, arrays and tensors."""
    return np.int64(number) if isinstance(number, int) else number


@rule
def fold(key: Bits, number: Bits) -> Bits:
    """Fold `number` into `key` (both int64); returns the new key."""
    return mix(wrapping(key) + (wrapping(number) + 1) * GOLDEN_GAMMA)


@rule
def random_bits(key: Bits, match: Bits, ply: Bits, purpose: Bits) -> Bits:
    """64 random bits (int64) for one decision in one ply of one match."""
    return fold(fold(fold(key, match), ply), purpose)


@rule
def uniform_bits(bits: Bits) -> Bits:
    """An int64 in [0, 2**53), from 64 random bits: a uniform float64 in [0, 1) once divided by 2**53."""
    return (bits >> 11) & LOW_53


@rule
def below(bits: Bits, bound: Bits) -> Bits:
    """An int64 in [0, bound), from 64 random bits; `bound` in [1, 2**31]. Uniform up to a bias of bound / 2**31."""
    return (((bits >> 33) & LOW_31) * bound) >> 31


def stream_key(seed: int, level: int, activity: Activity) -> int:
    """The key (int64) of all random numbers of one activity of one level of a run. `seed` in [-2**63, 2**63)."""
    key = np.array([seed], dtype=np.int64)
    for number in (level, int(activity)):
        key = fold(key, np.array([number], dtype=np.int64))
    return int(key[0])


class Draws(NamedTuple):
    """The random numbers of one ply of a batch of matches.

    Examples:
        >>> import torch
        >>> key = selfplay.stream_key(seed=0, level=0, activity=selfplay.Activity.NAMED_PLAYERS)
        >>> draws = selfplay.Draws(key, match=torch.arange(3), ply=0)
        >>> game = selfplay.make_game("tictactoe")
        >>> selfplay.RandomPlayer(game).act(game.init(3), draws).tolist()
        [2, 5, 6]
    """

    key: int
    """Key of the stream, from `stream_key`."""
    match: Tensor
    """int64[B]: number of each match in the stream."""
    ply: int
    """The current ply, from 0."""

    def bits(self, purpose: Purpose) -> Tensor:
        """int64[B]: 64 random bits per match for `purpose`."""
        # As tensors, not Python ints, so that the arithmetic wraps around at 64 bits.
        ply, number = torch.tensor([self.ply, int(purpose)], device=self.match.device)
        bits: Tensor = random_bits(self.key, self.match, ply, number)
        return bits

    def uniforms(self, purpose: Purpose) -> Tensor:
        """float64[B] in [0, 1): one number per match for `purpose`."""
        # Converted first: torch multiplies an int64 tensor by a Python float in float32, which can round up to 1.
        numerators: Tensor = uniform_bits(self.bits(purpose))
        return numerators.to(torch.float64) / (1 << 53)


def torch_seed(key: int, purpose: Purpose, number: int = 0) -> int:
    """A random number in [0, 2**63) independent of any match, for seeding a torch generator."""
    bits = Draws(key, torch.tensor([number]), 0).bits(purpose)
    return int(bits.item()) & ((1 << 63) - 1)
