"""Training examples, made from the rows of a dataset: equal ones merged, and multiplied by the game's symmetries."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.elementary import exponential, logarithm
from selfplay.compute.positions import Packed
from selfplay.games.game import Game
from selfplay.games.observation_codec import PackedPermutation
from selfplay.training.parameters import Training

ILLEGAL = -1.0
"""Marks illegal actions in the policies that networks are trained on."""


Columns = tuple[NDArray[np.uint8], NDArray[np.float32], NDArray[np.float32] | None]
"""Of N rows: uint8[N, ceil(B / 8)], the packed observations; float32[N], the targets; and float32[N, A], the policies,
ILLEGAL where an action is illegal, or None."""


class Examples(NamedTuple):
    """N training examples."""

    packed: Tensor
    """uint8[N, ceil(B / 8)]: the observations, as `ObservationCodec` packs them."""
    targets: Tensor
    """float32[N]"""
    weights: Tensor
    """float32[N], with mean 1."""
    policies: Tensor | None = None
    """float32[N, A]: the probability of each action, ILLEGAL where it is illegal; None without policies."""

    def select(self, rows: Tensor | slice) -> "Examples":
        """The examples with these numbers."""
        policies = None if self.policies is None else self.policies[rows]
        return Examples(self.packed[rows], self.targets[rows], self.weights[rows], policies)

    def to(self, device: torch.device) -> "Examples":
        """The same examples on the given device."""
        policies = None if self.policies is None else self.policies.to(device)
        return Examples(self.packed.to(device), self.targets.to(device), self.weights.to(device), policies)


class Batch(NamedTuple):
    """The share of a batch of one of the processes that train together."""

    share: Examples
    """The examples of this process; possibly none."""
    size: int
    """Number of examples in the whole batch."""


def distinct_rows(packed: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct rows of uint8[N, W], sorted.

    Returns:
        first_rows: int64[M], the index of the first occurrence of each distinct row.
        inverse: int64[N], the number in range(M) of the distinct row that equals each row.
    """
    padded = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    words = padded.view(np.uint64)
    keys = words[:, 0] if words.shape[1] == 1 else words.view([("", np.uint64)] * words.shape[1])[:, 0]
    _, first_rows, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return first_rows, inverse.reshape(-1)


def training_examples(
    packed: NDArray[np.uint8],
    targets: NDArray[np.float32],
    policies: NDArray[np.float32] | None,
    training: Training,
    game: Game,
) -> Examples:
    """The examples made from N rows, given by their `Columns`. As `training` says they are merged where equal, and then
    multiplied by the symmetries of the game; `Images` makes the images of rows that are not merged.

    Merged examples have the mean target and policy of their rows, and the weight count ** weight_power, scaled to
    mean 1. If the observation does not determine the position, an action is illegal where it is in all the positions.
    """
    if not training.merge:
        columns = [packed, targets, np.ones_like(targets), *([] if policies is None else [policies])]
        return Examples(*map(torch.from_numpy, columns))
    counts, means = np.ones(len(targets)), targets.astype(np.float64)[:, None]
    if policies is not None:
        means = np.concatenate([means, policies], axis=1)
    packed, counts, means = _merge(packed, counts, means)
    if training.symmetries:
        symmetries = game.symmetries
        images = game.observation_codec.entries.bits_of_images(symmetries.observations)
        packed = _all_images(packed, images)
        counts, means = np.repeat(counts, len(images)), np.repeat(means, len(images), axis=0)
        if policies is not None:
            _permute_policies(means[:, 1:], symmetries.actions)
        packed, counts, means = _merge(packed, counts, means)
    weights = counts**training.weight_power
    if training.weight_power not in (0.0, 0.5, 1.0):  # numpy's other powers are not the same on every processor
        weights = np.array([exponential(training.weight_power * logarithm(count)) for count in counts.tolist()])
    means = means.astype(np.float32)
    arrays = [packed, np.ascontiguousarray(means[:, 0]), (weights / weights.mean()).astype(np.float32)]
    if policies is not None:
        arrays.append(np.ascontiguousarray(means[:, 1:]))
    return Examples(*map(torch.from_numpy, arrays))


