"""Fitting a network to the expected returns of a dataset's afterstates."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from selfplay.descent import Examples, make_descent
from selfplay.devices import CPU, cuda_devices_in_use
from selfplay.errors import StageError
from selfplay.expectations import Rows
from selfplay.games.game import Symmetries
from selfplay.randomness import Draws, Purpose, single_word
from selfplay.settings import TrainingSettings

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


class HeldOut(NamedTuple):
    """The rows that only measure: M distinct observations and which of them each of N rows shows."""

    observations: Tensor
    """uint8[M, D]: 0 or 1"""
    inverse: Tensor
    """int64[N]"""
    targets: Tensor
    """float32[N]"""


def held_out_rows(rows: Rows, fraction: float, key: int) -> NDArray[np.bool_]:
    """bool[N]: the rows of the matches that are held out; a share `fraction` of the matches, drawn by their numbers.

    Raises StageError if that leaves no row to train or to measure on.
    """
    draws = Draws(key, torch.from_numpy(rows.match), 0)
    held_out: NDArray[np.bool_] = (draws.uniforms(Purpose.VALIDATION_SPLIT) < fraction).numpy()
    if held_out.all() or not held_out.any():
        raise StageError(f"{len(np.unique(rows.match))} matches are too few to hold out some of them; set more matches")
    return held_out


def distinct_rows(observations: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The distinct rows of uint8[N, D] with entries 0 and 1, and int64[N], the number of each row's own."""
    packed = np.packbits(observations, axis=1)
    words = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    words[:, : packed.shape[1]] = packed
    keys = words.view(np.uint64)
    keys = keys[:, 0] if keys.shape[1] == 1 else keys.view([("", np.uint64)] * keys.shape[1])[:, 0]
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return observations[first], inverse.reshape(-1)


def training_examples(rows: Rows, settings: TrainingSettings, symmetries: Symmetries) -> Examples:
    """The examples made of `rows`: merged where equal and multiplied by the symmetries, as the settings say.

    Merged examples have the mean target of their rows and the weight count ** weight_power, scaled to mean 1.
    """
    observations, targets = rows.observations, rows.targets.astype(np.float64)
    counts = np.ones(len(targets))
    if settings.merge:
        observations, counts, targets = _merge(observations, counts, targets)
    if settings.symmetries:
        images = symmetries.observations
        observations = observations[:, images].reshape(-1, observations.shape[1])
        counts, targets = np.repeat(counts, len(images)), np.repeat(targets, len(images))
        if settings.merge:
            observations, counts, targets = _merge(observations, counts, targets)
    weights = counts**settings.weight_power
    numbers = (torch.from_numpy(a.astype(np.float32)) for a in (targets, weights / weights.mean()))
    return Examples(torch.from_numpy(np.ascontiguousarray(observations)), *numbers)


def _merge(
    observations: NDArray[np.uint8], counts: NDArray[np.float64], targets: NDArray[np.float64]
) -> tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.float64]]:
    distinct, inverse = distinct_rows(observations)
    total = np.bincount(inverse, weights=counts).astype(np.float64)
    return distinct, total, np.bincount(inverse, weights=counts * targets) / total


def validation_loss(network: nn.Module, held_out: HeldOut, observation_shape: tuple[int, ...]) -> float:
    """The mean squared error over all held-out rows; the network sees each distinct observation once."""
    network.eval()
    with torch.inference_mode():
        parts = torch.split(held_out.observations, VALIDATION_BLOCK)
        values = torch.cat([network(part.float().reshape(-1, *observation_shape)).reshape(-1) for part in parts])
        return float((values[held_out.inverse] - held_out.targets).double().square().mean())


def train(
    network: nn.Module,
    rows: Rows,
    settings: TrainingSettings,
    symmetries: Symmetries,
    observation_shape: tuple[int, ...],
    key: int,
    on_epoch: Callable[[EpochLoss], None] = lambda _: None,
    *,
    level: int = 1,
    device: str = CPU,
) -> list[EpochLoss]:
    """Train `network` in place; afterwards it holds the weights of the epoch with the lowest validation loss.

    It is back on the CPU then, wherever it was trained.

    Args:
        key: the stream of random numbers of this level's training; the same key gives the same weights, bit by bit,
            with the same number of threads on the same kind of processor or GPU.
        on_epoch: called after each epoch.
        level: the level that it becomes, from 1: the learning rate may fall from level to level.
        device: cpu or cuda, where it is trained.

    Raises:
        StageError: too few matches to hold some out, or a loss that is no longer a number.
        SettingError: the network cannot be trained by this optimizer.
    """
    held = held_out_rows(rows, settings.validation_fraction, key)
    distinct, inverse = distinct_rows(rows.observations[held])
    held_out = HeldOut(*(torch.from_numpy(a).to(device) for a in (distinct, inverse, rows.targets[held])))
    examples = training_examples(rows.select(~held), settings, symmetries)
    examples = Examples(*(field.to(device) for field in examples))
    batches = _batches(len(examples.targets), settings, key, device)
    network.to(device)
    descent = make_descent(network, examples, observation_shape, settings, level)
    losses: list[EpochLoss] = []
    champion = descent.weights.clone()
    with seeded(single_word(key, Purpose.DROPOUT)):
        for epoch in range(1, settings.epochs + 1):
            network.train()
            training = descent.run_epoch(batches)
            validation = validation_loss(network, held_out, observation_shape)
            if not np.isfinite(validation):
                raise StageError(f"the loss is no longer a number in epoch {epoch}; lower the learning rate")
            is_champion = all(validation < earlier.validation_loss for earlier in losses)
            if is_champion:
                champion.copy_(descent.weights)
            losses.append(EpochLoss(epoch, training, validation, is_champion))
            on_epoch(losses[-1])
    descent.weights.copy_(champion)
    network.to(CPU).eval()
    return losses


def _batches(size: int, settings: TrainingSettings, key: int, device: str) -> Iterator[Tensor]:
    """Rows of batches without end: pass after pass, each in an order of its own, the last batch of a pass shorter.

    The order is drawn on the CPU, so that it is the same on every device.
    """
    generator = torch.Generator().manual_seed(single_word(key, Purpose.BATCH_ORDER))
    while True:
        yield from torch.split(torch.randperm(size, generator=generator).to(device), settings.batch_size)


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """torch's global generator seeded with `seed`, and as it was before afterwards."""
    with torch.random.fork_rng(devices=cuda_devices_in_use()):
        torch.manual_seed(seed)
        yield
