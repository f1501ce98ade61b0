"""Random matches of a game, ply by ply: what the contract of games is checked with."""

from typing import NamedTuple

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.games.game import Game
from selfplay.games.state import State

MATCHES = 64


class Ply(NamedTuple):
    """One ply of all random matches."""

    state: State
    action: Tensor
    """int64[B]: legal actions; arbitrary where the match is over."""
    following: State


def random_plies(game: Game) -> list[Ply]:
    """The plies of random matches, at most `max_game_length`."""
    key, match = stream_key(0, 0, Activity.GENERATION), torch.arange(MATCHES)
    state, plies = game.init(MATCHES), list[Ply]()
    while len(plies) < game.max_game_length and not bool(state.terminated.all()):
        action = game.kernels.random_actions(state, Draws(key, match, len(plies)))
        plies.append(Ply(state, action, game.kernels.step(state, action)))
        state = plies[-1].following
    return plies
