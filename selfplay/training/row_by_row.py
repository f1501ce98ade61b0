"""Stochastic gradient descent on the tables of an n-tuple network, one row at a time, compiled."""

import math
from collections.abc import Iterator
from itertools import islice
from math import prod
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.architectures.capabilities import RowByRowTrainable
from selfplay.compute.bit_permutation import packed_planes
from selfplay.compute.compilation import compiled
from selfplay.errors import SettingError
from selfplay.games.patterns import TrainableTables, phase_of, write_entries
from selfplay.training.examples import Batch
from selfplay.training.optimizer import TrainingJob


class RowByRowTraining:
    """Takes a step on each single row; the rows of a batch only share a learning rate."""

    runs_on_cpu_only: ClassVar[bool] = True
    one_process_only: ClassVar[bool] = True

    def __init__(self, job: TrainingJob) -> None:
        if not isinstance(job.network, RowByRowTrainable):
            raise SettingError(
                "training.optimizer.name=sgd trains tables row by row: set architecture=ntuple, or name=adam"
            )
        if (decay := job.settings.optimizer.weight_decay) > 0:
            raise SettingError(
                f"training.optimizer.weight_decay={decay}: name=sgd does not decay weights; set 0, or name=adam"
            )
        self._learning_rate, self._steps = job.learning_rate, 0
        self._planes = packed_planes(2, prod(job.observation_shape[1:]))
        self._tables = job.network.trainable_tables()
        self.weights = torch.from_numpy(self._tables.weights)

    def inputs(self, packed: NDArray[np.uint8]) -> Tensor:
        """int64[N, 2]: the words of the two planes."""
        return torch.from_numpy(self._planes(packed))

    def run_epoch(self, batches: Iterator[Batch]) -> float:
        loss, rows = 0.0, 0
        for batch in islice(batches, self._learning_rate.steps_per_epoch):
            words, targets, weights = (column.numpy() for column in batch.share)
            rate = self._learning_rate.at(self._steps)
            loss = descend_row_by_row(words, targets, weights, self._tables, rate, loss)
            self._steps += 1
            rows += batch.size
        return loss / max(1, rows)


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

    The error is that of `selfplay.training.loss.weighted_squared_errors`, computed here so that it is compiled.

    Args:
        words: int64[N, 2], the words of the player who has just moved and of the player to move.
        targets, row_weights: float32[N].
        tables: the tables, whose `weights` are changed in place.
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
