"""The loss, the interface of a trainer, which changes the weights of a network, and the learning rate of each step.

`selfplay.training.row_by_row.descend_row_by_row` computes the training loss, with its gradient, in compiled code.

Schedules are functions of (peak, step, total_steps), with `step` in range(total_steps). The schedules of torch are not
used, because they need an optimiser of torch.optim, whose import takes longer than training a small network
(docs/design_notes.md). A test compares ours with those of torch.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from selfplay.compute.elementary import cosine, power
from selfplay.compute.portable import arithmetic_of
from selfplay.errors import SettingError
from selfplay.settings.choices import OPTIMIZERS, SCHEDULES
from selfplay.settings.sections import LossSettings, TrainingSettings
from selfplay.training.examples import ILLEGAL, Batch, HeldOut
from selfplay.training.process_group import ProcessGroup

VALIDATION_BLOCK = 65536
"""Rows in one forward pass."""


def weighted_squared_errors(values: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
    """float32[N]: weight * (value - target)**2 of each example, whose mean over a batch training minimises.

    `values`, `targets`, `weights`: float32[N].
    """
    return weights * (values - targets).square()


def cross_entropies(logits: Tensor, policies: Tensor) -> Tensor:
    """float32[N]: -sum of policy * log softmax(logits) over the legal actions of each example.

    Args:
        logits: float32[N, A]
        policies: float32[N, A], ILLEGAL where an action is illegal.
    """
    is_legal = policies > ILLEGAL
    logarithms = torch.log_softmax(logits.masked_fill(~is_legal, -torch.inf), dim=1)
    return -(policies * logarithms).masked_fill(~is_legal, 0.0).sum(dim=1)


class Losses(NamedTuple):
    """The two parts of a loss."""

    value: float
    """Mean squared error of the value."""
    policy: float | None = None
    """Mean cross-entropy of the policy; None without policies."""

    def total(self, weights: LossSettings) -> float:
        """The loss with these weights; without policies the squared error."""
        return self.value if self.policy is None else weights.value * self.value + weights.policy * self.policy


def validation_losses(
    network: nn.Module,
    held_out: Iterable[HeldOut],
    observation_shape: tuple[int, ...],
    processes: ProcessGroup,
    device: str,
) -> Losses:
    """The mean losses over the held-out rows of all processes.

    Args:
        held_out: the rows of this process, in parts; the network evaluates the distinct observations of each part.
    """
    network.eval()
    sums, has_policies = torch.zeros(3, dtype=torch.float64), False
    with arithmetic_of(network), torch.inference_mode():
        for part in held_out:
            blocks = torch.split(part.observations.to(device), VALIDATION_BLOCK)
            outputs = [network(block.float().reshape(-1, *observation_shape)) for block in blocks]
            values = torch.cat([output.value for output in outputs])
            errors = (values[part.inverse.to(device)] - part.targets.to(device)).double().square()
            policy_loss = 0.0
            if part.policies is not None:
                logits = torch.cat([output.policy_logits for output in outputs])
                policy_loss = float(cross_entropies(logits, part.policies.to(device)).double().sum())
                has_policies = True
            sums += torch.tensor([float(errors.sum()), len(errors), policy_loss], dtype=torch.float64)
    total, count, policy_total = processes.all_reduce(sums).tolist()
    return Losses(float(total / count), float(policy_total / count) if has_policies else None)


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
        self._peak = settings.optimizer.learning_rate * power(settings.optimizer.level_decay, level - 1)

    def at(self, step: int) -> float:
        """The learning rate of step `step`, counted from 0 over all epochs."""
        return float(self._schedule(self._peak, step, self._total_steps))


@dataclass(frozen=True)
class TrainingJob:
    """The input of a trainer: a network, and how to train it."""

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
        """The parts of the loss that the last `run_epoch` returned."""


def require_policy_training(name: str) -> None:
    """Raise SettingError unless the trainer with this name trains policies."""
    if not issubclass(OPTIMIZERS[name], TrainsPolicies):
        raise SettingError(f"training.optimizer.name={name} does not train policies; set training.optimizer.name=adam")


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
    return end + (start - end) / 2 * (1 + cosine(math.pi * fraction))
