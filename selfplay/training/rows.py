"""The rows that a network is fitted to: those that are trained on, and those that are held out."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.compute.random_numbers import Purpose, torch_seed
from selfplay.dataset.rows import Rows
from selfplay.games.game import Game
from selfplay.training.columns import Column
from selfplay.training.examples import Batch, Columns, Examples, mark_illegal, training_examples
from selfplay.training.held_out import held_out_rows, is_held_out, require_some_of_both
from selfplay.training.parameters import Training
from selfplay.training.process_group import SINGLE_PROCESS, ProcessGroup

PART = 65536
"""Rows that are converted at a time, if they do not depend on each other."""

HELD_OUT_PART = 1 << 18
"""Held-out rows that are measured at a time."""


class TrainingRows:
    """Rows with packed observations, in memory or, if they are many, in temporary files (`Column`).

    Args:
        parts: the rows, in one or more parts, as from `selfplay.dataset.match_rows`; all with policies, or none. Rows
            with the same number of a match are trained on together or held out together.
        folder: of the temporary files; None: the folder of the system for such files.
    """

    def __init__(self, game: Game, parts: Iterable[Rows], folder: Path | None = None) -> None:
        self.game, self.folder = game, folder
        packed, match, targets, policies = (Column(folder) for _ in range(4))
        has_policy = False
        for rows in parts:
            packed.add(game.observation_codec.pack(rows.position))
            match.add(rows.match)
            targets.add(rows.target)
            if rows.policy is not None:
                policies.add(mark_illegal(rows.policy, rows.position, game))
                has_policy = True
        self.packed, self.match, self.targets = packed.whole(), match.whole(), targets.whole()
        self.policies = policies.whole() if has_policy else None
        self.num_rows = len(self.match)

    def select(self, chosen: NDArray[np.bool_ | np.int64]) -> Columns:
        """The packed observations, targets and policies of some rows."""
        return self.packed[chosen], self.targets[chosen], None if self.policies is None else self.policies[chosen]


class SplitRows:
    """The rows of one training: examples in batches, and held-out rows.

    Args:
        key: the stream of random numbers, which chooses the matches that are held out, and the order of batches.

    Raises StageError if there are too few matches to hold some out.
    """

    def __init__(
        self, rows: TrainingRows, training: Training, key: int, processes: ProcessGroup = SINGLE_PROCESS
    ) -> None:
        self._batch_size, self._key, self._processes = training.batch_size, key, processes
        fraction = training.validation_fraction
        measured = np.concatenate([is_held_out(part, fraction, key) for part in in_parts(rows.match, PART)])
        held_out = np.flatnonzero(measured)
        require_some_of_both(rows.num_rows, len(held_out))
        mine = in_parts(held_out[processes.share(len(held_out))], HELD_OUT_PART)
        self.held_out = [held_out_rows(*rows.select(part)) for part in mine]
        """The held-out rows on which this process measures the loss, in parts; possibly none."""
        self._examples = _examples(rows, ~measured, training)
        self.num_examples = len(self._examples.targets)
        """Number of examples in a pass."""

    def batches(self, device: torch.device) -> Iterator[Batch]:
        """Endless batches: pass after pass, each in a new order; the last batch of a pass may be smaller."""
        examples = self._examples.to(device)
        generator = torch.Generator().manual_seed(torch_seed(self._key, Purpose.BATCH_ORDER))
        while True:
            # The order is drawn on the CPU, so that it is the same on every device.
            order = torch.randperm(self.num_examples, generator=generator).to(device)
            for batch in torch.split(order, self._batch_size):
                yield Batch(examples.select(batch[self._processes.share(len(batch))]), len(batch))


def in_parts(array: NDArray[np.int64], size: int) -> list[NDArray[np.int64]]:
    """An array in parts of this size, one at least; the last may be smaller."""
    return [array[start : start + size] for start in range(0, max(1, len(array)), size)]


def _examples(rows: TrainingRows, are_trained: NDArray[np.bool_], training: Training) -> Examples:
    """The examples of some of the rows. Rows that are merged need memory for all of them at a time."""
    columns = [Column(rows.folder) for _ in Examples._fields]
    size = rows.num_rows if training.merge else PART
    for start in range(0, rows.num_rows, size):
        trained = start + np.flatnonzero(are_trained[start : start + size])
        examples = training_examples(*rows.select(trained), training, rows.game.symmetries)
        for column, array in zip(columns, examples, strict=True):
            if array is not None:
                column.add(array.numpy())
    *others, policies = columns
    arrays = [column.whole() for column in others] + ([] if rows.policies is None else [policies.whole()])
    return Examples(*map(torch.from_numpy, arrays))
