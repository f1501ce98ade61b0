"""Stochastic gradient descent on the tables of an n-tuple network, one row at a time, compiled."""

import math

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.compilation import compiled
from selfplay.games.patterns import TrainableTables, phase_of, write_entries


@compiled
def descend_row_by_row(
    words: NDArray[np.int64],
    targets: NDArray[np.float32],
    row_weights: NDArray[np.float32],
    tables: TrainableTables,
    rate: float,
    loss: float,
) -> float:
    """Take one step of gradient descent on the weighted squared error of each row, in order.

    Args:
        words: int64[N, 2], the stones of the player who has just moved and of the player to move.
        targets, row_weights: float32[N].
        tables: its `weights` are changed in place.
        rate: the learning rate.
        loss: the sum of the weighted squared errors of earlier rows.

    Returns:
        `loss` plus the weighted squared error of each row, measured before the row's step and added one by one.
    """
    contributions, offsets, weight_of_entry, weights, squares = tables
    entries = np.empty(len(offsets), dtype=np.int32)
    for row in range(len(words)):
        just_moved, to_move = words[row, 0], words[row, 1]
        write_entries(just_moved, to_move, contributions, offsets, entries)
        phase = phase_of(just_moved, to_move, len(weights), squares)
        total = 0.0
        for image in range(len(offsets)):
            total += weights[phase, weight_of_entry[entries[image]]]
        value = math.tanh(total)
        error = targets[row] - value
        loss += row_weights[row] * error * error
        change = np.float32(rate * row_weights[row] * error * (1.0 - value * value))
        for image in range(len(offsets)):
            weights[phase, weight_of_entry[entries[image]]] += change
    return loss
