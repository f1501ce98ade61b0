"""Comparison training: the actions that tables prefer are those of the player that looks one ply ahead."""

import numpy as np
import torch

from selfplay.agents.agent import Agent
from selfplay.agents.checkpoints import Checkpoint
from selfplay.architectures import build_network
from selfplay.compute.random_numbers import Draws
from selfplay.games import make_game
from selfplay.games.distinct_positions import distinct_positions
from selfplay.players.search import SearchPlayer
from selfplay.search.searcher import Searcher
from selfplay.training.lesson_training import Comparisons, ComparisonTraining

GAME = make_game("connect_four")


def tables_of(weights):
    """A network of tables with these weights, which are made from the shape of theirs."""
    architecture = {"name": "ntuple", "walks": 20, "walk_length": 6, "parities": True, "drops": True}
    network = build_network(architecture, GAME.observation_shape, GAME.num_distinct_actions)
    with torch.no_grad():
        network.weight.copy_(weights(network.weight.shape))
    return network


def random_positions(count, plies=12):
    state = GAME.init(count)
    for ply in range(plies):
        state = GAME.step(state, GAME.kernels.random_actions(state, Draws(1, torch.arange(count), ply)))
    state = state.select(~state.terminated)
    return state.select(distinct_positions(state.position)[0])


def test_preferred_actions_are_those_of_a_search_of_one_ply_also_where_rounding_decides():
    """Weights are either multiples of 1/8, which often have equal sums, or so small that differences with them round
    them away."""
    generator = torch.Generator().manual_seed(3)

    def coarse_and_fine(shape):
        coarse, fine = (torch.randint(-1, 2, shape, generator=generator) for _ in range(2))
        return torch.where(torch.rand(shape, generator=generator) < 0.5, coarse * 2.0**-3, fine * 2.0**-40)

    network, state = tables_of(coarse_and_fine), random_positions(2000)
    evaluation = Agent(Checkpoint(network, {"outcome": "return"}), GAME, "level 1").evaluation()
    actions = (
        SearchPlayer(Searcher(GAME, evaluation), 1).act(state, Draws(0, torch.arange(state.batch_size), 0)).numpy()
    )
    preferred = ComparisonTraining(GAME, network.trainable_tables()).best_actions(state.position.numpy())
    np.testing.assert_array_equal(preferred & -preferred, np.int64(1) << actions)


def test_steps_make_a_good_action_lead_and_none_is_taken_where_an_unknown_one_is_preferred():
    generator = torch.Generator().manual_seed(3)
    network, state = (
        tables_of(lambda shape: torch.randn(shape, generator=generator) / 20),
        random_positions(60, plies=5),
    )
    training, seen = ComparisonTraining(GAME, network.trainable_tables()), set()
    for row in range(state.batch_size):
        one = state.select(torch.tensor([row]))
        legal = [1 << action for action in GAME.legal_action_mask(one)[0].nonzero()[:, 0].tolist()]
        good, poor = sum(legal[:2]), sum(legal[2:4])
        comparisons = Comparisons(one.position.numpy(), np.array([good]), np.array([poor]))
        preferred = int(training.best_actions(comparisons.position)[0])
        lacking, unknown = training.learn(comparisons, np.array([0]), 0.1)
        is_unknown = not preferred & (good | poor)
        assert unknown.tolist() == [preferred * is_unknown]
        if is_unknown or preferred & poor:
            assert lacking == bool(preferred & poor)
        seen.add(is_unknown)
        for _ in range(100):
            if training.learn(comparisons, np.array([0]), 0.1)[0] == 0:
                break
        assert not training.best_actions(comparisons.position)[0] & poor
    assert seen == {True, False}
