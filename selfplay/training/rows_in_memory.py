"""The rows of a level's training, held in memory."""

from collections.abc import Iterable, Iterator
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from selfplay.compute.random_numbers import Purpose, single_word
from selfplay.dataset.targets import Rows, concatenated
from selfplay.games.rules import Symmetries
from selfplay.settings.training import TrainingSettings
from selfplay.training.examples import UNPACKED, Batch, training_examples, unpacked
from selfplay.training.held_out import HeldOut, held_out_of, is_held_out, require_both_sides
from selfplay.training.optimizer import Optimizer
from selfplay.training.process_group import SINGLE_PROCESS, ProcessGroup


class TrainingRows(Protocol):
    """The rows of a level's training, wherever they are kept."""

    num_rows: int
    """All of them, held out or not."""
    num_examples: int
    """Examples that one pass trains on."""

    def batches(self, optimizer: Optimizer) -> Iterator[Batch]:
        """Batches without end: pass after pass, each in an order of its own, the last batch of a pass shorter."""

    def held_out(self) -> Iterable[HeldOut]:
        """The held-out rows in parts: those that this process measures; there may be none."""


class RowsInMemory:
    """All rows of a level's training in memory, a bit for each entry of their observations.

    While a network is trained by batches they also are there as bytes, as the network takes them.

    Args:
        parts: the rows, some at a time, the rows of a match together.
        key: the stream of random numbers of this level's training.

    Raises StageError if there are too few matches to hold some out.
    """

    def __init__(
        self,
        parts: Iterable[Rows],
        settings: TrainingSettings,
        symmetries: Symmetries,
        key: int,
        processes: ProcessGroup = SINGLE_PROCESS,
    ) -> None:
        self._settings, self._key, self._processes = settings, key, processes
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
        share = processes.share(len(held_out.match))
        self._held_out = [held_out_of(held_out.between(share.start, share.stop))]
        self._examples = training_examples(np.concatenate(packed), np.concatenate(targets), settings, symmetries)
        self.num_examples = len(self._examples.targets)

    def _inputs(self, optimizer: Optimizer) -> Tensor:
        """What `optimizer` takes of all observations."""
        packed = self._examples.inputs.numpy()
        inputs = torch.empty(0)
        for start in range(0, len(packed), UNPACKED):
            part = optimizer.inputs(unpacked(packed[start : start + UNPACKED], self._observation_size))
            if start == 0:
                inputs = part.new_empty(len(packed), *part.shape[1:])
            inputs[start : start + UNPACKED] = part
        return inputs

    def batches(self, optimizer: Optimizer) -> Iterator[Batch]:
        examples = self._examples._replace(inputs=self._inputs(optimizer)).to(optimizer.weights.device)
        generator = torch.Generator().manual_seed(single_word(self._key, Purpose.BATCH_ORDER))
        while True:
            # The order is drawn on the CPU, so that it is the same on every device.
            order = torch.randperm(self.num_examples, generator=generator).to(optimizer.weights.device)
            for batch in torch.split(order, self._settings.batch_size):
                yield Batch(examples.select(batch[self._processes.share(len(batch))]), len(batch))

    def held_out(self) -> Iterable[HeldOut]:
        return self._held_out
