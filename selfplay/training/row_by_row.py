"""Stochastic gradient descent on the tables of an n-tuple network, one row at a time, compiled.

A row changes only the tables of its phase of the match. So each phase can be trained alone, on its rows in their order,
with the same weights as training on all rows in order. The phases are shared out among threads, and the tables of one
phase stay in the processor's cache.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from math import prod
from typing import ClassVar, NamedTuple

import numba
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.architectures.capabilities import RowByRowTrainable
from selfplay.compute.compilation import compiled
from selfplay.compute.elementary import tangent
from selfplay.errors import SettingError
from selfplay.games.observation_codec import packed_planes
from selfplay.games.patterns import TrainableTables, phase_of, write_entries
from selfplay.training.examples import Batch
from selfplay.training.trainer import TrainingJob

ROWS_AT_ONCE = 1 << 17
"""The smallest number of rows that are shared out among the threads together; at most one batch more."""


class RatedRows(NamedTuple):
    """N rows in the order in which they are trained on."""

    words: NDArray[np.int64]
    """int64[N, 2]: the words of the player who has just moved and of the player to move."""
    targets: NDArray[np.float32]
    """float32[N]"""
    weights: NDArray[np.float32]
    """float32[N]"""
    rates: NDArray[np.float64]
    """float64[N]: the learning rate of each row."""


class RowByRowTraining:
    """Takes a step on each single row; the rows of a batch only share a learning rate."""

    runs_on_cpu_only: ClassVar[bool] = True
    one_process_only: ClassVar[bool] = True

    def __init__(self, job: TrainingJob) -> None:
        if not isinstance(job.network, RowByRowTrainable):
            raise SettingError(
                "training.optimizer.name=sgd trains tables row by row; use the architecture ntuple, or "
                "training.optimizer.name=adam"
            )
        if (decay := job.training.optimizer.weight_decay) > 0:
            raise SettingError(
                f"training.optimizer.weight_decay={decay}: training.optimizer.name=sgd does not decay weights; set "
                "training.optimizer.weight_decay=0, or training.optimizer.name=adam"
            )
        self._learning_rate, self._steps = job.learning_rate, 0
        self._planes = packed_planes(2, prod(job.observation_shape[1:]))
        self._tables = job.network.trainable_tables()
        self.weights = torch.from_numpy(self._tables.weights)
        self._threads = ThreadPoolExecutor(min(numba.config.NUMBA_NUM_THREADS, len(self.weights)))  # type: ignore[attr-defined]

    def inputs(self, packed: NDArray[np.uint8]) -> Tensor:
        """int64[N, 2]: the words of the two planes."""
        return torch.from_numpy(self._planes(packed))

    def run_epoch(self, batches: Iterator[Batch]) -> float:
        loss, rows = 0.0, 0
        limited = islice(batches, self._learning_rate.steps_per_epoch)
        while part := self._next_rows(limited):
            losses = self._descend(part)
            loss = added_one_by_one(losses, loss)
            rows += len(losses)
        return loss / max(1, rows)

    def _descend(self, rows: RatedRows) -> NDArray[np.float64]:
        """Train on the rows; float64[N]: the weighted squared error of each before its step."""
        losses = np.empty(len(rows.targets))
        phases = range(len(self.weights))
        # Making the list waits for all phases, and raises the errors of the threads.
        list(self._threads.map(lambda phase: descend_row_by_row(rows, self._tables, phase, losses), phases))
        return losses

    def _next_rows(self, batches: Iterator[Batch]) -> RatedRows | None:
        """The rows of the next batches; None after the last one."""
        parts, number = [], 0
        for batch in batches:
            words, targets, weights = (column.numpy() for column in batch.share)
            rates = np.full(len(targets), self._learning_rate.at(self._steps))
            parts.append(RatedRows(words, targets, weights, rates))
            self._steps += 1
            number += batch.size
            if number >= ROWS_AT_ONCE:
                break
        return RatedRows(*map(np.concatenate, zip(*parts, strict=True))) if parts else None


@compiled
def descend_row_by_row(rows: RatedRows, tables: TrainableTables, phase: int, losses: NDArray[np.float64]) -> None:
    """Take one step of gradient descent on the weighted squared error of each row of a phase, in order.

    The error is that of `selfplay.training.losses.weighted_squared_errors`, computed here so that it is compiled.

    Args:
        tables: the tables, of whose `weights` those of the phase are changed in place.
        losses: float64[N], where the weighted squared error of each row, before its step, is written.
    """
    contributions, offsets, weight_of_entry, weights, squares, parities, is_portable = tables
    entries = np.empty(len(offsets), dtype=np.int32)
    for row in range(len(rows.targets)):
        just_moved, to_move = rows.words[row, 0], rows.words[row, 1]
        if phase_of(just_moved, to_move, len(weights), squares, parities) != phase:
            continue
        write_entries(just_moved, to_move, contributions, offsets, entries)
        total = 0.0
        for image in range(len(offsets)):
            total += weights[phase, weight_of_entry[entries[image]]]
        value = tangent(total, is_portable)
        error = rows.targets[row] - value
        losses[row] = rows.weights[row] * error * error
        change = np.float32(rows.rates[row] * rows.weights[row] * error * (1.0 - value * value))
        for image in range(len(offsets)):
            weights[phase, weight_of_entry[entries[image]]] += change


@compiled
def added_one_by_one(numbers: NDArray[np.float64], total: float) -> float:
    """`total` plus all the numbers, added in order."""
    for number in numbers:
        total += number
    return total
