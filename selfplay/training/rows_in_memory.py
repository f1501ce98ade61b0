"""The rows that a network is fitted to, in memory."""

from collections.abc import Iterable, Iterator
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.compute.random_numbers import Purpose, torch_seed
from selfplay.dataset.rows import Rows
from selfplay.games.game import Game
from selfplay.training.examples import Batch, Columns, Examples, PackedExamples, mark_illegal, training_examples
from selfplay.training.held_out import HeldOut, held_out_rows, is_held_out, require_some_of_both
from selfplay.training.parameters import Training
from selfplay.training.process_group import SINGLE_PROCESS, ProcessGroup
from selfplay.training.trainer import Trainer

CONVERTED = 65536
"""Number of examples whose observations are converted at a time."""


@runtime_checkable
class TrainingRows(Protocol):
    """The rows that a network is fitted to, in memory or on disk."""

    game: Game
    num_rows: int
    """Number of all rows, held out or not."""

    def split(self, training: Training, key: int, processes: ProcessGroup = SINGLE_PROCESS) -> "SplitRows":
        """The training examples, and the held-out rows.

        Args:
            key: the stream of random numbers, which chooses the matches that are held out, and the order of batches.

        Raises StageError if there are too few matches to hold some out.
        """


class SplitRows(Protocol):
    """The rows of one training: examples, and held-out rows."""

    num_examples: int
    """Number of examples in a pass."""
    has_policies: bool
    """Whether the examples have policies."""

    def batches(self, trainer: Trainer) -> Iterator[Batch]:
        """Endless batches: pass after pass, each in a new order; the last batch of a pass may be smaller."""

    def held_out(self) -> Iterable[HeldOut]:
        """The held-out rows on which this process measures the loss, in parts; possibly none."""


class RowsInMemory:
    """Rows in memory, with packed observations.

    Args:
        parts: the rows, in one or more parts, as from `selfplay.dataset.match_rows`; all with policies, or none. Rows
            with the same number of a match are trained on together or held out together.
    """

    def __init__(self, game: Game, parts: Iterable[Rows]) -> None:
        self.game = game
        packed, matches, targets, policies = [], [], [], []
        for rows in parts:
            packed.append(game.observation_codec.pack(rows.position))
            matches.append(rows.match)
            targets.append(rows.target)
            if rows.policy is not None:
                policies.append(mark_illegal(rows.policy, rows.position, game))
        self.packed, self.match, self.targets = np.concatenate(packed), np.concatenate(matches), np.concatenate(targets)
        self.policies = np.concatenate(policies) if policies else None
        self.num_rows = len(self.match)

    def split(self, training: Training, key: int, processes: ProcessGroup = SINGLE_PROCESS) -> "SplitInMemory":
        """As `TrainingRows.split`."""
        return SplitInMemory(self, training, key, processes)

    def select(self, chosen: NDArray[np.bool_ | np.int64]) -> Columns:
        """The packed observations, targets and policies of some rows."""
        return self.packed[chosen], self.targets[chosen], None if self.policies is None else self.policies[chosen]


class SplitInMemory:
    """As `SplitRows`, in memory. While a network is trained, its inputs are in memory too."""

    def __init__(self, rows: RowsInMemory, training: Training, key: int, processes: ProcessGroup) -> None:
        self._batch_size, self._key, self._processes = training.batch_size, key, processes
        game, measured = rows.game, is_held_out(rows.match, training.validation_fraction, key)
        held_out = np.flatnonzero(measured)
        require_some_of_both(rows.num_rows, len(held_out))
        mine = rows.select(held_out[processes.share(len(held_out))])
        self._held_out = [held_out_rows(*mine, game.observation_codec.size)]
        self._examples = examples = training_examples(*rows.select(~measured), training, game.symmetries)
        self.num_examples, self.has_policies = len(examples.targets), examples.policies is not None

    def batches(self, trainer: Trainer) -> Iterator[Batch]:
        device = trainer.weights.device
        examples = _converted(self._examples, trainer).to(device)
        policies = None if self._examples.policies is None else torch.from_numpy(self._examples.policies).to(device)
        generator = torch.Generator().manual_seed(torch_seed(self._key, Purpose.BATCH_ORDER))
        while True:
            # The order is drawn on the CPU, so that it is the same on every device.
            order = torch.randperm(self.num_examples, generator=generator).to(device)
            for batch in torch.split(order, self._batch_size):
                mine = batch[self._processes.share(len(batch))]
                yield Batch(examples.select(mine), len(batch), None if policies is None else policies[mine])

    def held_out(self) -> Iterable[HeldOut]:
        return self._held_out


def _converted(examples: PackedExamples, trainer: Trainer) -> Examples:
    """The examples in the form that `trainer` expects, converted in parts to need less memory."""
    packed = examples.packed
    inputs = torch.empty(0)
    for start in range(0, len(packed), CONVERTED):
        part = trainer.inputs(packed[start : start + CONVERTED])
        if start == 0:
            inputs = part.new_empty(len(packed), *part.shape[1:])
        inputs[start : start + CONVERTED] = part
    return Examples(inputs, torch.from_numpy(examples.targets), torch.from_numpy(examples.weights))
