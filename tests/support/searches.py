"""Positions and evaluations to search with."""

import torch

from selfplay.compute.random_numbers import Draws
from selfplay.games import State
from selfplay.games.game import Game
from selfplay.search.evaluation import FeatureEvaluation, make_evaluation


def evaluation_for(game: Game) -> FeatureEvaluation:
    return make_evaluation("article" if game.features else "none", game)


def position_after(game: Game, plies: int, seed: int) -> State:
    """One match after this number of random plies, or at its end if that is earlier."""
    state = game.init()
    for ply in range(plies):
        state = game.step(state, game.kernels.random_actions(state, Draws(seed, torch.tensor([0]), ply)))
    return state
