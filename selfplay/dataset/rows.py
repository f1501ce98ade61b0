"""The rows of a dataset: the columns of its files, with their types and ranges, and the rows in memory.

The header, the reader, the writer and the checks are made from `COLUMNS`; docs/files.md says what the columns mean.
Files have `POSITION` only if the observations of the game do not determine its positions, and `POLICY` only if the rows
have policies. To add a column, add it here and add a field of the same name to `Rows`.

Columns are converted between Arrow and NumPy here, because Arrow's own conversions (`pa.array`, `to_numpy`) import
pandas if it is installed, which takes 150 ms: longer than the conversion of a whole dataset.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from selfplay.compute.positions import Packed
from selfplay.errors import InvalidFileError, shortened
from selfplay.games.observation_codec import ForeignObservationError, ObservationCodec


class DatasetColumn(NamedTuple):
    """A column of the rows of a dataset."""

    name: str
    dtype: str
    """The NumPy dtype, which is also the name of the Arrow type."""
    allowed: str
    """The allowed values, as described in error messages."""
    is_valid: Callable[[NDArray[Any]], NDArray[np.bool_]]
    """Which values are allowed: bool[N]."""


MATCH = DatasetColumn("match", "int64", "0 or more", lambda match: match >= 0)
PLY = DatasetColumn("ply", "int32", "0 or more", lambda ply: ply >= 0)
PLY_OR_START = PLY._replace(allowed="-1 or more", is_valid=lambda ply: ply >= -1)
"""The column of datasets with policies, which also have rows of the starting position: -1."""
OBSERVATION = DatasetColumn("observation", "uint8", "0 or 1", lambda entry: entry <= 1)
"""In CSV this is several columns, v0, v1, ... (`entry_columns`); in Parquet it is packed, as by the codec."""
POSITION = DatasetColumn("position", "int64", "a number of 64 bits with a sign", lambda word: word == word)
"""In CSV this is several columns, w0, w1, ...; in Parquet it is a list of fixed size."""
TARGET = DatasetColumn("target", "float32", "from -1 to 1", lambda target: np.abs(target) <= 1)
POLICY = DatasetColumn("policy", "float32", "from 0 to 1", lambda policy: (policy >= 0) & (policy <= 1))
"""In CSV this is several columns, p0, p1, ...; in Parquet it is a list of fixed size."""
COLUMNS = (MATCH, PLY, OBSERVATION, POSITION, TARGET, POLICY)
"""All columns, in the order of the files."""
NUMBERS = (MATCH, PLY, TARGET)
"""The columns that hold one number in each row, in both formats."""


def entry_columns(codec: ObservationCodec) -> list[DatasetColumn]:
    """The columns of the observation in CSV: v0, v1, ..., each a bit or a number that is not scaled."""
    return [_entry_column(f"v{entry}", limit) for entry, limit in enumerate(codec.entries.limits.tolist())]


def _entry_column(name: str, limit: int) -> DatasetColumn:
    if limit == 1:
        return OBSERVATION._replace(name=name)
    return DatasetColumn(name, "int64", f"from 0 to {limit}", lambda entry: (entry >= 0) & (entry <= limit))


def word_names(num_words: int) -> list[str]:
    """The columns of the packed position in CSV: w0, w1, ..."""
    return [f"w{word}" for word in range(num_words)]


def action_names(num_actions: int) -> list[str]:
    """The columns of the policy in CSV: p0, p1, ..."""
    return [f"p{action}" for action in range(num_actions)]


def column_named(name: str, codec: ObservationCodec) -> DatasetColumn:
    """What a column of a CSV file holds."""
    rest = {"w": POSITION, "p": POLICY}
    known = (*NUMBERS, *entry_columns(codec))
    return next((column for column in known if column.name == name), rest.get(name[0], POLICY))


def stored_words(codec: ObservationCodec) -> int:
    """The number of int64s of the packed positions in files; 0 if the observations determine the positions."""
    return 0 if codec.shows_all else codec.num_words


def csv_schema(codec: ObservationCodec, num_actions: int = 0) -> pa.Schema:
    """The columns of dataset.csv: match, ply, v0, v1, ..., possibly w0, w1, ..., target, and possibly p0, p1, ..."""
    names = {POSITION: word_names(stored_words(codec)), POLICY: action_names(num_actions)}
    fields = {column: [(name, _type_of(column)) for name in names[column]] for column in names}
    return _schema({OBSERVATION: [(entry.name, _type_of(entry)) for entry in entry_columns(codec)], **fields})


def parquet_schema(codec: ObservationCodec, num_actions: int = 0) -> pa.Schema:
    """The columns of dataset.parquet: match, ply, observation (packed), possibly position (a list), target, and
    possibly policy (a list)."""
    lists = {POSITION: stored_words(codec), POLICY: num_actions}
    fields = {
        column: [(column.name, pa.list_(_type_of(column), size))] if size else [] for column, size in lists.items()
    }
    return _schema({OBSERVATION: [(OBSERVATION.name, pa.binary(-(-codec.entries.num_bits // 8)))], **fields})


def _type_of(column: DatasetColumn) -> pa.DataType:
    return pa.from_numpy_dtype(column.dtype)


def _schema(special: Mapping[DatasetColumn, list[tuple[str, pa.DataType]]]) -> pa.Schema:
    """The schema, with each column in `special` replaced by the fields given there."""
    plain = {column: [(column.name, _type_of(column))] for column in NUMBERS}
    return pa.schema([field for column in COLUMNS for field in {**plain, **special}[column]])


def as_arrow(column: NDArray[Any], arrow_type: pa.DataType) -> pa.Array:
    """An Arrow array on the memory of `column` (C-contiguous): numbers, the rows of uint8[N, I] as bytes, or those of
    another matrix as lists of fixed size."""
    if pa.types.is_fixed_size_list(arrow_type):
        return pa.FixedSizeListArray.from_arrays(as_arrow(column.reshape(-1), arrow_type.value_type), column.shape[1])
    return pa.Array.from_buffers(arrow_type, len(column), [None, pa.py_buffer(column)])


def as_numpy(column: pa.ChunkedArray) -> NDArray[Any]:
    """The numbers of `column`, copied."""
    empty = np.empty(0, dtype=column.type.to_pandas_dtype())
    return np.concatenate([empty, *(np.from_dlpack(chunk) for chunk in column.chunks)])


def bytes_as_numpy(column: pa.ChunkedArray) -> NDArray[np.uint8]:
    """uint8[N, W]: the values of a column of W bytes each, copied."""
    width = column.type.byte_width
    chunks = [np.empty((0, width), dtype=np.uint8)]
    for chunk in column.chunks:
        rows = np.frombuffer(chunk.buffers()[1], dtype=np.uint8).reshape(-1, width)
        chunks.append(rows[chunk.offset : chunk.offset + len(chunk)])
    return np.concatenate(chunks)


def lists_as_numpy(column: pa.ChunkedArray) -> NDArray[Any]:
    """A column of lists of A numbers as the rows of an array [N, A], copied."""
    width = column.type.list_size
    chunks = [np.from_dlpack(chunk.flatten()).reshape(-1, width) for chunk in column.chunks]
    return np.concatenate([np.empty((0, width), dtype=column.type.value_type.to_pandas_dtype()), *chunks])


class Rows(NamedTuple):
    """N positions with their targets, ordered by match and ply: afterstates, or positions with a policy."""

    match: NDArray[np.int64]
    """int64[N]: the number of the match in which the position was reached."""
    ply: NDArray[np.int32]
    """int32[N]: the ply that led to it, from 0; -1 for the starting position, which only rows with a policy have."""
    position: Packed
    """int64[N, W]: the positions, packed as in `State`."""
    target: NDArray[np.float32]
    """float32[N] in [-1, 1]: the discounted outcome of the player who is not to move in the position, who has usually
    just moved."""
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


def arrow_table(rows: Rows, schema: pa.Schema, special: Mapping[DatasetColumn, Iterable[NDArray[Any]]]) -> pa.Table:
    """The rows as the columns of a file with this schema; `special` has those that are not numbers, as in `_schema`."""
    plain = {column: [getattr(rows, column.name)] for column in NUMBERS}
    arrays = [np.ascontiguousarray(values) for column in COLUMNS for values in {**plain, **special}[column]]
    pairs = zip(arrays, schema.types, strict=True)
    return pa.Table.from_arrays([as_arrow(*pair) for pair in pairs], schema=schema)


def actions_of(parts: Iterable[Rows]) -> tuple[int, Iterable[Rows]]:
    """The number of actions in the policies of `parts`, 0 if they have none; and all the parts."""
    remaining = iter(parts)
    first = list(islice(remaining, 1))
    policy = first[0].policy if first else None
    return 0 if policy is None else policy.shape[1], chain(first, remaining)


ROUNDING = 1e-3
"""By how much the sum of a policy may differ from 1."""


class RowOrder:
    """Checks that the rows of a dataset, which are read in parts, are in the order of matches, then of plies."""

    def __init__(self) -> None:
        self._last = -1, -2

    def check(self, path: Path, rows: Rows, rows_before: int = 0) -> None:
        """Raise InvalidFileError, with the first row that is not behind the row before it.

        `rows_before`: number of rows of the file before these.
        """
        if not len(rows.match):
            return
        match, ply = rows.match, rows.ply
        is_wrong = np.zeros(len(match), dtype=np.bool_)
        is_wrong[0] = (int(match[0]), int(ply[0])) <= self._last
        # Rows can be as large as the memory: no copies are made of them.
        is_wrong[1:] = (match[1:] < match[:-1]) | (match[1:] == match[:-1]) & (ply[1:] <= ply[:-1])
        self._last = int(match[-1]), int(ply[-1])
        if is_wrong.any():
            row = rows_before + int(is_wrong.argmax()) + 1
            raise InvalidFileError(path, f"row {row} is out of order: rows are in the order of matches, then of plies")


def check_numbers(path: Path, rows: Rows, rows_before: int = 0) -> Rows:
    """`rows` if the values of all its columns of the file are in range. Raises InvalidFileError.

    `rows_before`: number of rows of the file before these.
    """
    for column in NUMBERS:
        is_start_allowed = column is PLY and rows.policy is not None
        check_column(path, PLY_OR_START if is_start_allowed else column, getattr(rows, column.name), rows_before)
    if rows.policy is not None:
        _check_policies(path, rows.policy, rows_before)
    return rows


def _check_policies(path: Path, policy: NDArray[np.float32], rows_before: int) -> None:
    """Raise InvalidFileError, with the first row, unless all entries are probabilities that sum to 1."""
    if not POLICY.is_valid(policy).all():
        for action, entries in enumerate(policy.T):
            check_column(path, POLICY, entries, rows_before, f"p{action}")
    total = policy.sum(axis=1)
    if not (valid := np.abs(total - 1) <= ROUNDING).all():
        row = int(np.flatnonzero(~valid)[0])
        raise InvalidFileError(path, f"the policy of row {rows_before + row + 1} sums to {total[row]:.4f}, not to 1")


def first_wrong_column(found: Sequence[str], expected: Sequence[str]) -> str:
    """How the columns `found` in a file differ from the expected ones, as a message about the first that does."""
    pairs = zip_longest(found, expected)
    number, (name, right) = next((number, pair) for number, pair in enumerate(pairs, 1) if pair[0] != pair[1])
    if name is None:
        return f"column {right} is missing"
    return f"column {number} is {shortened(repr(name))}" + (f", not {right!r}" if right else ", which is one too many")


def check_column(
    path: Path, column: DatasetColumn, values: NDArray[np.generic], rows_before: int = 0, name: str | None = None
) -> None:
    """Raise InvalidFileError, with the first row, unless all values (N of them) are in range.

    `name`: of the column in the file, if it differs from `column.name`.
    """
    valid = column.is_valid(values)
    if not valid.all():
        row = int(np.flatnonzero(~valid)[0])
        where = f"column {name or column.name} of row {rows_before + row + 1}"
        raise InvalidFileError(path, f"{where} is {values[row]}; it must be {column.allowed}")


def positions_checked(
    path: Path, codec: ObservationCodec, packed: NDArray[np.uint8], stored: Packed | None, rows_before: int = 0
) -> Packed:
    """The positions of packed observations: those in the file (`stored`), if the observations do not determine them.

    Raises InvalidFileError, with the row, if an observation does not belong to any position, or to another one, or
    stones of both players are on one square.
    """
    if stored is None:
        try:
            positions = codec.unpack(packed)
        except ForeignObservationError as error:
            row = rows_before + error.row + 1
            raise InvalidFileError(path, f"the observation of row {row} belongs to no position") from error
    else:
        positions = stored
        if (differs := (codec.pack(stored) != packed).any(axis=1)).any():
            row = rows_before + int(np.flatnonzero(differs)[0]) + 1
            raise InvalidFileError(path, f"the observation of row {row} is not that of its position")
    if (shared := codec.has_shared_squares(positions)).any():
        row = rows_before + int(np.flatnonzero(shared)[0]) + 1
        raise InvalidFileError(path, f"row {row} has stones of both players on one square")
    return positions
