"""dataset.parquet: the rows of dataset.csv in about a thirtieth of the space, in row groups of one size.

It is one file, or a folder of parts: part-00000.parquet, part-00001.parquet, ...
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from selfplay.errors import InvalidFileError
from selfplay.expectations import Rows, concatenated

GROUP_SIZE = 65536
"""Rows in a row group, however many come at a time: the bytes must not depend on how matches are batched."""
TRANSPOSED_BLOCK = 256
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


def parquet_parts(path: Path) -> list[Path]:
    """The files of the dataset at `path`, in the order of their rows: itself, or the parts in the folder there."""
    return sorted(path.glob("part-*.parquet")) if path.is_dir() else [path]


def read_parquet(path: Path, names: list[str]) -> Rows:
    """The rows at `path`, a file or a folder of parts, whose columns must have these names.

    Raises InvalidFileError if a file is missing, empty or broken, or its columns are others.
    """
    groups = RowGroups(path, names)
    return concatenated([groups.read(number) for number in range(len(groups.sizes))])


class RowGroups:
    """The row groups of the dataset at `path`, a file or a folder of parts, to be read one at a time.

    Raises InvalidFileError if a file is missing, empty or broken, or its columns do not have these names.
    """

    def __init__(self, path: Path, names: list[str]) -> None:
        self._names = names
        self._metadata: dict[Path, pq.FileMetaData] = {}
        self._places: list[tuple[Path, int]] = []
        self.sizes: list[int] = []
        """The rows of each group."""
        for part in parquet_parts(path):
            with _refusing(part), pq.ParquetFile(part) as file:
                _check_columns(part, file.schema_arrow, names)
                self._metadata[part] = file.metadata
            self._places += [(part, number) for number in range(file.metadata.num_row_groups)]
            self.sizes += [file.metadata.row_group(number).num_rows for number in range(file.metadata.num_row_groups)]
        if not sum(self.sizes):
            raise InvalidFileError(path, f"holds no rows; {REMEDY}")

    def place(self, group: int) -> tuple[Path, int]:
        """The file of a group, and how many of its rows stand before the group."""
        path, number = self._places[group]
        return path, sum(self.sizes[group - number : group])

    def read(self, group: int, *, with_observations: bool = True) -> Rows:
        """The rows of a group; without observations these have no entries. Raises InvalidFileError."""
        path, number = self._places[group]
        names = self._names if with_observations else [*self._names[:2], self._names[-1]]
        with _refusing(path), pq.ParquetFile(path, metadata=self._metadata[path]) as file:
            return _rows(file.read_row_group(number, columns=names), names)


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """What cannot be read at `path` as an InvalidFileError."""
    try:
        yield
    except OSError as error:
        raise InvalidFileError(path, f"cannot be read: {error.strerror or 'it is broken'}; {REMEDY}") from error
    except pa.ArrowInvalid as error:
        raise InvalidFileError(path, f"{' '.join(str(error).split())}; {REMEDY}") from error


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
    return Rows(match, ply, _transposed(observations), targets)


def _transposed(entries: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """uint8[D, N] to uint8[N, D], by blocks that fit into the processor's cache: several times faster than at once."""
    rows = np.empty(entries.shape[::-1], dtype=np.uint8)
    for start in range(0, len(rows), TRANSPOSED_BLOCK):
        block = slice(start, start + TRANSPOSED_BLOCK)
        rows[block] = np.ascontiguousarray(entries[:, block]).T
    return rows


def _truths(column: pa.BooleanArray, size: int) -> NDArray[np.uint8]:
    bits = np.frombuffer(column.buffers()[1], dtype=np.uint8)
    return np.unpackbits(bits, bitorder="little")[column.offset : column.offset + size]
