"""Fitting a network to the expected returns of a dataset's afterstates."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from selfplay.descent import Batch, Descent, Examples, make_descent
from selfplay.devices import CPU, cuda_devices_in_use
from selfplay.errors import StageError
from selfplay.expectations import Rows, concatenated
from selfplay.games.game import Symmetries
from selfplay.randomness import Draws, Purpose, single_word
from selfplay.settings import TrainingSettings
from selfplay.team import ALONE, Team

VALIDATION_BLOCK = 65536
"""Rows in one forward pass."""
UNPACKED = 65536
"""Rows whose observations are unpacked at a time."""


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


class TrainingRows(Protocol):
    """The rows of a level's training, wherever they are kept."""

    num_rows: int
    """All of them, held out or not."""
    num_examples: int
    """Examples that one pass trains on."""

    def batches(self, descent: Descent) -> Iterator[Batch]:
        """Batches without end: pass after pass, each in an order of its own, the last batch of a pass shorter."""

    def held_out(self) -> Iterable[HeldOut]:
        """The held-out rows in parts; of a team, those that this process measures, and there may be none."""


def is_held_out(match: NDArray[np.int64], fraction: float, key: int) -> NDArray[np.bool_]:
    """bool[N]: whether the matches of these numbers are held out, a share `fraction` of all, drawn by their numbers."""
    draws = Draws(key, torch.from_numpy(match), 0)
    held_out: NDArray[np.bool_] = (draws.uniforms(Purpose.VALIDATION_SPLIT) < fraction).numpy()
    return held_out


def require_both_sides(held_out: int, rows: int, matches: int) -> None:
    """Raise StageError if, of the rows of so many matches, none are left to train or to measure on."""
    if held_out in (0, rows):
        raise StageError(f"{matches} matches are too few to hold out some of them; set more matches")


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


class RowsInMemory:
    """All rows of a level's training in memory, a bit for each entry of their observations.

    While a network is trained by batches they also are there as bytes, as the network takes them.

    Args:
        parts: the rows, some at a time, the rows of a match together.
        key: the stream of random numbers of this level's training.

    Raises StageError if there are too few matches to hold some out.
    """

    def __init__(
        self, parts: Iterable[Rows], settings: TrainingSettings, symmetries: Symmetries, key: int, team: Team = ALONE
    ) -> None:
        self._settings, self._key, self._team = settings, key, team
        self._observation_size = symmetries.observations.shape[1]
        self.num_rows, matches, last = 0, 0, -1
        packed, targets, measured = [], [], []
        for rows in parts:
            self.num_rows += len(rows.match)
            matches += int(np.count_nonzero(np.diff(rows.match, prepend=last)))
            last = rows.match[-1] if len(rows.match) else last
            held = is_held_out(rows.match, settings.validation_fraction, key)
            measured.append(rows.select(held))
            packed.append(np.packbits(rows.observations[~held], axis=1))
            targets.append(rows.targets[~held])
        held_out = concatenated(measured)
        require_both_sides(len(held_out.match), self.num_rows, matches)
        share = team.share(len(held_out.match))
        self._held_out = [held_out_of(held_out.between(share.start, share.stop))]
        self._examples = training_examples(np.concatenate(packed), np.concatenate(targets), settings, symmetries)
        self.num_examples = len(self._examples.targets)

    def _inputs(self, descent: Descent) -> Tensor:
        """What `descent` takes of all observations."""
        packed = self._examples.inputs.numpy()
        inputs = torch.empty(0)
        for start in range(0, len(packed), UNPACKED):
            part = descent.inputs(unpacked(packed[start : start + UNPACKED], self._observation_size))
            if start == 0:
                inputs = part.new_empty(len(packed), *part.shape[1:])
            inputs[start : start + UNPACKED] = part
        return inputs

    def batches(self, descent: Descent) -> Iterator[Batch]:
        examples = self._examples._replace(inputs=self._inputs(descent)).to(descent.weights.device)
        generator = torch.Generator().manual_seed(single_word(self._key, Purpose.BATCH_ORDER))
        while True:
            # The order is drawn on the CPU, so that it is the same on every device.
            order = torch.randperm(self.num_examples, generator=generator).to(descent.weights.device)
            for batch in torch.split(order, self._settings.batch_size):
                yield Batch(examples.select(batch[self._team.share(len(batch))]), len(batch))

    def held_out(self) -> Iterable[HeldOut]:
        return self._held_out


def held_out_of(rows: Rows) -> HeldOut:
    """These rows, to measure on."""
    distinct, inverse = distinct_rows(rows.observations)
    return HeldOut(*(torch.from_numpy(array) for array in (distinct, inverse, rows.targets)))


def validation_loss(
    network: nn.Module,
    held_out: Iterable[HeldOut],
    observation_shape: tuple[int, ...],
    team: Team = ALONE,
    device: str = CPU,
) -> float:
    """The mean squared error over all held-out rows of a team; the network sees each distinct one of a part once."""
    network.eval()
    sums = torch.zeros(2, dtype=torch.float64)
    with torch.inference_mode():
        for part in held_out:
            distinct, inverse, targets = (column.to(device) for column in part)
            parts = torch.split(distinct, VALIDATION_BLOCK)
            values = torch.cat([network(part.float().reshape(-1, *observation_shape)).reshape(-1) for part in parts])
            errors = (values[inverse] - targets).double().square()
            sums += torch.tensor([float(errors.sum()), len(errors)], dtype=torch.float64)
    total, count = team.sum(sums).tolist()
    return float(total / count)


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
    """`train_on` rows that are in memory."""
    in_memory = RowsInMemory([rows], settings, symmetries, key)
    return train_on(network, in_memory, settings, observation_shape, key, on_epoch, level=level, device=device)


def train_on(
    network: nn.Module,
    rows: TrainingRows,
    settings: TrainingSettings,
    observation_shape: tuple[int, ...],
    key: int,
    on_epoch: Callable[[EpochLoss], None] = lambda _: None,
    *,
    level: int = 1,
    team: Team = ALONE,
    device: str = CPU,
) -> list[EpochLoss]:
    """Train `network` in place; afterwards it holds the weights of the epoch with the lowest validation loss.

    It is back on the CPU then, wherever it was trained.

    Args:
        key: the stream of random numbers of this level's training; the same key gives the same weights, bit by bit,
            with the same number of threads and processes on the same kind of processor or GPU.
        on_epoch: called after each epoch.
        level: the level that it becomes, from 1: the learning rate may fall from level to level.
        team: the processes that train it together.
        device: cpu or cuda, where it is trained.

    Raises:
        StageError: too few matches to hold some out, or a loss that is no longer a number.
        SettingError: the network cannot be trained by this optimizer.
    """
    network.to(device)
    descent = make_descent(network, rows.num_examples, observation_shape, settings, level, team)
    batches = rows.batches(descent)
    losses: list[EpochLoss] = []
    champion = descent.weights.clone()
    # Each process of a team draws other masks for its rows.
    with seeded(single_word(key, Purpose.DROPOUT, team.rank)):
        for epoch in range(1, settings.epochs + 1):
            network.train()
            training = descent.run_epoch(batches)
            validation = validation_loss(network, rows.held_out(), observation_shape, team, device)
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


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """torch's global generator seeded with `seed`, and as it was before afterwards."""
    with torch.random.fork_rng(devices=cuda_devices_in_use()):
        torch.manual_seed(seed)
        yield
