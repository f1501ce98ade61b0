"""Training examples, made of a dataset's rows: merged where equal, and multiplied by the symmetries of the game."""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.games.rules import Symmetries
from selfplay.settings.training import TrainingSettings


class Examples(NamedTuple):
    """N training examples."""

    inputs: Tensor
    """What a way down takes of the observations (see `Optimizer.inputs`); before that, packed observations."""
    targets: Tensor
    """float32[N]"""
    weights: Tensor
    """float32[N], with mean 1."""

    def select(self, rows: Tensor | slice) -> "Examples":
        """The examples of these rows."""
        return Examples(self.inputs[rows], self.targets[rows], self.weights[rows])

    def to(self, device: torch.device) -> "Examples":
        """The same examples on that device."""
        return Examples(*(column.to(device) for column in self))


class Batch(NamedTuple):
    """A batch, as one of the processes that train together sees it."""

    share: Examples
    """Those that this process takes; there may be none."""
    size: int
    """Examples in the whole batch."""


UNPACKED = 65536
"""Rows whose observations are unpacked at a time."""


def distinct_rows(observations: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The distinct rows of uint8[N, D] with entries 0 and 1, and int64[N], the number of each row's own."""
    first, inverse = _distinct(np.packbits(observations, axis=1))
    return observations[first], inverse


def _distinct(packed: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of packed rows: where each distinct one stands first, and int64[N], the number of each row's own."""
    padded = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    words = padded.view(np.uint64)
    keys = words[:, 0] if words.shape[1] == 1 else words.view([("", np.uint64)] * words.shape[1])[:, 0]
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return first, inverse.reshape(-1)


def unpacked(packed: NDArray[np.uint8], observation_size: int) -> NDArray[np.uint8]:
    """uint8[N, D] with entries 0 and 1, of uint8[N, ceil(D / 8)], which has a bit for each."""
    return np.unpackbits(packed, axis=1, count=observation_size)


def training_examples(
    packed: NDArray[np.uint8], targets: NDArray[np.float32], settings: TrainingSettings, symmetries: Symmetries
) -> Examples:
    """The examples made of N rows: merged where equal and multiplied by the symmetries, as the settings say.

    Merged examples have the mean target of their rows and the weight count ** weight_power, scaled to mean 1.

    Args:
        packed: uint8[N, ceil(D / 8)], their observations with a bit for each entry. Those of the examples are so too.
        targets: float32[N]
    """
    means, counts = targets.astype(np.float64), np.ones(len(targets))
    if settings.merge:
        packed, counts, means = _merge(packed, counts, means)
    if settings.symmetries:
        images = symmetries.observations
        packed = _all_images(packed, images)
        counts, means = np.repeat(counts, len(images)), np.repeat(means, len(images))
        if settings.merge:
            packed, counts, means = _merge(packed, counts, means)
    weights = counts**settings.weight_power
    numbers = (torch.from_numpy(a.astype(np.float32)) for a in (means, weights / weights.mean()))
    return Examples(torch.from_numpy(packed), *numbers)


def _merge(
    packed: NDArray[np.uint8], counts: NDArray[np.float64], targets: NDArray[np.float64]
) -> tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.float64]]:
    first, inverse = _distinct(packed)
    total = np.bincount(inverse, weights=counts).astype(np.float64)
    return packed[first], total, np.bincount(inverse, weights=counts * targets) / total


def _all_images(packed: NDArray[np.uint8], images: NDArray[np.int64]) -> NDArray[np.uint8]:
    """All images of the first row, then all of the second, and so on; `images` is int64[S, D]."""
    size = images.shape[1]
    parts = (unpacked(packed[start : start + UNPACKED], size) for start in range(0, len(packed), UNPACKED))
    return np.concatenate([np.packbits(part[:, images].reshape(-1, size), axis=1) for part in parts])
