"""The rows of a level's matches: made into bytes a shard at a time, and read back whole, with every value checked.

dataset.csv, which anything can read, or dataset.parquet: the ending of the name says which.
"""

from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
from numpy.typing import NDArray

from selfplay.dataset.parquet import RowGroups, encode_parquet
from selfplay.dataset.targets import Rows, concatenated
from selfplay.errors import InvalidFileError

ARROW_TO_NUMPY = {"int64": "int64", "int32": "int32", "uint8": "uint8", "float": "float32"}


def column_names(observation_size: int) -> list[str]:
    """The header of a dataset: match, ply, v0, ..., target."""
    return ["match", "ply", *(f"v{i}" for i in range(observation_size)), "target"]


def _schema(observation_size: int) -> pa.Schema:
    types = [pa.int64(), pa.int32(), *[pa.uint8()] * observation_size, pa.float32()]
    return pa.schema(list(zip(column_names(observation_size), types, strict=True)))


# Arrow's own conversions import pandas, which takes longer than the conversion of a whole dataset.
def _as_arrow(column: NDArray[Any], arrow_type: pa.DataType) -> pa.Array:
    return pa.Array.from_buffers(arrow_type, len(column), [None, pa.py_buffer(column)])


def _as_numpy(column: pa.ChunkedArray) -> NDArray[Any]:
    dtype = np.dtype(ARROW_TO_NUMPY[str(column.type)])
    parts = (np.frombuffer(c.buffers()[1], dtype)[c.offset : c.offset + len(c)] for c in column.chunks)
    return np.concatenate([np.empty(0, dtype), *parts])


def encode_rows(parts: Iterable[Rows], form: str, observation_size: int) -> tuple[bytes, int]:
    """The rows of a shard, one part after the other, as bytes of that form, csv or parquet, and how many there were.

    The bytes of csv have no header: those of all shards, one after the other below `csv_header`, are the file.
    """
    return (encode_parquet if form == "parquet" else _encode_csv)(parts, observation_size)


def csv_header(observation_size: int) -> bytes:
    """The first line of dataset.csv."""
    return (",".join(column_names(observation_size)) + "\n").encode()


def _encode_csv(parts: Iterable[Rows], observation_size: int) -> tuple[bytes, int]:
    schema, written, file = _schema(observation_size), 0, BytesIO()
    # Batches of this size are written nearly twice as fast as the default of 1,024 rows.
    options = pa_csv.WriteOptions(include_header=False, batch_size=16384)
    with pa_csv.CSVWriter(file, schema, write_options=options) as writer:
        for rows in parts:
            columns = [rows.match, rows.ply, *np.ascontiguousarray(rows.observations.T), rows.targets]
            arrays = [_as_arrow(column, field.type) for column, field in zip(columns, schema, strict=True)]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
            written += len(rows.match)
    return file.getvalue(), written


def read_dataset(path: Path, observation_size: int) -> Rows:
    """The rows of the dataset at `path`: a file, or in Parquet's form a folder of parts.

    Raises:
        InvalidFileError: the file is missing, empty or cut off, a column is missing or foreign, or a value is out of
            range; the message names which.
    """
    return concatenated(list(read_parts(path, observation_size)))


def read_parts(path: Path, observation_size: int) -> Iterator[Rows]:
    """As `read_dataset`, some rows at a time: of Parquet a row group, of CSV all."""
    if path.suffix != ".parquet":
        rows = _read_csv(path, observation_size)
        check_ranges(path, rows)
        yield rows
        return
    groups = RowGroups(path, observation_size)
    for group, size in enumerate(groups.sizes):
        part, first = groups.place(group)
        rows = groups.read(group)
        check_ranges(part, rows, first)
        if size:
            yield rows


def check_ranges(path: Path, rows: Rows, first: int = 0) -> None:
    """Raise InvalidFileError, naming the row, unless all values of these rows of `path` are in range.

    `first`: how many rows of the file stand before them.
    """
    observations = rows.observations
    _check_range(path, "match", rows.match, rows.match >= 0, "0 or more", first)
    _check_range(path, "ply", rows.ply, rows.ply >= 0, "0 or more", first)
    # Column by column takes many times longer, so that is left for files that are broken.
    for i in range(observations.shape[1]) if observations.size and observations.max() > 1 else ():
        _check_range(path, f"v{i}", observations[:, i], observations[:, i] <= 1, "0 or 1", first)
    _check_range(path, "target", rows.targets, np.abs(rows.targets) <= 1, "from -1 to 1", first)


def _read_csv(path: Path, observation_size: int) -> Rows:
    schema, names = _schema(observation_size), column_names(observation_size)
    _check_header(path, names)
    convert = pa_csv.ConvertOptions(column_types=schema, strings_can_be_null=False, null_values=[])
    try:
        table = pa_csv.read_csv(path, convert_options=convert)
    except pa.ArrowInvalid as error:
        raise InvalidFileError(path, f"{' '.join(str(error).split())}; generate it again with force=true") from error
    observations = np.empty((len(names) - 3, len(table)), dtype=np.uint8)
    for entry, name in enumerate(names[2:-1]):
        observations[entry] = _as_numpy(table.column(name))
    match, ply, targets = (_as_numpy(table.column(name)) for name in ("match", "ply", "target"))
    return Rows(match, ply, np.ascontiguousarray(observations.T), targets)


def _check_header(path: Path, names: list[str]) -> None:
    try:
        with path.open("rb") as file:
            line, more = file.readline(), file.read(1)
            file.seek(-1 if more else 0, 2)
            last = file.read(1)
    except OSError as error:
        raise InvalidFileError(path, f"cannot be read: {error.strerror}") from error
    header = line.decode(errors="replace").rstrip("\r\n").replace('"', "").split(",")
    if not more:
        raise InvalidFileError(path, "holds no rows; generate it again with force=true")
    if missing := [name for name in names if name not in header]:
        raise InvalidFileError(path, f"column {missing[0]} is missing; generate it again with force=true")
    if header != names:
        raise InvalidFileError(path, f"its columns are not {names[0]} ... {names[-1]} in order; is it another game's?")
    if last != b"\n":
        raise InvalidFileError(path, "is cut off in its last row; generate it again with force=true")


def _check_range(
    path: Path, name: str, values: NDArray[np.generic], valid: NDArray[np.bool_], allowed: str, first: int
) -> None:
    if not valid.all():
        row = int(np.flatnonzero(~valid)[0])
        raise InvalidFileError(path, f"column {name} of row {first + row + 1} is {values[row]}; it must be {allowed}")
