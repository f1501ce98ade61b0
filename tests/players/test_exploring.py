"""Epsilon-greedy play: how often it explores at each ply."""

import math

import pytest
import torch

from selfplay.compute.random_numbers import Draws
from selfplay.errors import SettingError
from selfplay.games import make_game
from selfplay.players.exploring import EpsilonGreedyPlayer
from selfplay.players.player import Player, RandomPlayer, one_hot_policy

GAME = make_game("tictactoe")
DRAWS = 40_000


class LastLegal(Player):
    """Takes the highest legal action."""

    name = "last"

    def act(self, state, draws):
        mask = GAME.legal_action_mask(state)
        return (mask * torch.arange(9)).argmax(dim=1)

    def policy(self, state):
        return one_hot_policy(self.act(state, None), GAME.legal_action_mask(state))


def exploring(*epsilons):
    return EpsilonGreedyPlayer(GAME, LastLegal(), epsilons)


def actions_at(ply, *epsilons):
    return exploring(*epsilons).act(GAME.init(DRAWS), Draws(21, torch.arange(DRAWS), ply))


def assert_close_to(count, rate):
    """Within five standard deviations of a binomial count."""
    assert abs(count - DRAWS * rate) < 5 * math.sqrt(DRAWS * rate * (1 - rate))


@pytest.mark.parametrize(("ply", "epsilon"), [(0, 0.5), (1, 0.3), (8, 0.1)])
def test_each_ply_has_its_rate_and_the_last_one_repeats(ply, epsilon):
    actions = actions_at(ply, 0.5, 0.3, 0.1)
    # An exploring action is one of nine, so the eight others than the greedy one come up in 8/9 of those draws.
    assert_close_to((actions != 8).sum().item(), epsilon * 8 / 9)


def test_rate_0_is_greedy_and_rate_1_is_random():
    assert actions_at(0, 0.0).eq(8).all()
    assert torch.equal(actions_at(0, 1.0), RandomPlayer(GAME).act(GAME.init(DRAWS), Draws(21, torch.arange(DRAWS), 0)))


def test_the_policy_mixes_both_players():
    policy = exploring(0.25).policy(GAME.init(1))
    assert policy[0].tolist() == pytest.approx([0.25 / 9] * 8 + [0.25 / 9 + 0.75], abs=1e-15)


def test_rates_that_differ_by_ply_have_no_policy():
    with pytest.raises(SettingError, match="differ by ply"):
        exploring(0.5, 0.1).policy(GAME.init(1))
    assert exploring(0.1, 0.1).policy(GAME.init(1)).sum().item() == pytest.approx(1)


@pytest.mark.parametrize("epsilons", [(), (-0.1,), (0.5, 1.1), (float("nan"),)])
def test_rates_out_of_range_are_refused(epsilons):
    with pytest.raises(SettingError, match=r"epsilons=.*from 0 to 1"):
        exploring(*epsilons)
