"""Fitting a network to the expected returns of a dataset's afterstates."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from selfplay.compute.devices import CPU, cuda_devices_in_use
from selfplay.compute.random_numbers import Purpose, single_word
from selfplay.dataset.rows import Rows
from selfplay.errors import StageError
from selfplay.games.game import Game
from selfplay.settings.training import TrainingSettings
from selfplay.training.held_out import HeldOut
from selfplay.training.optimizer import make_optimizer
from selfplay.training.process_group import SINGLE_PROCESS, ProcessGroup
from selfplay.training.rows_in_memory import RowsInMemory, TrainingRows

VALIDATION_BLOCK = 65536
"""Rows in one forward pass."""


class EpochLoss(NamedTuple):
    """One row of epoch_loss.csv."""

    epoch: int
    """From 1."""
    training_loss: float
    """Mean over the epoch's batches of the weighted squared error that was minimised."""
    validation_loss: float
    """Mean squared error over the held-out rows, each counted as often as it stands in the dataset."""
    is_champion: bool
    """Whether no epoch before had a lower validation loss; the last champion's weights are kept."""


def validation_loss(
    network: nn.Module,
    held_out: Iterable[HeldOut],
    observation_shape: tuple[int, ...],
    processes: ProcessGroup = SINGLE_PROCESS,
    device: str = CPU,
) -> float:
    """The mean squared error over the held-out rows of all processes. Each distinct row of a part is evaluated once."""
    network.eval()
    sums = torch.zeros(2, dtype=torch.float64)
    with torch.inference_mode():
        for part in held_out:
            distinct, inverse, targets = (column.to(device) for column in part)
            parts = torch.split(distinct, VALIDATION_BLOCK)
            values = torch.cat([network(part.float().reshape(-1, *observation_shape)).reshape(-1) for part in parts])
            errors = (values[inverse] - targets).double().square()
            sums += torch.tensor([float(errors.sum()), len(errors)], dtype=torch.float64)
    total, count = processes.all_reduce(sums).tolist()
    return float(total / count)


def train(
    network: nn.Module,
    rows: Rows,
    settings: TrainingSettings,
    game: Game,
    key: int,
    on_epoch: Callable[[EpochLoss], None] = lambda _: None,
    *,
    level: int = 1,
    device: str = CPU,
) -> list[EpochLoss]:
    """`train_on` rows that are in memory."""
    in_memory = RowsInMemory([rows], settings, game, key)
    shape = game.observation_shape
    return train_on(network, in_memory, settings, shape, key, on_epoch, level=level, device=device)


def train_on(
    network: nn.Module,
    rows: TrainingRows,
    settings: TrainingSettings,
    observation_shape: tuple[int, ...],
    key: int,
    on_epoch: Callable[[EpochLoss], None] = lambda _: None,
    *,
    level: int = 1,
    processes: ProcessGroup = SINGLE_PROCESS,
    device: str = CPU,
) -> list[EpochLoss]:
    """Train `network` in place; afterwards it holds the weights of the epoch with the lowest validation loss.

    It is back on the CPU then, wherever it was trained.

    Args:
        key: the stream of random numbers of this level's training; the same key gives the same weights, bit by bit,
            with the same number of threads and processes on the same kind of processor or GPU.
        on_epoch: called after each epoch.
        level: the level that it becomes, from 1: the learning rate may fall from level to level.
        processes: those that train it together.
        device: cpu or cuda, where it is trained.

    Raises:
        StageError: too few matches to hold some out, or a loss that is no longer a number.
        SettingError: the network cannot be trained by this optimizer.
    """
    network.to(device)
    optimizer = make_optimizer(network, rows.num_examples, observation_shape, settings, level, processes)
    batches = rows.batches(optimizer)
    losses: list[EpochLoss] = []
    champion = optimizer.weights.clone()
    # Each process draws other masks for its rows.
    with seeded(single_word(key, Purpose.DROPOUT, processes.rank)):
        for epoch in range(1, settings.epochs + 1):
            network.train()
            training = optimizer.run_epoch(batches)
            validation = validation_loss(network, rows.held_out(), observation_shape, processes, device)
            if not np.isfinite(validation):
                raise StageError(f"the loss is no longer a number in epoch {epoch}; lower the learning rate")
            is_champion = all(validation < earlier.validation_loss for earlier in losses)
            if is_champion:
                champion.copy_(optimizer.weights)
            losses.append(EpochLoss(epoch, training, validation, is_champion))
            on_epoch(losses[-1])
    optimizer.weights.copy_(champion)
    network.to(CPU).eval()
    return losses


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """torch's global generator seeded with `seed`, and as it was before afterwards."""
    with torch.random.fork_rng(devices=cuda_devices_in_use()):
        torch.manual_seed(seed)
        yield
