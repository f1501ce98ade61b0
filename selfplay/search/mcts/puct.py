"""The rule PUCT of AlphaZero (Silver et al., "A general reinforcement learning algorithm that masters chess, shogi, and
Go through self-play", Science 362, 2018, and its supplementary materials).

In a node s, a simulation follows the action with the largest

    Q(s, a) + C(s) P(s, a) sqrt(N(s)) / (1 + N(s, a)),    C(s) = c_init + log((1 + N(s) + c_base) / c_base)

where Q is the mean value of the action, P its prior, N(s, a) its visits, and N(s) the visits of the node, 1 + the sum
of N(s, a). At the root, priors are mixed with noise, (1 - noise) P + noise Dirichlet(alpha). The policy is
N(s, a) / sum of N(s, b), and the action to play is the most visited.

The value of an action that has not been visited is the evaluator's value of the node minus `unvisited`.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.checks import Range, require
from selfplay.compute.compilation import compiled, part_of_compiled
from selfplay.compute.elementary import cosine, exponential, logarithm
from selfplay.compute.random_numbers import fold
from selfplay.search.mcts.rule import Rule, RuleFunctions, most_visited, open_uniform, visits_as_policy
from selfplay.search.mcts.tree import LOST, OPEN, Edges


class PuctConstants(NamedTuple):
    """The constants of PUCT; see `puct`."""

    c_init: float
    c_base: float
    unvisited: float
    noise: float
    alpha: float
    scales: NDArray[np.float64]
    """float64[simulations + 2]: C(s) sqrt(N(s)) by N(s)."""


def puct(
    c_init: float = 1.25, c_base: float = 19652.0, unvisited: float = 0.2, noise: float = 0.0, alpha: float = 1.0
) -> Rule:
    """PUCT with these constants.

    Args:
        c_init: how strongly priors direct the search.
        c_base: the number of visits from which this grows.
        unvisited: subtracted from the value of the node for actions that have not been visited.
        noise: share of the noise in the priors of the root, 0 to 1; 0.25 in self-play.
        alpha: parameter of the Dirichlet noise; about 10 / (the usual number of legal actions).

    Raises SettingError if a constant is out of range.
    """
    Range(0).check("c_init", c_init)
    Range(above=0).check("c_base", c_base)
    require("unvisited", unvisited, -2 <= unvisited <= 2, "between -2 and 2")
    require("noise", noise, 0 <= noise <= 1, "between 0 and 1")
    Range(above=0).check("alpha", alpha)

    numbers = PuctConstants(float(c_init), float(c_base), float(unvisited), float(noise), float(alpha), np.empty(0))
    functions = RuleFunctions(mix_in_noise, select_root_by_puct, select_by_puct, most_visited, visits_as_policy)
    return Rule("puct", functions, partial(_constants, numbers), noise > 0)


def _constants(numbers: PuctConstants, simulations: int, num_actions: int) -> PuctConstants:
    scales = np.empty(simulations + 2)
    fill_scales(numbers.c_init, numbers.c_base, scales)
    return numbers._replace(scales=scales)


@part_of_compiled
def exploration_scale(total: int, c_init: float, c_base: float) -> float:
    """C(s) sqrt(N(s)), the factor of P(s, a) / (1 + N(s, a)), where N(s) is `total`."""
    scale: float = (c_init + logarithm((1.0 + total + c_base) / c_base)) * np.sqrt(total)
    return scale


@compiled
def fill_scales(c_init: float, c_base: float, scales: NDArray[np.float64]) -> None:
    """Write the scale of each total."""
    for total in range(len(scales)):
        scales[total] = exploration_scale(total, c_init, c_base)


@part_of_compiled
def mix_in_noise(edges: Edges, noise: NDArray[np.float64], bits: int, constants: PuctConstants) -> None:
    """Mix Dirichlet noise into the priors of the root."""
    if constants.noise > 0.0:
        dirichlet(constants.alpha, bits, noise)
        for i in range(len(edges)):
            edges[i].prior = (1.0 - constants.noise) * edges[i].prior + constants.noise * noise[i]


@part_of_compiled
def select_root_by_puct(
    edges: Edges, value: float, noise: NDArray[np.float64], constants: PuctConstants, chosen: NDArray[np.int64]
) -> int:
    """One edge, as in any other node."""
    chosen[0] = select_by_puct(edges, value, constants)
    return 1


@part_of_compiled
def select_by_puct(edges: Edges, value: float, constants: PuctConstants) -> int:
    """The edge with the largest upper bound, the first of equal ones."""
    total = 1
    for i in range(len(edges)):
        total += edges[i].visits
    if total < len(constants.scales):
        scale = constants.scales[total]
    else:
        scale = exploration_scale(total, constants.c_init, constants.c_base)
    best, chosen = -np.inf, 0
    for i in range(len(edges)):
        edge = edges[i]
        if edge.status == LOST:
            continue
        is_known = edge.visits > 0 or edge.status != OPEN
        score = edge.value if is_known else value - constants.unvisited
        score += scale * edge.prior / (1 + edge.visits)
        if score > best:
            best, chosen = score, i
    return chosen


# ---------------------------------------------------------------------- noise


@part_of_compiled
def normal(bits: int) -> float:
    """A number of the standard normal distribution (Box & Muller, 1958)."""
    radius = np.sqrt(-2.0 * logarithm(open_uniform(fold(bits, np.int64(0)))))
    number: float = radius * cosine(2.0 * np.pi * open_uniform(fold(bits, np.int64(1))))
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
        if v > 0.0 and logarithm(open_uniform(fold(here, np.int64(1)))) < 0.5 * x * x + d - d * v + d * logarithm(v):
            number: float = d * v * exponential(logarithm(open_uniform(fold(here, np.int64(2)))) / alpha)
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
