"""The features of a batch of positions, and the words of their boards."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.compilation import compiled
from selfplay.compute.compiled_words import word_rows
from selfplay.games.game import Game
from selfplay.games.number_kernels import compile_numbers
from selfplay.games.state import State


def feature_values(game: Game, state: State) -> Tensor:
    """float32[B, K]: the features of each position, seen by the player to move."""
    assert game.features is not None, "only called for games with features"
    values = torch.empty(state.batch_size, len(game.features.names))
    compile_numbers(game.features.values, game.rules.position)(word_rows(state.position), values.numpy())
    return values


def board_words(observations: Tensor) -> NDArray[np.int64]:
    """int64[C, N]: the words of the C planes of each observation (float32[N, C, ...] of 0 and 1, on the CPU).

    Entry i of a plane in C order is bit i.
    """
    words = np.empty((observations.shape[1], len(observations)), dtype=np.int64)
    _pack(observations.flatten(2).contiguous().numpy(), words)
    return words


@compiled
def _pack(planes: NDArray[np.float32], words: NDArray[np.int64]) -> None:
    for i in range(planes.shape[0]):
        for plane in range(planes.shape[1]):
            word = np.int64(0)
            for square in range(planes.shape[2]):
                word |= np.int64(planes[i, plane, square] != 0) << square
            words[plane, i] = word
