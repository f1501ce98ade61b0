"""Training examples, made from the rows of a dataset: equal ones merged, and multiplied by the game's symmetries."""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.bit_permutation import PackedPermutation
from selfplay.games.rules import Symmetries
from selfplay.settings.training import TrainingSettings


class PackedExamples(NamedTuple):
    """N training examples with packed observations."""

    packed: NDArray[np.uint8]
    """uint8[N, ceil(D / 8)]: the observations, one bit for each entry (`np.packbits`)."""
    targets: NDArray[np.float32]
    """float32[N]"""
    weights: NDArray[np.float32]
    """float32[N], with mean 1."""


class Examples(NamedTuple):
    """N training examples in the form that an optimiser expects."""

    inputs: Tensor
    """N inputs, made by `Optimizer.inputs` from the observations."""
    targets: Tensor
    """float32[N]"""
    weights: Tensor
    """float32[N], with mean 1."""

    def select(self, rows: Tensor | slice) -> "Examples":
        """The examples with these numbers."""
        return Examples(self.inputs[rows], self.targets[rows], self.weights[rows])

    def to(self, device: torch.device) -> "Examples":
        """The same examples on the given device."""
        return Examples(*(column.to(device) for column in self))


class Batch(NamedTuple):
    """The share of a batch of one of the processes that train together."""

    share: Examples
    """The examples of this process; possibly none."""
    size: int
    """Number of examples in the whole batch."""


def distinct_rows(packed: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct rows of uint8[N, W], sorted.

    Returns:
        first_rows: int64[M], the index of the first_rows occurrence of each distinct row.
        inverse: int64[N], the number in range(M) of the distinct row that equals each row.
    """
    padded = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    words = padded.view(np.uint64)
    keys = words[:, 0] if words.shape[1] == 1 else words.view([("", np.uint64)] * words.shape[1])[:, 0]
    _, first_rows, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return first_rows, inverse.reshape(-1)


def training_examples(
    packed: NDArray[np.uint8], targets: NDArray[np.float32], settings: TrainingSettings, symmetries: Symmetries
) -> PackedExamples:
    """The examples made from N rows: merged where equal and multiplied by the symmetries, according to the settings.

    Merged examples have the mean target of their rows and the weight count ** weight_power, scaled to mean 1.

    Args:
        packed: uint8[N, ceil(D / 8)], the packed observations of the rows.
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
    return PackedExamples(packed, means.astype(np.float32), (weights / weights.mean()).astype(np.float32))


def _merge(
    packed: NDArray[np.uint8], counts: NDArray[np.float64], targets: NDArray[np.float64]
) -> tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.float64]]:
    first_rows, inverse = distinct_rows(packed)
    total = np.bincount(inverse, weights=counts).astype(np.float64)
    return packed[first_rows], total, np.bincount(inverse, weights=counts * targets) / total


def _all_images(packed: NDArray[np.uint8], images: NDArray[np.int64]) -> NDArray[np.uint8]:
    """All images of the first row, then all of the second, and so on; `images` is int64[S, D]."""
    together = np.empty((len(packed), len(images), packed.shape[1]), dtype=np.uint8)
    for number, image in enumerate(images):
        together[:, number] = PackedPermutation(image)(packed)
    return together.reshape(-1, packed.shape[1])
