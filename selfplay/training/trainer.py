"""The interface of a trainer, which changes the weights of a network."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from selfplay.errors import SettingError
from selfplay.training.examples import Batch
from selfplay.training.learning_rate import LearningRate
from selfplay.training.losses import Losses
from selfplay.training.parameters import OPTIMIZERS, LossWeights, Training
from selfplay.training.process_group import ProcessGroup


@dataclass(frozen=True)
class TrainingJob:
    """The input of a trainer: a network, and how to train it."""

    network: nn.Module
    observation_shape: tuple[int, ...]
    training: Training
    learning_rate: LearningRate
    processes: ProcessGroup
    loss: LossWeights
    """The weights of the parts of the loss, where batches have policies."""


class Trainer(Protocol):
    """Changes the weights of a network, one epoch at a time.

    The constructor raises SettingError if the network or the parameters do not suit the trainer.
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
        raise SettingError(f"optimizer={name} does not train policies; set optimizer=adam")
