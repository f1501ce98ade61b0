"""Positions to measure searches in."""

import torch

from selfplay.compute.random_numbers import Draws
from selfplay.games import Game
from selfplay.games.state import State


def random_positions(game: Game, count: int, plies: int, key: int) -> tuple[State, list[list[int]]]:
    """Positions after this number of random plies, and the actions that lead to each."""
    state, actions = game.init(count), []
    for ply in range(plies):
        actions.append(game.kernels.random_actions(state, Draws(key, torch.arange(count), ply)))
        state = game.step(state, actions[-1])
    return state, torch.stack(actions, dim=1).tolist()
