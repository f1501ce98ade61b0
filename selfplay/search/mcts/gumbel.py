"""The rule of Gumbel AlphaZero (Danihelka, Guez, Schrittwieser & Silver, "Policy improvement by planning with Gumbel",
ICLR 2022). Equation numbers are those of the article.

Let logits(a) = log P(a), and let g(a) be random numbers of the Gumbel distribution. The root first considers the m
actions with the largest g(a) + logits(a). Sequential halving (Karnin, Koren & Somekh, "Almost optimal exploration in
multi-armed bandits", 2013) repeatedly halves their number. The simulations are divided equally among the halvings, and
in each of them equally among the actions considered. The actions with the largest g(a) + logits(a) + sigma(q(a))
remain.

    sigma(q) = (c_visit + max_b N(b)) c_scale (q + 1) / 2                        (8), with values scaled to [0, 1]
    completedQ(a) = q(a) if N(a) > 0, else v_mix                                 (10)
    policy = softmax(logits + sigma(completedQ))                                 (11)
    v_mix = (v + sum_b N(b) / P(visited) * sum over visited b of P(b) q(b)) / (1 + sum_b N(b))   (appendix D)

The action to play has, among the most visited ones, the largest g + logits + sigma(q). Nodes below the root follow the
action with the largest policy(a) - N(a) / (1 + sum_b N(b)) (14), so that visits approach the improved policy.
"""

from functools import cache, partial
from math import ceil, log2
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.checks import Range, require
from selfplay.compute.compilation import part_of_compiled
from selfplay.compute.elementary import exponential, logarithm
from selfplay.compute.random_numbers import fold
from selfplay.search.mcts.rule import Rule, RuleFunctions, open_uniform
from selfplay.search.mcts.tree import LOST, OPEN, Edges

SMALLEST_PRIOR = 1e-30
"""Smaller priors count as this one, so that their logarithms are finite."""

FAR_BELOW = 1e9
"""More than any difference of scores."""


class GumbelConstants(NamedTuple):
    """The constants of the rule; see `gumbel`."""

    c_visit: float
    c_scale: float
    gumbel_scale: float
    halving: NDArray[np.int64]
    """int64[m + 1, simulations]: row k is `halving_schedule(k, simulations)`."""


def gumbel(c_visit: float = 50.0, c_scale: float = 1.0, considered: int = 16, gumbel_scale: float = 0.0) -> Rule:
    """The rule of Gumbel AlphaZero with these constants.

    Args:
        c_visit: how strongly values count against the logits before any visits.
        c_scale: how strongly values count against the logits, in all.
        considered: m, the largest number of actions considered at the root.
        gumbel_scale: factor of the random numbers g; 1 in self-play, 0 for the best action without randomness.

    Raises SettingError if a constant is out of range.
    """
    Range(0).check("c_visit", c_visit)
    Range(0).check("c_scale", c_scale)
    require("considered", considered, considered >= 1 and considered == int(considered), "a whole number from 1")
    Range(0).check("gumbel_scale", gumbel_scale)

    no_table = np.empty((0, 0), dtype=np.int64)
    numbers = GumbelConstants(float(c_visit), float(c_scale), float(gumbel_scale), no_table)
    functions = RuleFunctions(draw_gumbel_numbers, select_round, select_by_policy, final_score, improved_policy)
    constants = partial(_constants, int(considered), numbers)
    return Rule("gumbel", functions, constants, gumbel_scale > 0, continues=False)


def _constants(considered: int, numbers: GumbelConstants, simulations: int, num_actions: int) -> GumbelConstants:
    return numbers._replace(halving=halving_table(min(considered, num_actions), simulations))


