"""Fitting a network to the targets of a dataset."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from selfplay.architectures import build_network, option_defaults
from selfplay.checks import check_parameters
from selfplay.compute.devices import CPU, PORTABLE, cuda_devices_in_use
from selfplay.compute.portable import PortableArithmetic, arithmetic_of, set_numerics
from selfplay.compute.random_numbers import Activity, Purpose, stream_key, torch_seed
from selfplay.errors import StageError
from selfplay.games.game import Game
from selfplay.players.checkpoints import load_checkpoint
from selfplay.training.learning_rate import LearningRate
from selfplay.training.losses import Losses, validation_losses
from selfplay.training.parameters import EQUAL_WEIGHTS, OPTIMIZERS, LossWeights, Training
from selfplay.training.process_group import SINGLE_PROCESS, ProcessGroup
from selfplay.training.rows_in_memory import TrainingRows
from selfplay.training.trainer import Trainer, TrainingJob, TrainsPolicies, require_policy_training

LOSS_DECIMALS = 6
"""Decimal places of all losses. A loss is a mean of float32 numbers, which have about seven digits."""


class EpochLoss(NamedTuple):
    """The losses of an epoch."""

    epoch: int
    """From 1."""
    training_loss: float
    """Mean over the batches of the epoch of the weighted squared error that was minimised."""
    validation_loss: float
    """Mean squared error over the held-out rows; repeated rows count each time."""
    is_champion: bool
    """Whether the validation loss is lower than in all earlier epochs. The weights of the last such epoch are kept."""
    parts: "LossParts | None" = None
    """The parts of the two losses; None where only the value is trained."""


class LossParts(NamedTuple):
    """The parts of the losses of an epoch where a policy is trained.

    training_loss and validation_loss are then the sums of their two parts, with the `LossWeights`.
    """

    training_value_loss: float
    """Mean squared error of the value, weighted as in training_loss."""
    training_policy_loss: float
    """Cross-entropy of the policy, weighted as in training_loss."""
    validation_value_loss: float
    """Mean squared error of the value over the held-out rows."""
    validation_policy_loss: float
    """Mean cross-entropy of the policy over the held-out rows."""
    decay_loss: float
    """weight_decay / 2 times the sum of the squares of all weights, at the end of the epoch."""


def initial_network(
    game: Game,
    architecture: Mapping[str, Any],
    *,
    seed: int = 0,
    level: int = 1,
    numerics: str = PORTABLE,
    start: Path | None = None,
) -> nn.Module:
    """The network with the weights that the training of a level starts from.

    Args:
        architecture: its name and its options.
        numerics: PORTABLE or NATIVE, see `selfplay.compute.portable`.
        start: the agent.safetensors whose weights it gets; None: fresh ones.

    Raises StageError if the agent has another architecture, InvalidFileError if its file is broken.
    """
    key = stream_key(seed, level, Activity.TRAINING)
    arithmetic = PortableArithmetic() if numerics == PORTABLE else nullcontext()
    with seeded(torch_seed(key, Purpose.INITIAL_WEIGHTS)), arithmetic:
        network = build_network(architecture, game.observation_shape, game.num_distinct_actions)
    set_numerics(network, numerics)
    if start is not None:
        earlier = load_checkpoint(start, game)
        if _with_defaults(earlier.metadata["architecture"]) != _with_defaults(architecture):
            raise StageError(f"{start} has the architecture {earlier.metadata['architecture']}, not {architecture}")
        network.load_state_dict(earlier.network.state_dict())
    return network


def _with_defaults(architecture: Mapping[str, Any]) -> dict[str, Any]:
    """An architecture with all its options, including those that an older version of the program did not have."""
    return {**option_defaults(architecture["name"]), **architecture}


def fit(
    network: nn.Module,
    rows: TrainingRows,
    training: Training,
    *,
    seed: int = 0,
    level: int = 1,
    loss: LossWeights = EQUAL_WEIGHTS,
    device: str = CPU,
    processes: ProcessGroup = SINGLE_PROCESS,
    on_epoch: Callable[[EpochLoss], None] = lambda _: None,
) -> list[EpochLoss]:
    """Train `network` in place and give it the weights of the epoch with the lowest validation loss.

    Afterwards the network is on the CPU, in evaluation mode.

    Args:
        seed: the same seed gives the same weights, bit by bit, with the same number of processes: a portable network on
            every processor, others with the same number of threads on the same kind of processor or GPU.
        level: the level to train, from 1; the learning rate may decay from level to level.
        loss: the weights of the parts of the loss if the rows have policies.
        device: the device on which the network is trained, cpu or cuda.
        processes: the processes that train together.
        on_epoch: called after each epoch.

    Raises:
        StageError: there are too few matches to hold some out, or a loss is not a number.
        SettingError: a parameter is out of range, or the optimiser does not support the network, the device or the
            parameters.
        InvalidFileError: a value of rows on disk is out of range.

    Examples:
        >>> record = next(play_matches(game, (player, player), range(1000), key=0))
        >>> rows = RowsInMemory(game, [discounted_rows(game, record, gamma=0.9)])
        >>> losses = fit(network, rows, Training(epochs=1, learning_rate=0.01), seed=1)
    """
    check_parameters(training, "training.")
    check_parameters(loss, "loss.")
    key, shape = stream_key(seed, level, Activity.TRAINING), rows.game.observation_shape
    network.to(device)
    split = rows.split(training, key, processes)
    if split.has_policies:
        require_policy_training(training.optimizer)
    kind: type[Trainer] = OPTIMIZERS[training.optimizer]
    rates = LearningRate(training, split.num_examples, level)
    trainer = kind(TrainingJob(network, shape, training, rates, processes, loss))
    batches = split.batches(trainer)
    losses: list[EpochLoss] = []
    best_weights = trainer.weights.clone()
    # The dropout masks of the processes must differ.
    with seeded(torch_seed(key, Purpose.DROPOUT, processes.rank)):
        for _ in range(training.epochs):
            network.train()
            training_loss = trainer.run_epoch(batches)
            validation = validation_losses(network, split.held_out(), shape, processes, device)
            epoch_loss = _next_loss(losses, training_loss, validation.total(loss))
            with arithmetic_of(network):
                parts = _parts(trainer, validation, training.weight_decay)
            losses.append(epoch_loss._replace(parts=parts))
            if losses[-1].is_champion:
                best_weights.copy_(trainer.weights)
            on_epoch(losses[-1])
    trainer.weights.copy_(best_weights)
    network.to(CPU).eval()
    return losses


def _next_loss(earlier: Sequence[EpochLoss], training: float, validation: float) -> EpochLoss:
    epoch = len(earlier) + 1
    if not isfinite(validation):
        raise StageError(f"the loss is not a number in epoch {epoch}; set a lower learner.learning_rate")
    training, validation = round(training, LOSS_DECIMALS), round(validation, LOSS_DECIMALS)
    return EpochLoss(epoch, training, validation, all(validation < loss.validation_loss for loss in earlier))


def _parts(trainer: Trainer, validation: Losses, weight_decay: float) -> LossParts | None:
    if validation.policy is None or not isinstance(trainer, TrainsPolicies):
        return None
    training = trainer.epoch_losses()
    decay = weight_decay / 2 * float(trainer.weights.double().square().sum())
    parts = training.value, training.policy or 0.0, validation.value, validation.policy, decay
    return LossParts(*(round(part, LOSS_DECIMALS) for part in parts))


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed torch's global generator with `seed`, and restore its state afterwards."""
    with torch.random.fork_rng(devices=cuda_devices_in_use()):
        torch.manual_seed(seed)
        yield
