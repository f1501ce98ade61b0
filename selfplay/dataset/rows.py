"""The rows of a dataset in memory: positions as the two words of `State`, with their matches, plies and targets.

The checks of values read from files of either format name the file, the row and the column.
"""

from collections.abc import Iterable, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.dataset.schema import NUMBERS, PLY, PLY_OR_START, POLICY, DatasetColumn
from selfplay.errors import InvalidFileError
from selfplay.games.observation_codec import ForeignObservationError, ObservationCodec, Words


class Rows(NamedTuple):
    """N positions with their targets, ordered by match and ply: afterstates, or positions with a policy."""

    match: NDArray[np.int64]
    """int64[N]: the number of the match in which the position was reached."""
    ply: NDArray[np.int32]
    """int32[N]: the ply that led to it, from 0; -1 for the starting position, which only rows with a policy have."""
    own: NDArray[np.int64]
    """int64[N]: the word of the player to move in the position."""
    opp: NDArray[np.int64]
    """int64[N]: the word of the player who has just moved."""
    target: NDArray[np.float32]
    """float32[N] in [-1, 1]: the discounted outcome of the player who has just moved."""
    policy: NDArray[np.float32] | None = None
    """float32[N, A]: the probability of each action of the player to move; None if the dataset has no policies."""

    def select(self, chosen: NDArray[np.bool_] | NDArray[np.int64] | slice) -> "Rows":
        """The rows where `chosen` (bool[N]) is true, or with these numbers (int64[K] or a slice)."""
        columns: list[Any] = [None if column is None else column[chosen] for column in self]
        return Rows(*columns)

    def in_order(self) -> "Rows":
        """The same rows sorted by match; rows of one match keep their order."""
        return self.select(np.argsort(self.match, kind="stable"))


def concatenate(parts: Sequence[Rows]) -> Rows:
    """All rows of `parts`, one part after the other."""
    if len(parts) == 1:
        return parts[0]
    columns: list[Any] = [None if part[0] is None else np.concatenate(part) for part in zip(*parts, strict=True)]
    return Rows(*columns)


def actions_of(parts: Iterable[Rows]) -> tuple[int, Iterable[Rows]]:
    """The number of actions in the policies of `parts`, 0 if they have none; and all the parts."""
    remaining = iter(parts)
    first = list(islice(remaining, 1))
    policy = first[0].policy if first else None
    return 0 if policy is None else policy.shape[1], chain(first, remaining)


REMEDY = "generate it again with force=true"
ROUNDING = 1e-3
"""By how much the sum of a policy may differ from 1."""


def check_numbers(path: Path, rows: Rows, rows_before: int = 0) -> Rows:
    """`rows` if the values of all its columns of the file are in range. Raises InvalidFileError.

    Args:
        rows_before: number of rows of the file before these.
    """
    for column in NUMBERS:
        is_start_allowed = column is PLY and rows.policy is not None
        check_column(path, PLY_OR_START if is_start_allowed else column, getattr(rows, column.name), rows_before)
    if rows.policy is not None:
        _check_policies(path, rows.policy, rows_before)
    return rows


def _check_policies(path: Path, policy: NDArray[np.float32], rows_before: int) -> None:
    """Raise InvalidFileError, with the first row, unless all entries are probabilities that sum to 1."""
    for action, entries in enumerate(policy.T):
        check_column(path, POLICY, entries, rows_before, f"p{action}")
    total = policy.sum(axis=1)
    if not (valid := np.abs(total - 1) <= ROUNDING).all():
        row = int(np.flatnonzero(~valid)[0])
        raise InvalidFileError(path, f"the policy of row {rows_before + row + 1} sums to {total[row]:.4f}, not to 1")


def check_column(
    path: Path, column: DatasetColumn, values: NDArray[np.generic], rows_before: int = 0, name: str | None = None
) -> None:
    """Raise InvalidFileError, with the first row, unless all values (N of them) are in range.

    Args:
        name: the name of the column in the file, if it differs from `column.name`.
    """
    valid = column.is_valid(values)
    if not valid.all():
        row = int(np.flatnonzero(~valid)[0])
        where = f"column {name or column.name} of row {rows_before + row + 1}"
        raise InvalidFileError(path, f"{where} is {values[row]}; it must be {column.allowed}")


def unpack_checked(path: Path, codec: ObservationCodec, packed: NDArray[np.uint8], rows_before: int = 0) -> Words:
    """The words of packed observations. Raises InvalidFileError, with the row, if one belongs to no position."""
    try:
        return codec.unpack(packed)
    except ForeignObservationError as error:
        row = rows_before + error.row + 1
        raise InvalidFileError(path, f"the observation of row {row} belongs to no position; {REMEDY}") from error
