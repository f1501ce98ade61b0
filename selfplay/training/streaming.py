"""Training on datasets that are larger than memory: their rows are read as they are needed, pass after pass.

In each pass the row groups of all files come in an order of their own. Each row then takes the place of a random one
among those that wait in a buffer, and that one goes on to the next batch; what waits at the end goes in random order.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import count

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.random_numbers import Draws, Purpose, below
from selfplay.dataset.files import check_ranges
from selfplay.dataset.parquet import RowGroups
from selfplay.dataset.targets import Rows
from selfplay.games.rules import Symmetries
from selfplay.settings.training import TrainingSettings
from selfplay.training.examples import Batch, Examples
from selfplay.training.held_out import HeldOut, held_out_of, is_held_out, require_both_sides
from selfplay.training.optimizer import Optimizer
from selfplay.training.process_group import SINGLE_PROCESS, ProcessGroup

CHUNK = 65536
"""Rows that leave the buffer at a time when no more come in."""


class StreamedRows:
    """The rows of several datasets, of which no more than `buffer_rows`, and those of a row group, are in memory.

    A pass shows each row once; if training.symmetries, in one image, drawn anew in each pass.

    Args:
        datasets: each in Parquet's form, the rows of a match together.
        matches: in a dataset; so much is added to its numbers of matches for each dataset before it.
        key: the stream of random numbers of this level's training.

    Raises:
        InvalidFileError: a value is out of range.
        StageError: too few matches to hold some out.
    """

    def __init__(
        self,
        datasets: Sequence[RowGroups],
        matches: int,
        settings: TrainingSettings,
        symmetries: Symmetries,
        key: int,
        buffer_rows: int,
        processes: ProcessGroup = SINGLE_PROCESS,
    ) -> None:
        self._settings, self._images, self._key, self._processes = settings, symmetries.observations, key, processes
        self._datasets, self._matches = datasets, matches
        self._groups = [
            (number, group) for number, data in enumerate(datasets) for group, size in enumerate(data.sizes) if size
        ]
        sizes = [datasets[number].sizes[group] for number, group in self._groups]
        self._first_rows = np.cumsum([0, *sizes]).tolist()
        self.num_rows: int = self._first_rows[-1]
        self.num_examples = self.num_rows - self._count_held_out()
        self._buffer_rows = min(buffer_rows, self.num_examples)

    def _count_held_out(self) -> int:
        """Look all rows through, all but their observations, whose entries cannot be other than 0 and 1."""
        held_out, matches, last = 0, 0, -1
        for number, group in self._groups:
            path, first = self._datasets[number].place(group)
            rows = self._datasets[number].read(group, with_observations=False)
            check_ranges(path, rows, first)
            match = rows.match + number * self._matches
            held_out += int(self._is_held_out(match).sum())
            matches += int(np.count_nonzero(np.diff(match, prepend=last)))
            last = match[-1]
        require_both_sides(held_out, self.num_rows, matches)
        return held_out

    def _is_held_out(self, match: NDArray[np.int64]) -> NDArray[np.bool_]:
        return is_held_out(match, self._settings.validation_fraction, self._key)

    def _read(self, place: int, *, held_out: bool) -> tuple[Rows, NDArray[np.int64]]:
        """The rows of a group that are held out, or those that are not, and the number of each among all rows."""
        number, group = self._groups[place]
        rows = self._datasets[number].read(group)
        chosen = np.flatnonzero(self._is_held_out(rows.match + number * self._matches) == held_out)
        return rows.select(chosen), chosen + self._first_rows[place]

    def held_out(self) -> Iterable[HeldOut]:
        for place in range(self._processes.rank, len(self._groups), self._processes.world_size):
            yield held_out_of(self._read(place, held_out=True)[0])

    def batches(self, optimizer: Optimizer) -> Iterator[Batch]:
        size, share = self._settings.batch_size, self._processes.share
        for number in count(1):
            for inputs, targets in _in_batches(self._pass(optimizer, number), size):
                mine = share(len(targets))
                examples = Examples(inputs[mine], targets[mine], torch.ones(len(targets[mine])))
                yield Batch(examples, len(targets))

    def _pass(self, optimizer: Optimizer, number: int) -> Iterator[list[Tensor]]:
        """Inputs and targets of all training rows, in the order of pass `number`, some at a time."""
        held: list[Tensor] = []
        filled = 0
        for place in self._order(len(self._groups), number, Purpose.GROUP_ORDER).tolist():
            rows, row_numbers = self._read(place, held_out=False)
            draws = Draws(self._key, torch.from_numpy(row_numbers), number)
            columns = [optimizer.inputs(self._imaged(rows.observations, draws)), torch.from_numpy(rows.targets)]
            held = held or [column.new_empty(self._buffer_rows, *column.shape[1:]) for column in columns]
            free = min(self._buffer_rows - filled, len(row_numbers))
            for waiting, column in zip(held, columns, strict=True):
                waiting[filled : filled + free] = column[:free]
            filled += free
            places = below(draws.words(Purpose.BUFFER_PLACE), self._buffer_rows)[free:]
            yield exchanged(held, [column[free:] for column in columns], places)
        for rest in torch.split(self._order(filled, number, Purpose.BUFFER_ORDER), CHUNK):
            yield [waiting[rest] for waiting in held]

    def _order(self, length: int, number: int, purpose: Purpose) -> Tensor:
        """A random order of range(length): int64[length]."""
        words = Draws(self._key, torch.arange(length), number).words(purpose)
        return torch.argsort(words, stable=True)

    def _imaged(self, observations: NDArray[np.uint8], draws: Draws) -> NDArray[np.uint8]:
        """Each observation (uint8[N, D]) under one of the symmetries, if the settings want them."""
        if self._settings.symmetries:
            drawn = below(draws.words(Purpose.IMAGE), len(self._images)).numpy()
            for number, image in enumerate(self._images):
                mine = np.flatnonzero(drawn == number)
                observations[mine] = observations[mine][:, image]
        return observations


def exchanged(held: list[Tensor], coming: list[Tensor], places: Tensor) -> list[Tensor]:
    """What goes when row i of `coming` takes the place `places[i]` (int64[N]) in `held`, one after the other.

    `held` and `coming` are columns, with the same number of rows each; `held` is changed.
    """
    order = torch.argsort(places, stable=True)
    place = places[order]
    changes = place[1:] != place[:-1]
    edge = torch.ones(min(1, len(place)), dtype=torch.bool)
    is_first, is_last = torch.cat([edge, changes]), torch.cat([changes, edge])
    going = []
    for waiting, column in zip(held, coming, strict=True):
        gone = torch.empty_like(column)
        gone[order[is_first]] = waiting[place[is_first]]
        # Of rows that come to one place, each sends off the one before it.
        gone[order[~is_first]] = column[order[~is_last]]
        waiting[place[is_last]] = column[order[is_last]]
        going.append(gone)
    return going


def _in_batches(parts: Iterable[list[Tensor]], size: int) -> Iterator[list[Tensor]]:
    """The rows of these columns, `size` at a time, the last ones fewer."""
    rest: list[Tensor] = []
    for part in parts:
        columns = [torch.cat(pair) for pair in zip(rest, part, strict=True)] if rest else part
        whole = len(columns[0]) - len(columns[0]) % size
        for start in range(0, whole, size):
            yield [column[start : start + size] for column in columns]
        rest = [column[whole:] for column in columns]
    if rest and len(rest[0]):
        yield rest
