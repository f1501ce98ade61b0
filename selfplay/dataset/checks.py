"""The checks of values read from datasets of either format; errors name the file, the row and the column."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from selfplay.dataset.rows import Rows
from selfplay.dataset.schema import NUMBERS, PLY, PLY_OR_START, POLICY, DatasetColumn
from selfplay.errors import InvalidFileError
from selfplay.games.observation_codec import ForeignObservationError, ObservationCodec, Words

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
