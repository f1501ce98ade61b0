"""The rules on edges worked out by hand. The functions run uncompiled here, as plain Python."""

import math

import numpy as np
import pytest

from selfplay.compute.random_numbers import fold
from selfplay.errors import SettingError
from selfplay.search.mcts import gumbel as gumbel_rule
from selfplay.search.mcts import puct as puct_rule
from selfplay.search.mcts import rule as uct_rule
from selfplay.search.mcts.gumbel import gumbel_number
from selfplay.search.mcts.puct import dirichlet
from selfplay.search.mcts.rule import make_rule
from selfplay.search.mcts.tree import EDGE, LOST, OPEN, SETTLED

NO_NOISE = np.zeros(4)


def edges_with(priors, visits, values, status=None):
    edges = np.zeros(len(priors), dtype=EDGE).view(np.recarray)
    edges.prior, edges.visits, edges.value = priors, visits, values
    edges.status = OPEN if status is None else status
    return edges


def constants_of(name, simulations=16, num_actions=4, **constants):
    return make_rule(name, constants).constants(simulations, num_actions)


def test_puct_adds_the_exploration_term_to_the_mean_value():
    constants = constants_of("puct", c_init=2.0, c_base=1e12, unvisited=0.1)
    # N(s) = 1 + 3 + 0 + 5 = 9, so the scores are
    #   0.5 + 2 * 0.2 * 3 / 4 = 0.8;  (0.3 - 0.1) + 2 * 0.2 * 3 / 1 = 1.4;  0.7 + 2 * 0.6 * 3 / 6 = 1.3
    edges = edges_with([0.2, 0.2, 0.6], [3, 0, 5], [0.5, 0.0, 0.7])
    assert puct_rule.select(edges, 0.3, constants) == 1
    # A lower value of the node makes the action that was not visited worth 1.1.
    assert puct_rule.select(edges, 0.0, constants) == 2
    # With c_base = 9, C(s) = 0 + log((1 + 9 + 9) / 9) = 0.747: 0.61, (0.3 - 0.1) + 0.45 = 0.65, 0.92.
    assert puct_rule.select(edges, 0.3, constants_of("puct", c_init=0.0, c_base=9.0, unvisited=0.1)) == 2


def test_puct_knows_settled_edges_without_a_visit_and_never_chooses_lost_ones():
    constants = constants_of("puct", c_init=0.0)
    edges = edges_with([0.4, 0.3, 0.3], [1, 0, 0], [-0.5, -1.0, 0.0], [OPEN, LOST, SETTLED])
    assert puct_rule.select(edges, -0.9, constants) == 2
    edges = edges_with([0.0, 1.0], [50, 0], [-0.99, -1.0], [OPEN, LOST])
    assert puct_rule.select(edges, 0.9, constants_of("puct", c_init=100.0)) == 0


def test_dirichlet_noise_is_mixed_into_the_priors_of_the_root():
    with np.errstate(over="ignore"):
        shares = np.empty(4)
        dirichlet(0.5, np.int64(5), shares)
        edges = edges_with([0.7, 0.1, 0.1, 0.1], [0] * 4, [0.0] * 4)
        puct_rule.begin(edges, NO_NOISE.copy(), np.int64(5), constants_of("puct", noise=0.25, alpha=0.5))
    assert shares.sum() == pytest.approx(1)
    np.testing.assert_allclose(edges.prior, 0.75 * np.array([0.7, 0.1, 0.1, 0.1]) + 0.25 * shares)


def test_the_moments_of_dirichlet_and_gumbel_numbers():
    """Dirichlet: mean 1 / n, variance (n - 1) / (n^2 (n alpha + 1)); Gumbel: mean 0.5772, variance pi^2 / 6."""
    with np.errstate(over="ignore"):
        shares = np.empty((3000, 3))
        for number, row in enumerate(shares):
            dirichlet(0.3, np.int64(number), row)
        numbers = [gumbel_number(fold(np.int64(1), np.int64(number))) for number in range(3000)]
    np.testing.assert_allclose(shares.mean(axis=0), 1 / 3, atol=0.02)
    np.testing.assert_allclose(shares.var(axis=0), 2 / (9 * 1.9), atol=0.01)
    assert np.mean(numbers) == pytest.approx(0.5772, abs=0.06)
    assert np.var(numbers) == pytest.approx(math.pi**2 / 6, abs=0.15)