def halving_schedule(considered: int, simulations: int) -> list[int]:
    """The number of visits that the action chosen by each simulation at the root must already have.

    With two actions and five simulations: [0, 0, 1, 1, 2], each action in turn. Simulations with the same number are a
    round.
    """
    halvings = max(1, ceil(log2(max(1, considered))))
    schedule: list[int] = []
    visits, left = 0, considered
    while len(schedule) < simulations:
        rounds = max(1, simulations // (halvings * left))
        for _ in range(rounds):
            schedule += [visits] * left
            visits += 1
        left = max(min(2, considered), left // 2)
    return schedule[:simulations]


@cache
def halving_table(considered: int, simulations: int) -> NDArray[np.int64]:
    """int64[considered + 1, simulations]: the schedule for each number of actions; row 0 is not used."""
    rows = [halving_schedule(max(1, number), simulations) for number in range(considered + 1)]
    return np.array(rows, dtype=np.int64)


@part_of_compiled
def draw_gumbel_numbers(edges: Edges, noise: NDArray[np.float64], bits: int, constants: GumbelConstants) -> None:
    """Draw the Gumbel number of each edge of the root."""
    for i in range(len(edges)):
        noise[i] = 0.0
        if constants.gumbel_scale > 0.0:
            noise[i] = constants.gumbel_scale * gumbel_number(fold(bits, i))


@part_of_compiled
def gumbel_number(bits: int) -> float:
    """A number of the standard Gumbel distribution: -log(-log(u))."""
    number: float = -logarithm(-logarithm(open_uniform(bits)))
    return number


@part_of_compiled
def logit(prior: float) -> float:
    number: float = logarithm(max(prior, SMALLEST_PRIOR))
    return number


@part_of_compiled
def value_scale(edges: Edges, constants: GumbelConstants) -> float:
    """The factor of (q + 1) / 2 in sigma(q)."""
    most = 0
    for i in range(len(edges)):
        most = max(most, edges[i].visits)
    return (constants.c_visit + most) * constants.c_scale


@part_of_compiled
def mixed_value(edges: Edges, value: float) -> float:
    """v_mix: the value of actions that have not been visited."""
    visits, probability, weighted = 0, 0.0, 0.0
    for i in range(len(edges)):
        edge = edges[i]
        if edge.visits > 0:
            prior = max(edge.prior, SMALLEST_PRIOR)
            visits += edge.visits
            probability += prior
            weighted += prior * edge.value
    if visits == 0:
        return value
    return (value + visits * weighted / probability) / (1 + visits)


@part_of_compiled
def completed_value(edges: Edges, i: int, missing: float) -> float:
    """completedQ of edge i; `missing` is `mixed_value`. Settled edges have their value without a visit."""
    return missing if edges[i].visits == 0 and edges[i].status == OPEN else edges[i].value


@part_of_compiled
def select_round(
    edges: Edges, value: float, noise: NDArray[np.float64], constants: GumbelConstants, chosen: NDArray[np.int64]
) -> int:
    """The edges of the round: those that have the scheduled number of visits, by the largest g + logits + sigma(q).

    Others that are not lost take the places of considered actions that are lost.
    """
    done, missing, scale = 0, mixed_value(edges, value), value_scale(edges, constants)
    for i in range(len(edges)):
        done += edges[i].visits
    scheduled, left = round_at(constants.halving[min(len(edges), len(constants.halving) - 1)], done)
    scores = np.empty(len(edges))
    for i in range(len(edges)):
        scores[i] = noise[i] + logit(edges[i].prior) + 0.5 * scale * (completed_value(edges, i, missing) + 1.0)
        if edges[i].visits != scheduled:
            scores[i] -= FAR_BELOW
        if edges[i].status == LOST:
            scores[i] = -np.inf
    count = 0
    while count < min(left, len(edges)):
        best = np.argmax(scores)
        if scores[best] == -np.inf and count > 0:
            break
        chosen[count], scores[best] = best, -np.inf
        count += 1
    return count


@part_of_compiled
def round_at(schedule: NDArray[np.int64], done: int) -> tuple[int, int]:
    """The number of visits that the actions of a round must have, and how many simulations of the round are left."""
    first = min(done, len(schedule) - 1)
    left = 1
    while first + left < len(schedule) and schedule[first + left] == schedule[first]:
        left += 1
    return schedule[first], left


@part_of_compiled
def improved_policy(edges: Edges, value: float, constants: GumbelConstants, weights: NDArray[np.float64]) -> None:
    """softmax(logits + sigma(completedQ))."""
    missing, scale, largest, total = mixed_value(edges, value), value_scale(edges, constants), -np.inf, 0.0
    for i in range(len(edges)):
        weights[i] = logit(edges[i].prior) + 0.5 * scale * (completed_value(edges, i, missing) + 1.0)
        largest = max(largest, weights[i])
    for i in range(len(edges)):
        weights[i] = exponential(weights[i] - largest)
        total += weights[i]
    for i in range(len(edges)):
        weights[i] /= total


@part_of_compiled
def select_by_policy(edges: Edges, value: float, constants: GumbelConstants) -> int:
    """The edge with the largest difference between its share in the improved policy and its share of the visits."""
    weights = np.empty(len(edges))
    improved_policy(edges, value, constants, weights)
    visits = 0
    for i in range(len(edges)):
        visits += edges[i].visits
    best, chosen = -np.inf, 0
    for i in range(len(edges)):
        score = weights[i] - edges[i].visits / (1.0 + visits)
        if score > best and edges[i].status != LOST:
            best, chosen = score, i
    return chosen


@part_of_compiled
def final_score(edges: Edges, i: int, noise: NDArray[np.float64], constants: GumbelConstants) -> float:
    """g + logits + sigma(q) of the most visited edges; the others are far below."""
    most = 0
    for k in range(len(edges)):
        most = max(most, edges[k].visits)
    known = 0.5 * value_scale(edges, constants) * (edges[i].value + 1.0)
    score: float = noise[i] + logit(edges[i].prior) + known - FAR_BELOW * (most - edges[i].visits)
    return score
