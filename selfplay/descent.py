"""How a network's weights go down the gradient, an epoch at a time: in batches by Adam, or row after row."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from architectures.ntuple import NTuple
from selfplay.devices import runs_compiled
from selfplay.errors import SettingError
from selfplay.optimizer import Adam, scheduled_learning_rate
from selfplay.settings import SGD_ON_CPU, TrainingSettings


class Examples(NamedTuple):
    """N training examples."""

    observations: Tensor
    """uint8[N, D]: 0 or 1"""
    targets: Tensor
    """float32[N]"""
    weights: Tensor
    """float32[N], with mean 1."""


class Descent(Protocol):
    """A way down."""

    weights: Tensor
    """All weights of the network, as they are now; written into, they change."""

    def run_epoch(self, batches: Iterator[Tensor]) -> float:
        """Take the next epoch's steps on the rows of these batches (int64[size] each).

        Returns:
            The mean over the batches of the weighted squared error that was minimised, each before its step.
        """


def make_descent(
    network: nn.Module, examples: Examples, observation_shape: tuple[int, ...], settings: TrainingSettings, level: int
) -> Descent:
    """The way that `settings.optimizer` names. Raises SettingError if the network cannot go it."""
    schedule = Schedule(settings, len(examples.targets), level)
    if settings.optimizer.name == "adam":
        return AdamDescent(network, examples, observation_shape, settings, schedule)
    if not isinstance(network, NTuple):
        raise SettingError("training.optimizer.name=sgd goes row after row through tables: architecture=ntuple only")
    if not runs_compiled(examples.targets):
        raise SettingError(SGD_ON_CPU)
    if settings.optimizer.weight_decay > 0:
        decay = settings.optimizer.weight_decay
        raise SettingError(f"training.optimizer.weight_decay={decay}: name=sgd has none; give 0, or name=adam")
    return RowDescent(network, examples, observation_shape, schedule)


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


class AdamDescent:
    """Batches by Adam, on any network."""

    def __init__(
        self,
        network: nn.Module,
        examples: Examples,
        observation_shape: tuple[int, ...],
        settings: TrainingSettings,
        schedule: Schedule,
    ) -> None:
        self._network, self._schedule, self._steps = network, schedule, 0
        observations = examples.observations.reshape(-1, *observation_shape)
        self._examples = examples._replace(observations=observations)
        self._autocast = autocast(settings.precision, examples.targets.device)
        optimizer = settings.optimizer
        self._adam = Adam(network.parameters(), optimizer.weight_decay, optimizer.decoupled_weight_decay)
        self.weights = self._adam.weights

    def run_epoch(self, batches: Iterator[Tensor]) -> float:
        total = torch.zeros((), device=self.weights.device)
        for batch in islice(batches, self._schedule.steps_per_epoch):
            total += self._step(batch)
        return float(total) / self._schedule.steps_per_epoch

    def _step(self, batch: Tensor) -> Tensor:
        observations, targets, weights = self._examples
        self._adam.zero_grad()
        with self._autocast:
            values = self._network(observations[batch].float()).reshape(-1).float()
        loss: Tensor = (weights[batch] * (values - targets[batch]).square()).mean()
        loss.backward()  # type: ignore[no-untyped-call]
        self._adam.step(self._schedule.rate(self._steps))
        self._steps += 1
        return loss.detach()


def autocast(precision: str, device: torch.device) -> AbstractContextManager[object]:
    """Within it networks compute with that precision where torch holds it safe."""
    return nullcontext() if precision == "float32" else torch.autocast(device.type, torch.bfloat16)


class RowDescent:
    """Stochastic gradient descent row after row, on tables; a batch only is the rows that share a learning rate."""

    def __init__(
        self, network: NTuple, examples: Examples, observation_shape: tuple[int, ...], schedule: Schedule
    ) -> None:
        from selfplay.games.feature_kernels import board_words

        self._network, self._schedule, self._steps = network, schedule, 0
        self._words = board_words(examples.observations.reshape(-1, *observation_shape))
        self._targets, self._row_weights = examples.targets.numpy(), examples.weights.numpy()
        self.weights = network.weight.data

    def run_epoch(self, batches: Iterator[Tensor]) -> float:
        chosen = list(islice(batches, self._schedule.steps_per_epoch))
        rates = [self._schedule.rate(self._steps + step) for step in range(len(chosen))]
        self._steps += len(chosen)
        rate_of_row = np.repeat(rates, [len(batch) for batch in chosen])
        return self._network.descend(
            *self._words, self._targets, self._row_weights, torch.cat(chosen).numpy(), rate_of_row
        )
