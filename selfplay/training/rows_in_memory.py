"""The rows of a level's training, held in memory."""

from collections.abc import Iterable, Iterator
from typing import Protocol

import numpy as np
import torch

from selfplay.compute.random_numbers import Purpose, torch_seed
from selfplay.dataset.rows import Rows, concatenate
from selfplay.games.game import Game
from selfplay.settings.sections import TrainingSettings
from selfplay.training.examples import (
    Batch,
    Examples,
    HeldOut,
    PackedExamples,
    held_out_rows,
    is_held_out,
    mark_illegal,
    require_some_of_both,
    training_examples,
)
from selfplay.training.process_group import SINGLE_PROCESS, ProcessGroup
from selfplay.training.trainer import Trainer

CONVERTED = 65536
"""Number of examples whose observations are converted at a time."""


class TrainingRows(Protocol):
    """The rows of a level's training, in memory or on disk."""

    num_rows: int
    """Number of all rows, held out or not."""
    num_examples: int
    """Number of examples in a pass."""
    has_policies: bool
    """Whether the examples have policies."""

    def batches(self, trainer: Trainer) -> Iterator[Batch]:
        """Endless batches: pass after pass, each in a new order; the last batch of a pass may be smaller."""

    def held_out(self) -> Iterable[HeldOut]:
        """The held-out rows on which this process measures the loss, in parts; possibly none."""


class RowsInMemory:
    """All rows of a level's training in memory, with packed observations.

    While a network is trained, its inputs are in memory too.

    Args:
        parts: the rows, in parts.

    Raises StageError if there are too few matches to hold some out.
    """

    def __init__(
        self,
        parts: Iterable[Rows],
        settings: TrainingSettings,
        game: Game,
        key: int,
        processes: ProcessGroup = SINGLE_PROCESS,
    ) -> None:
        self._settings, self._key, self._processes = settings, key, processes
        codec, self.num_rows = game.observation_codec, 0
        packed, targets, policies, measured = [], [], [], []
        for rows in parts:
            measured_rows = is_held_out(rows.match, settings.validation_fraction, key)
            self.num_rows += len(rows.match)
            trained = rows.select(~measured_rows)
            packed.append(codec.pack(trained.own, trained.opp))
            targets.append(trained.target)
            if trained.policy is not None:
                policies.append(trained.policy)
            measured.append(rows.select(measured_rows))
        held_out = concatenate(measured)
        require_some_of_both(self.num_rows, len(held_out.match))
        share = processes.share(len(held_out.match))
        self._held_out = [held_out_rows(held_out.select(share), game)]
        self.has_policies = bool(policies)
        examples = training_examples(
            np.concatenate(packed),
            np.concatenate(targets),
            settings,
            game.symmetries,
            np.concatenate(policies) if policies else None,
        )
        if examples.policies is not None:
            examples = examples._replace(policies=mark_illegal(examples.policies, examples.packed, game))
        self._examples = examples
        self.num_examples = len(self._examples.targets)

    def batches(self, trainer: Trainer) -> Iterator[Batch]:
        device = trainer.weights.device
        examples = _converted(self._examples, trainer).to(device)
        policies = None if self._examples.policies is None else torch.from_numpy(self._examples.policies).to(device)
        generator = torch.Generator().manual_seed(torch_seed(self._key, Purpose.BATCH_ORDER))
        while True:
            # The order is drawn on the CPU, so that it is the same on every device.
            order = torch.randperm(self.num_examples, generator=generator).to(device)
            for batch in torch.split(order, self._settings.batch_size):
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
