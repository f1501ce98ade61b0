"""Random matches, each played to its end before the next one begins: the speed of the rules alone."""

from collections.abc import Callable
from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.compilation import compiled, register_rules
from selfplay.compute.random_numbers import Draws
from selfplay.games import Game
from selfplay.games.kernels import random_action
from selfplay.games.rules import Rules


def play_random_matches(game: Game, draws: Draws) -> tuple[Tensor, Tensor]:
    """The return of player 0 (float32[B]) and the number of plies (int64[B]) of the matches that the random player
    plays with these draws."""
    returns, plies = torch.empty_like(draws.match, dtype=torch.float32), torch.empty_like(draws.match)
    play = _compile(game.rules)
    play(*game.rules.initial, draws.key, draws.match.numpy(), returns.numpy(), plies.numpy())
    return returns, plies


@cache
def _compile(rules: Rules) -> Callable[..., None]:
    register_rules()
    legal_actions, play, is_terminal, return_to_move = rules[1:5]

    @compiled
    def random_matches(
        own: int,
        opp: int,
        key: int,
        match: NDArray[np.int64],
        returns: NDArray[np.float32],
        plies: NDArray[np.int64],
    ) -> None:
        for i in range(len(match)):
            mine, other, ply = own, opp, 0
            while True:
                bits = legal_actions(mine, other)
                if bits != 0:
                    move = np.int64(1) << random_action(bits, key, match[i], ply)
                elif is_terminal(mine, other):
                    break
                else:
                    move = np.int64(0)
                mine, other = play(mine, other, move)
                ply += 1
            result = return_to_move(mine, other)
            returns[i], plies[i] = result if ply % 2 == 0 else -result, ply

    return random_matches
