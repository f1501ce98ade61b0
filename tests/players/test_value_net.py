"""The greedy value player, with networks whose values are known."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from selfplay.architectures import Output, build_network
from selfplay.compute.random_numbers import Draws
from selfplay.errors import SettingError
from selfplay.games import make_game
from selfplay.games.position_graph import positions_of
from selfplay.players.value_net import ValueNetPlayer, greedy_actions
from tests.support import chi_square

GAME = make_game("tictactoe")
NAN = float("nan")


class Weighted(nn.Module):
    """The sum of the weights of the set entries: 0.01 to 0.09 for the mover's squares, negative for the opponent's."""

    def __init__(self, weights=None):
        super().__init__()
        own = torch.arange(1, 10) / 100
        self.weights = torch.cat([own, -own]) if weights is None else weights

    def forward(self, observations):
        return Output((observations.flatten(1) * self.weights).sum(dim=1))


class Constant(nn.Module):
    def forward(self, observations):
        return Output(torch.full((len(observations),), 5.0))


def values_after(player, *actions):
    return player.action_values(player.game.state_after(actions))[0].tolist()


def test_depth_1_values_each_afterstate_as_the_mover_sees_it():
    # X . .
    # . O .     X to move; X's squares count 0.01 to 0.09, O's as much less
    # . . .
    values = values_after(ValueNetPlayer(GAME, Weighted()), "0,0", "1,1")
    here = 0.01 - 0.05
    expected = [NAN, here + 0.02, here + 0.03, here + 0.04, NAN, here + 0.06, here + 0.07, here + 0.08, here + 0.09]
    assert values == pytest.approx(expected, abs=1e-6, nan_ok=True)


def brute_force(game, network, state, depth):
    """The values of the actions of a single match, by stepping it action by action."""
    values = [NAN] * game.num_distinct_actions
    for action in game.legal_action_mask(state)[0].nonzero()[:, 0].tolist():
        after = game.step(state, torch.tensor([action]))
        if after.terminated:
            values[action] = float(after.returns_to(state.current_player))
        elif depth == 1:
            values[action] = float(network(game.observe(after)).value)
        else:
            replies = brute_force(game, network, after, depth - 1)
            values[action] = -max(reply for reply in replies if not math.isnan(reply))
    return values


@pytest.mark.parametrize("depth", [1, 2])
def test_values_equal_a_brute_force_maximin_in_many_positions(depth):
    generator = torch.Generator().manual_seed(depth)
    network = Weighted(torch.randn(18, generator=generator))
    graph = positions_of(GAME)
    state = graph.state.select(torch.randperm(len(graph), generator=generator)[:50])
    values = ValueNetPlayer(GAME, network, depth).action_values(state)
    expected = [brute_force(GAME, network, state.select(torch.tensor([row])), depth) for row in range(50)]
    np.testing.assert_allclose(values.numpy(), np.array(expected), atol=1e-5)


def test_ties_go_to_the_lowest_legal_action():
    player = ValueNetPlayer(GAME, Constant())
    state = GAME.state_after(["0,0", "0,1"])
    assert player.act(state, Draws(0, torch.arange(1), 2)).tolist() == [2]
    assert greedy_actions(torch.tensor([[NAN, -1, 0.5, 0.5], [NAN, NAN, -3, -4]])).tolist() == [2, 2]
    assert player.policy(state)[0].tolist() == [0, 0, 1, 0, 0, 0, 0, 0, 0]


def test_temperature_draws_actions_by_the_exponential_of_their_values():
    temperature = 0.1
    player = ValueNetPlayer(GAME, Weighted(), temperature=temperature)
    state = GAME.state_after(["0,0", "1,1"])
    values = {action: 0.01 - 0.05 + (action + 1) / 100 for action in (1, 2, 3, 5, 6, 7, 8)}
    total = sum(math.exp(value / temperature) for value in values.values())
    expected = [math.exp(values[a] / temperature) / total if a in values else 0.0 for a in range(9)]
    assert player.policy(state)[0].tolist() == pytest.approx(expected, abs=1e-6)
    actions = player.act(state.select(torch.zeros(50_000, dtype=torch.int64)), Draws(3, torch.arange(50_000), 2))
    counts = torch.bincount(actions, minlength=9).numpy()
    assert counts[[0, 4]].tolist() == [0, 0]
    legal = list(values)
    assert chi_square.p_value(counts[legal], 50_000 * np.array(expected)[legal]) > 1e-3


@pytest.mark.parametrize(
    "architecture",
    [
        {"name": "mlp", "hidden_sizes": [256], "dropout": 0.5},
        {"name": "conv", "channels": 64, "hidden_sizes": [128]},
    ],
    ids=["mlp with dropout", "conv"],
)
def test_the_rest_of_the_batch_changes_no_bit_of_a_value(architecture):
    torch.manual_seed(0)
    player = ValueNetPlayer(GAME, build_network(architecture, GAME.observation_shape, GAME.num_distinct_actions), 2)
    graph = positions_of(GAME)
    numbers = torch.randperm(len(graph))[:200]
    together = player.action_values(graph.state.select(numbers))
    order = torch.randperm(200)
    shuffled = player.action_values(graph.state.select(numbers[order]))
    np.testing.assert_array_equal(shuffled.numpy(), together[order].numpy())
    repeated = player.action_values(graph.state.select(numbers.repeat(2)))
    np.testing.assert_array_equal(repeated.numpy(), together.repeat(2, 1).numpy())
    for row in range(0, 200, 25):
        alone = player.action_values(graph.state.select(numbers[row : row + 1]))
        np.testing.assert_array_equal(alone.numpy(), together[row : row + 1].numpy())


@pytest.mark.parametrize(("option", "value"), [("depth", 0), ("temperature", -0.1)])
def test_options_out_of_range_are_refused(option, value):
    with pytest.raises(SettingError, match=f"^{option}={value}"):
        ValueNetPlayer(GAME, Constant(), **{option: value})
