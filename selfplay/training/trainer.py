"""The interface of a trainer, which changes the weights of a network, and the learning rate of each of its steps.

Schedules are functions of (peak, step, total_steps), with `step` in range(total_steps). Those of
torch.optim.lr_scheduler need an optimiser of torch.optim, whose import takes longer than training a small network
(docs/design_notes.md); a test compares the two.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from selfplay.compute.devices import CPU
from selfplay.errors import SettingError
from selfplay.settings.choices import OPTIMIZERS, SCHEDULES
from selfplay.settings.sections import LossSettings, TrainingSettings
from selfplay.training.examples import Batch
from selfplay.training.loss import Losses
from selfplay.training.process_group import SINGLE_PROCESS, ProcessGroup


class LearningRate:
    """The learning rate of each step of the training of a level.

    Args:
        rows: number of training examples in a pass.
        level: from 1; the learning rate may decay from level to level.
    """

    def __init__(self, settings: TrainingSettings, rows: int, level: int) -> None:
        self.steps_per_epoch = settings.steps_per_epoch or -(-rows // settings.batch_size)
        self._total_steps = settings.epochs * self.steps_per_epoch
        self._schedule = SCHEDULES[settings.optimizer.schedule]
        self._peak = settings.optimizer.learning_rate * settings.optimizer.level_decay ** (level - 1)

    def at(self, step: int) -> float:
        """The learning rate of step `step`, counted from 0 over all epochs."""
        return float(self._schedule(self._peak, step, self._total_steps))


@dataclass(frozen=True)
class TrainingJob:
    """What a trainer is given: a network to train, and how."""

    network: nn.Module
    observation_shape: tuple[int, ...]
    settings: TrainingSettings
    learning_rate: LearningRate
    processes: ProcessGroup
    loss: LossSettings
    """The weights of the parts of the loss, where batches have policies."""


class Trainer(Protocol):
    """Changes the weights of a network, one epoch at a time.

    The constructor raises SettingError if the network or the settings do not suit the trainer.
    """

    runs_on_cpu_only: ClassVar[bool]
    one_process_only: ClassVar[bool]
    """Whether its work cannot be shared by the processes of torchrun."""

    weights: Tensor
    """All current weights of the network; writing into the tensor changes the network."""

    def __init__(self, job: TrainingJob) -> None: ...

    def inputs(self, packed: NDArray[np.uint8]) -> Tensor:
        """N inputs of batches, made from packed observations (uint8[N, ceil(D / 8)], see `ObservationCodec.pack`)."""

    def run_epoch(self, batches: Iterator[Batch]) -> float:
        """Take the steps of one epoch, each on the next of the batches.

        Returns:
            The mean over the batches of the weighted squared error, each before its step.
        """


@runtime_checkable
class TrainsPolicies(Protocol):
    """A trainer that also trains the policy, if batches have policies."""

    def epoch_losses(self) -> Losses:
        """The parts of what the last `run_epoch` returned."""


def require_policy_training(name: str) -> None:
    """Raise SettingError unless the trainer with this name trains policies."""
    if not issubclass(OPTIMIZERS[name], TrainsPolicies):
        raise SettingError(f"training.optimizer.name={name} does not train policies; set training.optimizer.name=adam")


def make_trainer(
    network: nn.Module,
    rows: int,
    observation_shape: tuple[int, ...],
    settings: TrainingSettings,
    level: int,
    processes: ProcessGroup = SINGLE_PROCESS,
    loss: LossSettings | None = None,
) -> Trainer:
    """The trainer that `settings.optimizer` names, for passes over this number of rows.

    Raises SettingError if it does not support the network, its device or the settings.
    """
    name = settings.optimizer.name
    kind: type[Trainer] = OPTIMIZERS[name]
    if kind.runs_on_cpu_only and any(parameter.device.type != CPU for parameter in network.parameters()):
        raise SettingError(f"training.optimizer.name={name} runs on the CPU only; set device=cpu or auto")
    learning_rate = LearningRate(settings, rows, level)
    return kind(TrainingJob(network, observation_shape, settings, learning_rate, processes, loss or LossSettings()))


WARM_UP_FRACTION = 0.3
INITIAL_DIVISOR = 25.0
FINAL_DIVISOR = 1e4


def constant(peak: float, step: int, total_steps: int) -> float:
    """`peak` at every step."""
    return peak


def one_cycle(peak: float, step: int, total_steps: int) -> float:
    """Rise from peak / 25 to `peak` in the first 30 % of the steps, then fall to peak / 250,000, each along half a
    cosine (Smith & Topin, "Super-convergence", 2018; torch.optim.lr_scheduler.OneCycleLR).
    """
    initial = peak / INITIAL_DIVISOR
    rising = WARM_UP_FRACTION * total_steps - 1
    if step <= rising:
        start, end, fraction = initial, peak, step / rising if rising > 0 else 1.0
    else:
        falling = total_steps - 1 - rising
        start, end, fraction = peak, initial / FINAL_DIVISOR, (step - rising) / falling
    return end + (start - end) / 2 * (1 + math.cos(math.pi * fraction))
