"""How a network's weights go down the gradient, an epoch at a time: in batches by Adam, or row after row."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from math import prod
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from selfplay.architectures.ntuple import NTuple
from selfplay.compute.bit_permutation import packed_planes
from selfplay.compute.devices import runs_compiled
from selfplay.errors import SettingError
from selfplay.settings.training import SGD_ON_CPU, TrainingSettings
from selfplay.training.adam import Adam, scheduled_learning_rate
from selfplay.training.examples import Batch
from selfplay.training.process_group import SINGLE_PROCESS, ProcessGroup


class Optimizer(Protocol):
    """A way down."""

    weights: Tensor
    """All weights of the network, as they are now; written into, they change."""

    def inputs(self, packed: NDArray[np.uint8]) -> Tensor:
        """N inputs, made from packed observations (uint8[N, ceil(D / 8)], see `ObservationCodec.pack`)."""

    def run_epoch(self, batches: Iterator[Batch]) -> float:
        """Take the next epoch's steps, each on the next of these batches.

        Returns:
            The mean over the batches of the weighted squared error that was minimised, each before its step.
        """


def make_optimizer(
    network: nn.Module,
    rows: int,
    observation_shape: tuple[int, ...],
    settings: TrainingSettings,
    level: int,
    processes: ProcessGroup = SINGLE_PROCESS,
) -> Optimizer:
    """The way that `settings.optimizer` names, for passes over so many rows.

    Raises SettingError if the network cannot go it.
    """
    schedule = Schedule(settings, rows, level)
    if settings.optimizer.name == "adam":
        return BatchTraining(network, observation_shape, settings, schedule, processes)
    if not isinstance(network, NTuple):
        raise SettingError("training.optimizer.name=sgd goes row after row through tables: architecture=ntuple only")
    if not runs_compiled(network.weight):
        raise SettingError(SGD_ON_CPU)
    if settings.optimizer.weight_decay > 0:
        decay = settings.optimizer.weight_decay
        raise SettingError(f"training.optimizer.weight_decay={decay}: name=sgd has none; give 0, or name=adam")
    return RowByRowTraining(network, observation_shape, schedule)


class Schedule:
    """The learning rate of each step of a level's training."""

    def __init__(self, settings: TrainingSettings, rows: int, level: int) -> None:
        self.steps_per_epoch = settings.steps_per_epoch or -(-rows // settings.batch_size)
        self._total = settings.epochs * self.steps_per_epoch
        self._name = settings.optimizer.schedule
        self._peak = settings.optimizer.learning_rate * settings.optimizer.level_decay ** (level - 1)

    def rate(self, step: int) -> float:
        """The rate of step `step`, counted through all epochs from 0."""
        return scheduled_learning_rate(self._name, self._peak, step, self._total)


class BatchTraining:
    """Batches by Adam, on any network; each process computes the gradient of its share."""

    def __init__(
        self,
        network: nn.Module,
        observation_shape: tuple[int, ...],
        settings: TrainingSettings,
        schedule: Schedule,
        processes: ProcessGroup,
    ) -> None:
        self._shape, self._schedule, self._steps = observation_shape, schedule, 0
        optimizer = settings.optimizer
        self._adam = Adam(network.parameters(), optimizer.weight_decay, optimizer.decoupled_weight_decay)
        self._processes, self._network = processes, processes.data_parallel(network)
        self.weights = self._adam.weights
        self._autocast = autocast(settings.precision, self.weights.device)

    def inputs(self, packed: NDArray[np.uint8]) -> Tensor:
        """uint8[N, *observation_shape]: 0 or 1"""
        entries = np.unpackbits(packed, axis=1, count=prod(self._shape))
        return torch.from_numpy(entries).reshape(-1, *self._shape)

    def run_epoch(self, batches: Iterator[Batch]) -> float:
        total = torch.zeros((), device=self.weights.device)
        for batch in islice(batches, self._schedule.steps_per_epoch):
            total += self._step(batch)
        return float(self._processes.all_reduce(total)) / self._schedule.steps_per_epoch

    def _step(self, batch: Batch) -> Tensor:
        """Returns this process's part of the batch's loss."""
        observations, targets, weights = batch.share.to(self.weights.device)
        self._adam.zero_grad()
        with self._autocast:
            values = self._network(observations.float()).reshape(-1).float()
        # The mean over the whole batch, times the number of processes because their gradients are averaged.
        loss: Tensor = (weights * (values - targets).square()).sum() / (batch.size / self._processes.world_size)
        loss.backward()  # type: ignore[no-untyped-call]
        self._adam.step(self._schedule.rate(self._steps))
        self._steps += 1
        return loss.detach() / self._processes.world_size


def autocast(precision: str, device: torch.device) -> AbstractContextManager[object]:
    """Within it networks compute with that precision where torch holds it safe."""
    return nullcontext() if precision == "float32" else torch.autocast(device.type, torch.bfloat16)


class RowByRowTraining:
    """Stochastic gradient descent row after row, on tables; a batch only is the rows that share a learning rate."""

    def __init__(self, network: NTuple, observation_shape: tuple[int, ...], schedule: Schedule) -> None:
        self._network, self._shape, self._schedule, self._steps = network, observation_shape, schedule, 0
        self.weights = network.weight.data
        self._planes = packed_planes(2, prod(observation_shape[1:]))

    def inputs(self, packed: NDArray[np.uint8]) -> Tensor:
        """int64[N, 2]: the words of the two planes."""
        return torch.from_numpy(self._planes(packed))

    def run_epoch(self, batches: Iterator[Batch]) -> float:
        from selfplay.training.row_by_row import descend_row_by_row

        tables = self._network.trainable_tables()
        loss, rows = 0.0, 0
        for examples, size in islice(batches, self._schedule.steps_per_epoch):
            words, targets, weights = (column.numpy() for column in examples)
            loss = descend_row_by_row(words, targets, weights, tables, self._schedule.rate(self._steps), loss)
            self._steps += 1
            rows += size
        return loss / max(1, rows)
