"""Random matches, each played to its end before the next one begins: the speed of the rules alone."""

from collections.abc import Callable
from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.compilation import Words, compiled
from selfplay.compute.compiled_words import load, part, word_rows
from selfplay.compute.positions import packed_array
from selfplay.compute.random_numbers import Draws
from selfplay.games import Game
from selfplay.games.kernels import random_action
from selfplay.games.rules import Rules


def play_random_matches(game: Game, draws: Draws) -> tuple[Tensor, Tensor]:
    """The return of player 0 (float32[B]) and the number of plies (int64[B]) of the matches that the random player
    plays with these draws."""
    returns, plies = torch.empty_like(draws.match, dtype=torch.float32), torch.empty_like(draws.match)
    play = _compile(game.rules, game.pass_action)
    start = word_rows(packed_array([game.rules.initial]))
    play(start, draws.key, draws.match.numpy(), returns.numpy(), plies.numpy())
    return returns, plies


@cache
def _compile(rules: Rules, pass_action: int | None) -> Callable[..., None]:
    _, legal_actions, play, is_terminal, return_to_move, *_ = rules
    unpack, moves_again = rules.position.unpack, rules.moves_again
    passing = -1 if pass_action is None else pass_action

    @compiled
    def random_matches(
        start: Words,
        key: int,
        match: NDArray[np.int64],
        returns: NDArray[np.float32],
        plies: NDArray[np.int64],
    ) -> None:
        for i in range(len(match)):
            position, player, ply = unpack(load(start, 0)), 0, 0
            while True:
                bits = legal_actions(position)
                if bits == 0 and is_terminal(position):
                    break
                action = passing if bits == 0 else random_action(bits, key, match[i], ply)
                position, ply = play(position, action), ply + 1
                if moves_again is None or not moves_again(position):
                    player = 1 - player
            result = part(return_to_move(position), 0)
            returns[i], plies[i] = result if player == 0 else -result, ply

    return random_matches
