"""Comparison training: the actions that tables prefer are those of the player that looks one ply ahead."""

import numpy as np
import torch

from selfplay.architectures import build_network
from selfplay.compute.random_numbers import Draws
from selfplay.games import make_game
from selfplay.games.kernels import distinct_positions
from selfplay.players.agent import Agent
from selfplay.players.checkpoints import Checkpoint
from selfplay.players.search import SearchPlayer
from selfplay.search.searcher import Searcher
from selfplay.training.comparison_training import ComparisonTraining


def test_preferred_actions_are_those_of_a_search_of_one_ply_also_where_rounding_decides():
    """Weights are either multiples of 1/8, which often have equal sums, or so small that differences with them round
    them away."""
    game, generator = make_game("connect_four"), torch.Generator().manual_seed(3)
    architecture = {"name": "ntuple", "walks": 20, "walk_length": 6, "parities": True, "drops": True}
    network = build_network(architecture, game.observation_shape, game.num_distinct_actions)
    coarse, fine = (torch.randint(-1, 2, network.weight.shape, generator=generator) for _ in range(2))
    is_coarse = torch.rand(network.weight.shape, generator=generator) < 0.5
    with torch.no_grad():
        network.weight.copy_(torch.where(is_coarse, coarse * 2.0**-3, fine * 2.0**-40))
    state = game.init(2000)
    for ply in range(12):
        state = game.step(state, game.kernels.random_actions(state, Draws(1, torch.arange(2000), ply)))
    state = state.select(~state.terminated)
    state = state.select(distinct_positions(state.position)[0])
    evaluation = Agent(Checkpoint(network, {"outcome": "return"}), game, "level 1").evaluation()
    actions = (
        SearchPlayer(Searcher(game, evaluation), 1).act(state, Draws(0, torch.arange(state.batch_size), 0)).numpy()
    )
    preferred = ComparisonTraining(game, network.trainable_tables()).best_actions(state.position.numpy())
    np.testing.assert_array_equal(preferred & -preferred, np.int64(1) << actions)
