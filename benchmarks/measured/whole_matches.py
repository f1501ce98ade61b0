"""Random matches, each played to its end before the next one begins: the speed of the rules alone."""

from collections.abc import Callable
from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.compilation import Words, compiled, register_rules
from selfplay.compute.compiled_words import load, move_of, part, word_rows
from selfplay.compute.random_numbers import Draws
from selfplay.compute.stored_words import word_tensor
from selfplay.games import Game
from selfplay.games.kernels import random_action
from selfplay.games.rules import Rules

PASS = -1


def play_random_matches(game: Game, draws: Draws) -> tuple[Tensor, Tensor]:
    """The return of player 0 (float32[B]) and the number of plies (int64[B]) of the matches that the random player
    plays with these draws."""
    returns, plies = torch.empty_like(draws.match, dtype=torch.float32), torch.empty_like(draws.match)
    play = _compile(game.rules)
    start = word_rows(word_tensor(game.rules.initial, game.rules.word_bits))
    play(start, draws.key, draws.match.numpy(), returns.numpy(), plies.numpy())
    return returns, plies


@cache
def _compile(rules: Rules) -> Callable[..., None]:
    register_rules()
    legal_actions, play, is_terminal, return_to_move = rules[1:5]

    @compiled
    def random_matches(
        start: Words,
        key: int,
        match: NDArray[np.int64],
        returns: NDArray[np.float32],
        plies: NDArray[np.int64],
    ) -> None:
        for i in range(len(match)):
            mine, other, ply = load(start, 0), load(start, 1), 0
            while True:
                bits = legal_actions(mine, other)
                if bits == 0 and is_terminal(mine, other):
                    break
                action = PASS if bits == 0 else random_action(bits, key, match[i], ply)
                mine, other = play(mine, other, move_of(mine, action, PASS))
                ply += 1
            result = part(return_to_move(mine, other), 0)
            returns[i], plies[i] = result if ply % 2 == 0 else -result, ply

    return random_matches