class Images:
    """The images of examples under the symmetries of a game, which are made when they are needed.

    The image of example i under symmetry s of S has the number S * i + s.
    """

    def __init__(self, game: Game) -> None:
        symmetries = game.symmetries
        bits = game.observation_codec.entries.bits_of_images(symmetries.observations)
        self.count = len(bits)
        """S."""
        self._actions = torch.from_numpy(symmetries.actions)
        self._permutations = [PackedPermutation(image) for image in bits]

    def select(self, examples: Examples, numbers: Tensor) -> Examples:
        """The images with these numbers (int64[B])."""
        rows, images = numbers // self.count, numbers % self.count
        chosen = examples.select(rows)
        packed = chosen.packed.numpy()
        for image, permutation in enumerate(self._permutations):
            of_image = (images == image).numpy()
            packed[of_image] = permutation(packed[of_image])
        if chosen.policies is None:
            return chosen
        policies = torch.empty_like(chosen.policies).scatter_(1, self._actions[images], chosen.policies)
        return chosen._replace(policies=policies)


def _merge(
    packed: NDArray[np.uint8], counts: NDArray[np.float64], means: NDArray[np.float64]
) -> tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.float64]]:
    """The distinct observations, the sums of their counts, and the weighted mean of each column of `means`.

    The first column has targets, the others policies.
    """
    first_rows, inverse = distinct_rows(packed)
    total = np.bincount(inverse, weights=counts).astype(np.float64)
    targets = np.bincount(inverse, weights=counts * means[:, 0]) / total
    policies = [np.where(sums < 0, ILLEGAL, sums / total) for sums in policy_sums(means[:, 1:], inverse, counts)]
    return packed[first_rows], total, np.stack([targets, *policies], axis=1)


def policy_sums(
    policies: NDArray[Any], inverse: NDArray[np.int64], counts: NDArray[np.float64]
) -> Iterator[NDArray[np.float64]]:
    """float64[M] for each action: the sum of its probabilities in the rows of each distinct observation.

    ILLEGAL where the action is illegal in all of these rows.

    Args:
        policies: [N, A], ILLEGAL where an action is illegal.
        inverse: int64[N], as from `distinct_rows`.
        counts: float64[N], what each row counts.
    """
    for column in policies.T:
        legal = column != ILLEGAL
        sums = np.bincount(inverse, weights=np.where(legal, counts * column, 0))
        yield np.where(np.bincount(inverse, weights=legal) > 0, sums, ILLEGAL)


def _permute_policies(policies: NDArray[np.float64], actions: NDArray[np.int64]) -> None:
    """Let row i of `policies` (float64[N * S, A]) be its image under symmetry i % S; `actions` is int64[S, A]."""
    for number, image in enumerate(actions):
        of_symmetry = policies[number :: len(actions)]
        of_symmetry[:, image] = of_symmetry.copy()


def mark_illegal(policies: NDArray[np.float32], positions: Packed, game: Game) -> NDArray[np.float32]:
    """`policies` (float32[N, A]) with ILLEGAL where an action is illegal in the position (int64[N, W])."""
    legal = game.legal_action_mask(game.state_at(torch.from_numpy(positions))).numpy()
    return np.where(legal, policies, np.float32(ILLEGAL))


def _all_images(packed: NDArray[np.uint8], images: NDArray[np.int64]) -> NDArray[np.uint8]:
    """All images of the first row, then all of the second, and so on; `images` is int64[S, B]."""
    together = np.empty((len(packed), len(images), packed.shape[1]), dtype=np.uint8)
    for number, image in enumerate(images):
        together[:, number] = PackedPermutation(image)(packed)
    return together.reshape(-1, packed.shape[1])
