"""Random numbers of distributions that tree search needs, as functions of random bits."""

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.compilation import Words, compiled, part_of_compiled
from selfplay.compute.random_numbers import Purpose, fold, random_bits, uniform_bits

TWO_TO_53 = float(1 << 53)

ROOT_NOISE, LEAF = int(Purpose.ROOT_NOISE), int(Purpose.LEAF)


@part_of_compiled
def open_uniform(bits: int) -> float:
    """A uniform float64 in (0, 1)."""
    number: float = (uniform_bits(bits) + 0.5) / TWO_TO_53
    return number


@part_of_compiled
def gumbel(bits: int) -> float:
    """A number of the standard Gumbel distribution: -log(-log(u))."""
    number: float = -np.log(-np.log(open_uniform(bits)))
    return number


@part_of_compiled
def normal(bits: int) -> float:
    """A number of the standard normal distribution (Box & Muller, 1958)."""
    radius = np.sqrt(-2.0 * np.log(open_uniform(fold(bits, np.int64(0)))))
    number: float = radius * np.cos(2.0 * np.pi * open_uniform(fold(bits, np.int64(1))))
    return number


@part_of_compiled
def gamma(alpha: float, bits: int) -> float:
    """A number of the gamma distribution with shape `alpha` > 0 and scale 1.

    Drawn with shape alpha + 1 by rejection (Marsaglia & Tsang, "A simple method for generating gamma variables", 2000)
    and multiplied by u ** (1 / alpha).
    """
    d = alpha + 2.0 / 3.0
    c = 1.0 / np.sqrt(9.0 * d)
    attempt = 0
    while True:
        here = fold(bits, np.int64(attempt))
        x = normal(fold(here, np.int64(0)))
        v = (1.0 + c * x) ** 3
        if v > 0.0 and np.log(open_uniform(fold(here, np.int64(1)))) < 0.5 * x * x + d - d * v + d * np.log(v):
            number: float = d * v * open_uniform(fold(here, np.int64(2))) ** (1.0 / alpha)
            return number
        attempt += 1


@part_of_compiled
def dirichlet(alpha: float, bits: int, shares: NDArray[np.float64]) -> None:
    """Fill `shares` with a point of the symmetric Dirichlet distribution with parameter `alpha`."""
    total = 0.0
    for i in range(len(shares)):
        shares[i] = gamma(alpha, fold(bits, np.int64(i)))
        total += shares[i]
    for i in range(len(shares)):
        # With a tiny alpha all of them may be 0.
        shares[i] = shares[i] / total if total > 0.0 else 1.0 / len(shares)


@compiled
def write_bits_of_draws(key: int, match: Words, ply: int, bits: NDArray[np.int64]) -> None:
    """Write the random bits of the root and of the leaves (int64[2, B]) in this ply of these matches."""
    for i in range(len(match)):
        bits[0, i] = random_bits(key, match[i], ply, ROOT_NOISE)
        bits[1, i] = random_bits(key, match[i], ply, LEAF)


@compiled
def write_bits_of_positions(own: Words, opp: Words, bits: NDArray[np.int64]) -> None:
    """Write random bits of the root and of the leaves (int64[2, B]) that depend on the positions alone."""
    for i in range(len(own)):
        bits[0, i] = fold(fold(own[i], opp[i]), ROOT_NOISE)
        bits[1, i] = fold(fold(own[i], opp[i]), LEAF)
