"""Training on datasets that are larger than memory: rows are read when they are needed, pass after pass.

Each pass reads the row groups of all files in a new order. Their rows go through a shuffle buffer: each row replaces a
random one there, which goes to the next batch. The rows left at the end follow in random order.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import count

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.random_numbers import Draws, Purpose, below
from selfplay.dataset.parquet import ParquetRowGroups
from selfplay.dataset.rows import Rows
from selfplay.games.game import Game
from selfplay.games.observation_codec import PackedPermutation
from selfplay.training.examples import Batch, Examples
from selfplay.training.held_out import HeldOut, held_out_rows, is_held_out, require_some_of_both
from selfplay.training.parameters import Training
from selfplay.training.process_group import SINGLE_PROCESS, ProcessGroup
from selfplay.training.trainer import Trainer


class StreamedRows:
    """The rows of several datasets. Only one row group and `buffer_rows` more rows are in memory.

    A pass contains each row once; with training.symmetries, one random image of it, drawn anew in each pass.

    Args:
        datasets: datasets that are read in groups.
        matches: number of matches of a dataset; the numbers of the matches of dataset i grow by i * matches.
    """

    def __init__(self, game: Game, datasets: Sequence[ParquetRowGroups], matches: int, buffer_rows: int) -> None:
        self.game, self.datasets, self.matches, self.buffer_rows = game, datasets, matches, buffer_rows
        self.num_rows = sum(sum(data.sizes) for data in datasets)

    def split(self, training: Training, key: int, processes: ProcessGroup = SINGLE_PROCESS) -> "SplitStream":
        """As `TrainingRows.split`; also raises InvalidFileError if a value is out of range."""
        return SplitStream(self, training, key, processes)


class SplitStream:
    """As `SplitRows`, read from the files anew in each pass."""

    def __init__(self, rows: StreamedRows, training: Training, key: int, processes: ProcessGroup) -> None:
        self._training, self._key, self._processes = training, key, processes
        self._codec = rows.game.observation_codec
        self._datasets, self._matches = rows.datasets, rows.matches
        images = rows.game.symmetries.observations if training.symmetries else ()
        self._images = [PackedPermutation(image) for image in images]
        self._groups = [
            (number, group)
            for number, data in enumerate(rows.datasets)
            for group, size in enumerate(data.sizes)
            if size
        ]
        sizes = [rows.datasets[number].sizes[group] for number, group in self._groups]
        self._first_rows = np.cumsum([0, *sizes]).tolist()
        num_held_out = self._count_held_out()
        require_some_of_both(rows.num_rows, num_held_out)
        self.num_examples, self.has_policies = rows.num_rows - num_held_out, False
        self._buffer_rows = min(rows.buffer_rows, self.num_examples)

    def _count_held_out(self) -> int:
        """Check all numbers of the datasets, and count the held-out rows. Observations are bits and need no check."""
        count = 0
        for number, group in self._groups:
            rows = self._datasets[number].read(group, with_observations=False)
            match = rows.match + number * self._matches
            count += int(is_held_out(match, self._training.validation_fraction, self._key).sum())
        return count

    def _read(self, place: int, *, held_out: bool) -> tuple[Rows, NDArray[np.int64]]:
        """The rows of a group that are held out, or that are not, and the number of each row among all rows."""
        number, group = self._groups[place]
        rows = self._datasets[number].read(group)
        match = rows.match + number * self._matches
        chosen = np.flatnonzero(is_held_out(match, self._training.validation_fraction, self._key) == held_out)
        return rows._replace(policy=None).select(chosen), chosen + self._first_rows[place]

    def held_out(self) -> Iterable[HeldOut]:
        for place in range(self._processes.rank, len(self._groups), self._processes.world_size):
            rows, _ = self._read(place, held_out=True)
            yield held_out_rows(self._codec.pack(rows.position), rows.target, None, self._codec.size)

    def batches(self, trainer: Trainer) -> Iterator[Batch]:
        size, share = self._training.batch_size, self._processes.share
        for number in count(1):
            for inputs, targets in _in_batches(self._shuffled(trainer, number), size):
                mine = share(len(targets))
                examples = Examples(inputs[mine], targets[mine], torch.ones(len(targets[mine])))
                yield Batch(examples, len(targets))

    def _shuffled(self, trainer: Trainer, number: int) -> Iterator[list[Tensor]]:
        """Inputs and targets of all training rows in the order of pass `number`, in parts."""
        buffer = ShuffleBuffer(self._buffer_rows)
        for place in self._order(len(self._groups), number, Purpose.GROUP_ORDER).tolist():
            rows, row_numbers = self._read(place, held_out=False)
            draws = Draws(self._key, torch.from_numpy(row_numbers), number)
            inputs = trainer.inputs(self._imaged(self._codec.pack(rows.position), draws))
            places = below(draws.bits(Purpose.BUFFER_PLACE), self._buffer_rows)
            yield buffer.replace([inputs, torch.from_numpy(rows.target)], places)
        yield from buffer.remove(self._order(buffer.filled, number, Purpose.BUFFER_ORDER))

    def _order(self, length: int, number: int, purpose: Purpose) -> Tensor:
        """A random order of range(length): int64[length]."""
        bits = Draws(self._key, torch.arange(length), number).bits(purpose)
        return torch.argsort(bits, stable=True)

    def _imaged(self, packed: NDArray[np.uint8], draws: Draws) -> NDArray[np.uint8]:
        """Each packed observation under a random symmetry, if training.symmetries is set; changed in place."""
        if self._images:
            drawn = below(draws.bits(Purpose.IMAGE), len(self._images)).numpy()
            for number, image in enumerate(self._images):
                mine = np.flatnonzero(drawn == number)
                packed[mine] = image(packed[mine])
        return packed


def _in_batches(parts: Iterable[list[Tensor]], size: int) -> Iterator[list[Tensor]]:
    """The rows of these columns, `size` at a time; the last part may be smaller."""
    rest: list[Tensor] = []
    for part in parts:
        columns = [torch.cat(pair) for pair in zip(rest, part, strict=True)] if rest else part
        whole = len(columns[0]) - len(columns[0]) % size
        for start in range(0, whole, size):
            yield [column[start : start + size] for column in columns]
        rest = [column[whole:] for column in columns]
    if rest and len(rest[0]):
        yield rest


REMOVED_TOGETHER = 65536
"""Number of rows removed at a time when no more rows are added."""


class ShuffleBuffer:
    """Holds rows until others replace them. Rows are given as columns (tensors) with the same first dimension.

    Args:
        size: number of rows that it holds.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._columns: list[Tensor] = []
        self.filled = 0
        """Number of rows in it."""

    def replace(self, columns: list[Tensor], places: Tensor) -> list[Tensor]:
        """Add N rows: the first ones fill the buffer, and each of the others replaces the row at its place.

        Args:
            places: int64[N] in range(size); not used for rows that fill the buffer.

        Returns:
            The rows that were replaced, in order.
        """
        if not self._columns:
            self._columns = [column.new_empty(self._size, *column.shape[1:]) for column in columns]
        free = min(self._size - self.filled, len(places))
        for held, column in zip(self._columns, columns, strict=True):
            held[self.filled : self.filled + free] = column[:free]
        self.filled += free
        return replaced_rows(self._columns, [column[free:] for column in columns], places[free:])

    def remove(self, order: Tensor) -> Iterator[list[Tensor]]:
        """The rows at the places `order` (int64[K]), in this order, in parts."""
        for places in torch.split(order, REMOVED_TOGETHER):
            yield [held[places] for held in self._columns]


def replaced_rows(held: list[Tensor], coming: list[Tensor], places: Tensor) -> list[Tensor]:
    """Let row i of `coming` replace the row at `places[i]` (int64[N]) in `held`, one after the other.

    Args:
        held: columns of the rows that are replaced; changed in place.
        coming: columns of N rows.

    Returns:
        The columns of the N rows that were replaced, in order; a row of `coming` may be among them.
    """
    order = torch.argsort(places, stable=True)
    place = places[order]
    changes = place[1:] != place[:-1]
    edge = torch.ones(min(1, len(place)), dtype=torch.bool)
    is_first, is_last = torch.cat([edge, changes]), torch.cat([changes, edge])
    replaced = []
    for waiting, column in zip(held, coming, strict=True):
        gone = torch.empty_like(column)
        gone[order[is_first]] = waiting[place[is_first]]
        # Of several rows with the same place, each replaces the one before it.
        gone[order[~is_first]] = column[order[~is_last]]
        waiting[place[is_last]] = column[order[is_last]]
        replaced.append(gone)
    return replaced