def test_uct_visits_every_action_once_and_then_takes_the_largest_bound():
    constants = constants_of("uct", c=1.0)
    assert uct_rule.select(edges_with([0, 0, 0], [2, 0, 0], [1, 0, 0], [OPEN, LOST, OPEN]), 0.0, constants) == 2
    # N(s) = 10: 0.2 + sqrt(log 10 / 8) = 0.736; -0.3 + sqrt(log 10 / 2) = 0.773.
    assert uct_rule.select(edges_with([0, 0], [8, 2], [0.2, -0.3]), 0.0, constants) == 1
    assert uct_rule.select(edges_with([0, 0], [8, 2], [0.25, -0.3]), 0.0, constants) == 0


@pytest.mark.parametrize(
    ("considered", "simulations", "schedule"),
    [
        (1, 4, [0, 1, 2, 3]),
        (2, 5, [0, 0, 1, 1, 2]),
        # Two halvings of eight simulations each: twice 4 actions, then four times 2.
        (4, 16, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]),
        # Fewer simulations than a whole halving needs.
        (4, 3, [0, 0, 0]),
        (3, 7, [0, 0, 0, 1, 1, 2, 2]),
    ],
)
def test_sequential_halving_divides_the_simulations(considered, simulations, schedule):
    assert gumbel_rule.halving_schedule(considered, simulations) == schedule


def test_gumbel_completes_values_with_the_mixed_value():
    edges = edges_with([0.5, 0.25, 0.25], [3, 1, 0], [0.2, -0.4, 0.0])
    # v_mix = (0.6 + 4 * (0.5 * 0.2 - 0.25 * 0.4) / 0.75) / 5 = 0.12
    assert gumbel_rule.mixed_value(edges, 0.6) == pytest.approx(0.12)
    # sigma(q) = (5 + 3) * 0.5 * (q + 1) / 2 = 2 (q + 1)
    constants, weights = constants_of("gumbel", c_visit=5.0, c_scale=0.5), np.empty(3)
    gumbel_rule.improved_policy(edges, 0.6, constants, weights)
    expected = np.array([0.5 * math.exp(2 * 1.2), 0.25 * math.exp(2 * 0.6), 0.25 * math.exp(2 * 1.12)])
    np.testing.assert_allclose(weights, expected / expected.sum())
    # Shares of visits 3/5, 1/5, 0 against a policy of 0.55, 0.08, 0.36: the third action is the furthest behind.
    assert gumbel_rule.select(edges, 0.6, constants) == 2


def test_gumbel_considers_the_actions_with_the_largest_numbers_and_halves_them():
    constants = constants_of("gumbel", simulations=16, considered=4, c_visit=10.0)
    noise = np.array([3.0, 0.0, 2.0, 1.0])
    priors, visits = [0.25] * 4, [0, 0, 0, 0]
    chosen = []
    for _ in range(4):
        chosen.append(gumbel_rule.select_at_root(edges_with(priors, visits, [0.0] * 4), 0.0, noise, constants))
        visits[chosen[-1]] += 1
    assert chosen == [0, 2, 3, 1]
    # After two visits each, the value decides which two remain: sigma(q) = 12 (q + 1) / 2.
    edges = edges_with(priors, [2, 2, 2, 2], [-0.5, 0.9, -0.5, 0.5])
    assert gumbel_rule.select_at_root(edges, 0.0, noise, constants) == 1
    edges.visits = [2, 3, 2, 2]
    assert gumbel_rule.select_at_root(edges, 0.0, noise, constants) == 3
    # The action to play is one of the most visited, although the first one has the largest number.
    edges.visits = [2, 6, 2, 6]
    scores = [gumbel_rule.final_score(edges, i, noise, constants) for i in range(4)]
    assert np.argmax(scores) == 1


def test_gumbel_takes_any_other_action_if_those_scheduled_are_lost():
    constants = constants_of("gumbel", simulations=8, considered=2)
    edges = edges_with([0.5, 0.5], [1, 2], [-1.0, 0.0], [LOST, OPEN])
    assert gumbel_rule.select_at_root(edges, 0.0, NO_NOISE, constants) == 1


@pytest.mark.parametrize(
    ("name", "constants", "reason"),
    [
        ("alphabeta", {}, "unknown rule of tree search 'alphabeta'; choose from gumbel, puct, uct"),
        ("gumbel", {"c_init": 1.0}, "rule=gumbel has no constant 'c_init'; it has c_visit, c_scale, considered"),
        ("puct", {"noise": 1.5}, "noise=1.5: must be between 0 and 1"),
        ("puct", {"alpha": 0.0}, "alpha=0.0: must be above 0"),
        ("uct", {"c": -1.0}, "c=-1.0: must be 0 or more"),
        ("gumbel", {"considered": 0}, "considered=0: must be a whole number from 1"),
    ],
)
def test_unknown_rules_and_bad_constants_are_refused(name, constants, reason):
    with pytest.raises(SettingError, match=reason):
        make_rule(name, constants)
