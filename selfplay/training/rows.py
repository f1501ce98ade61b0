"""The rows that a network is fitted to: those that are trained on, and those that are held out."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.random_numbers import Draws, Purpose, torch_seed
from selfplay.dataset.rows import Rows
from selfplay.errors import StageError
from selfplay.games.game import Game
from selfplay.training.examples import (
    Batch,
    Columns,
    Examples,
    Images,
    distinct_rows,
    mark_illegal,
    policy_sums,
    training_examples,
)
from selfplay.training.parameters import Training
from selfplay.training.process_group import SINGLE_PROCESS, ProcessGroup

FEW_MATCHES = 1000


class HeldOut(NamedTuple):
    """N held-out rows, as M distinct observations and the number of each row's observation."""

    packed: Tensor
    """uint8[M, ceil(B / 8)]: the observations, as `ObservationCodec` packs them."""
    inverse: Tensor
    """int64[N]: numbers in range(M)"""
    targets: Tensor
    """float32[N]"""
    policies: Tensor | None = None
    """float32[M, A]: the sum of the policies of the rows with each observation, ILLEGAL where an action is illegal;
    None without policies."""


def require_some_of_both(num_rows: int, num_held_out: int) -> None:
    """Raise StageError if all rows or none of them are held out."""
    if num_held_out in (0, num_rows):
        raise StageError("there are too few matches to hold out some of them; set more matches")


def is_held_out(match: NDArray[np.int64], fraction: float, key: int) -> NDArray[np.bool_]:
    """bool[N]: whether the matches with these numbers (int64[N]) are held out.

    Args:
        fraction: share of the matches that is held out, chosen at random by the number of the match.
    """
    draws = Draws(key, torch.from_numpy(match), 0)
    held_out: NDArray[np.bool_] = (draws.uniforms(Purpose.VALIDATION_SPLIT) < fraction).numpy()
    return held_out


def holds_out_some(matches: int, fraction: float, key: int) -> bool:
    """Whether some, but not all, of the matches 0 to `matches` - 1 are held out."""
    # Nearly always the first few already differ.
    for number in (min(matches, FEW_MATCHES), matches):
        held_out = is_held_out(np.arange(number), fraction, key)
        if held_out.any() and not held_out.all():
            return True
    return False


def held_out_rows(
    packed: NDArray[np.uint8], targets: NDArray[np.float32], policies: NDArray[np.float32] | None
) -> HeldOut:
    """Rows, given by their `Columns`, in the form on which networks are measured."""
    first_rows, inverse = distinct_rows(packed)
    held_out = HeldOut(*(torch.from_numpy(array) for array in (packed[first_rows], inverse, targets)))
    if policies is None:
        return held_out
    sums = np.stack([*policy_sums(policies, inverse, np.ones(len(policies)))], axis=1)
    return held_out._replace(policies=torch.from_numpy(sums.astype(np.float32)))


LARGE = 1 << 28
"""The size in bytes from which a column is kept in a file."""


class Column:
    """Rows that are added in parts. If they are many, a temporary file has them, which needs no memory.

    Args:
        folder: where the file is; None: the folder of the system for such files.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._parts: list[NDArray[Any]] = []
        self._num_rows = self._waiting = 0
        self._file: IO[bytes] | None = None

    def add(self, part: NDArray[Any]) -> None:
        """Add N rows: an array whose first dimension is N. Raises StageError if they cannot be written."""
        self._parts.append(part)
        self._num_rows += len(part)
        self._waiting += part.nbytes
        if self._waiting >= LARGE:
            self._write()

    def whole(self) -> NDArray[Any]:
        """All rows, in the order in which they were added. At least one part must have been added."""
        if self._file is None:
            return self._parts[0] if len(self._parts) == 1 else np.concatenate(self._parts)
        self._write()
        first = self._parts[0]
        return np.memmap(self._file, dtype=first.dtype, mode="r+", shape=(self._num_rows, *first.shape[1:]))

    def _write(self) -> None:
        try:
            if self._file is None:
                self._file = TemporaryFile(dir=self._folder)  # noqa: SIM115 (it is open as long as its rows are used)
            for part in self._parts:
                self._file.write(np.ascontiguousarray(part).data)
            self._file.flush()
        except OSError as error:
            where = self._folder or "the folder for temporary files"
            raise StageError(f"cannot write a temporary file in {where}: {error.strerror or error}") from error
        self._parts, self._waiting = [self._parts[0][:0]], 0


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
        mine = in_parts(held_out[own_share(processes, len(held_out))], HELD_OUT_PART)
        self.held_out = [held_out_rows(*rows.select(part)) for part in mine]
        """The held-out rows on which this process measures the loss, in parts; possibly none."""
        self._examples = _examples(rows, ~measured, training)
        self._images = Images(rows.game) if training.symmetries and not training.merge else None
        self.num_examples = len(self._examples.targets) * (1 if self._images is None else self._images.count)
        """Number of examples in a pass."""

    def batches(self, device: torch.device) -> Iterator[Batch]:
        """Endless batches: pass after pass, each in a new order; the last batch of a pass may be smaller."""
        examples, images = self._examples, self._images
        if images is None:
            examples = examples.to(device)
        generator = torch.Generator().manual_seed(torch_seed(self._key, Purpose.BATCH_ORDER))
        while True:
            # The order is drawn on the CPU, so that it is the same on every device.
            order = torch.randperm(self.num_examples, generator=generator)
            for batch in torch.split(order if images else order.to(device), self._batch_size):
                share = batch[own_share(self._processes, len(batch))]
                chosen = images.select(examples, share).to(device) if images else examples.select(share)
                yield Batch(chosen, len(batch))


def own_share(processes: ProcessGroup, count: int) -> slice:
    """The part of `range(count)` of this process; the parts are consecutive, and may be empty."""
    return slice(*(count * rank // processes.world_size for rank in (processes.rank, processes.rank + 1)))


def in_parts(array: NDArray[np.int64], size: int) -> list[NDArray[np.int64]]:
    """An array in parts of this size, one at least; the last may be smaller."""
    return [array[start : start + size] for start in range(0, max(1, len(array)), size)]


def _examples(rows: TrainingRows, are_trained: NDArray[np.bool_], training: Training) -> Examples:
    """The examples of some of the rows. Rows that are merged need memory for all of them at a time."""
    columns = [Column(rows.folder) for _ in Examples._fields]
    size = rows.num_rows if training.merge else PART
    for start in range(0, rows.num_rows, size):
        trained = start + np.flatnonzero(are_trained[start : start + size])
        examples = training_examples(*rows.select(trained), training, rows.game)
        for column, array in zip(columns, examples, strict=True):
            if array is not None:
                column.add(array.numpy())
    *others, policies = columns
    arrays = [column.whole() for column in others] + ([] if rows.policies is None else [policies.whole()])
    return Examples(*map(torch.from_numpy, arrays))
