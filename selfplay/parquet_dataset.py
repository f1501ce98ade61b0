"""dataset.parquet: the rows of dataset.csv in about a thirtieth of the space, in row groups of one size."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from selfplay.errors import InvalidFileError
from selfplay.expectations import Rows, concatenated

GROUP_SIZE = 65536
"""Rows in a row group, however many come at a time: the bytes must not depend on how matches are batched."""
REMEDY = "generate it again with force=true"


def _schema(names: list[str]) -> pa.Schema:
    """The columns of dataset.csv, the entries of observations as truth values, which take a bit each."""
    types = {"match": pa.int64(), "ply": pa.int32(), "target": pa.float32()}
    return pa.schema([(name, types.get(name, pa.bool_())) for name in names])


def write_parquet(path: Path, parts: Iterable[Rows], names: list[str]) -> int:
    """Write the rows of `parts`, one after the other, to `path`; returns how many there were. Raises OSError.

    Args:
        names: of the columns: match, ply, the entries of the observation, target.
    """
    schema, written = _schema(names), 0
    with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=False, write_statistics=False) as writer:
        for rows in _groups(parts):
            size = len(rows.match)
            bits = np.packbits(np.ascontiguousarray(rows.observations.T), axis=1, bitorder="little")
            numbers = (np.ascontiguousarray(column) for column in (rows.match, rows.ply, rows.targets))
            match, ply, target = (pa.py_buffer(column) for column in numbers)
            buffers = [match, ply, *map(pa.py_buffer, bits), target]
            arrays = [
                pa.Array.from_buffers(field.type, size, [None, buffer])
                for field, buffer in zip(schema, buffers, strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema), row_group_size=max(1, size))
            written += size
    return written


def _groups(parts: Iterable[Rows]) -> Iterator[Rows]:
    """The same rows in groups of one size, the last one smaller."""
    waiting: list[Rows] = []
    for rows in parts:
        waiting.append(rows)
        if sum(len(part.match) for part in waiting) < GROUP_SIZE:
            continue
        together = concatenated(waiting)
        whole = len(together.match) - len(together.match) % GROUP_SIZE
        for start in range(0, whole, GROUP_SIZE):
            yield together.between(start, start + GROUP_SIZE)
        waiting = [together.between(whole, len(together.match))]
    if waiting and len((rest := concatenated(waiting)).match):
        yield rest


def read_parquet(path: Path, names: list[str]) -> Rows:
    """The rows at `path`, whose columns must have these names.

    Raises InvalidFileError if the file is missing, empty or broken, or its columns are others.
    """
    try:
        with pq.ParquetFile(path) as file:
            _check_columns(path, file.schema_arrow, names)
            groups = [file.read_row_group(number) for number in range(file.num_row_groups)]
    except OSError as error:
        raise InvalidFileError(path, f"cannot be read: {error.strerror or 'it is broken'}; {REMEDY}") from error
    except pa.ArrowInvalid as error:
        raise InvalidFileError(path, f"{' '.join(str(error).split())}; {REMEDY}") from error
    if not sum(map(len, groups)):
        raise InvalidFileError(path, f"holds no rows; {REMEDY}")
    parts = [_rows(group, names) for group in groups]
    return concatenated(parts)


def _check_columns(path: Path, schema: pa.Schema, names: list[str]) -> None:
    expected = _schema(names)
    if missing := [name for name in names if name not in schema.names]:
        raise InvalidFileError(path, f"column {missing[0]} is missing; {REMEDY}")
    if not schema.equals(expected):
        raise InvalidFileError(path, f"its columns are not {names[0]} ... {names[-1]}; is it another game's?")


def _rows(table: pa.Table, names: list[str]) -> Rows:
    size = len(table)
    observations = np.empty((len(names) - 3, size), dtype=np.uint8)
    for entry, name in enumerate(names[2:-1]):
        observations[entry] = _truths(table.column(name).combine_chunks(), size)
    match, ply, targets = (table.column(name).to_numpy() for name in ("match", "ply", "target"))
    return Rows(match, ply, np.ascontiguousarray(observations.T), targets)


def _truths(column: pa.BooleanArray, size: int) -> NDArray[np.uint8]:
    bits = np.frombuffer(column.buffers()[1], dtype=np.uint8)
    return np.unpackbits(bits, bitorder="little")[column.offset : column.offset + size]
