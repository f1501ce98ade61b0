"""dataset.parquet: a folder with a file for each shard of matches, in a twentieth to a fortieth of the space of CSV.

Observations stand there packed, a bit an entry, in row groups of one size.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from selfplay.dataset.targets import Rows, concatenated
from selfplay.errors import InvalidFileError

GROUP_SIZE = 65536
"""Rows in a row group, however many come at a time: the bytes must not depend on how matches are batched."""
COLUMNS = ("match", "ply", "observation", "target")
REMEDY = "generate it again with force=true"


def part_name(shard: int) -> str:
    """The name of the file of a shard."""
    return f"part-{shard:05d}.parquet"


def parquet_parts(path: Path) -> list[Path]:
    """The files of the dataset at `path`, in order. Raises InvalidFileError if there is none, or one is missing."""
    # By their numbers, which have more than five digits from the hundred thousandth on.
    parts = sorted(path.glob("part-*.parquet"), key=lambda part: (len(part.name), part.name)) if path.is_dir() else []
    if not parts:
        raise InvalidFileError(path, f"is no folder with part-00000.parquet in it; {REMEDY}")
    for number, part in enumerate(parts):
        if part.name != part_name(number):
            raise InvalidFileError(path / part_name(number), f"is missing; {REMEDY}")
    return parts


def _schema(observation_size: int) -> pa.Schema:
    types = pa.int64(), pa.int32(), pa.binary(-(-observation_size // 8)), pa.float32()
    return pa.schema(list(zip(COLUMNS, types, strict=True)))


def encode_parquet(parts: Iterable[Rows], observation_size: int) -> tuple[bytes, int]:
    """The rows of `parts`, one after the other, as the bytes of a Parquet file, and how many there were."""
    schema, written, file = _schema(observation_size), 0, BytesIO()
    with pq.ParquetWriter(
        file,
        schema,
        compression="zstd",
        use_dictionary=False,
        write_statistics=False,
        use_byte_stream_split=["observation"],
    ) as writer:
        for rows in _groups(parts):
            size = len(rows.match)
            columns = rows.match, rows.ply, np.packbits(rows.observations, axis=1), rows.targets
            buffers = [pa.py_buffer(np.ascontiguousarray(column)) for column in columns]
            arrays = [
                pa.Array.from_buffers(field.type, size, [None, buffer])
                for field, buffer in zip(schema, buffers, strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema), row_group_size=max(1, size))
            written += size
    return file.getvalue(), written


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


class RowGroups:
    """The row groups of the dataset at `path`, to be read one at a time.

    Raises InvalidFileError if a file is missing or broken, its columns are others, or there is no row.
    """

    def __init__(self, path: Path, observation_size: int) -> None:
        self._size = observation_size
        self._metadata: dict[Path, pq.FileMetaData] = {}
        self._places: list[tuple[Path, int]] = []
        self.sizes: list[int] = []
        """The rows of each group."""
        for part in parquet_parts(path):
            with _refusing(part), pq.ParquetFile(part) as file:
                _check_columns(part, file.schema_arrow, _schema(observation_size))
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
        columns = [name for name in COLUMNS if with_observations or name != "observation"]
        with _refusing(path), pq.ParquetFile(path, metadata=self._metadata[path]) as file:
            return _rows(file.read_row_group(number, columns=columns, use_threads=False), self._size)


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """What cannot be read at `path` as an InvalidFileError."""
    try:
        yield
    except OSError as error:
        raise InvalidFileError(path, f"cannot be read: {error.strerror or 'it is broken'}; {REMEDY}") from error
    except pa.ArrowInvalid as error:
        raise InvalidFileError(path, f"{' '.join(str(error).split())}; {REMEDY}") from error


def _check_columns(path: Path, schema: pa.Schema, expected: pa.Schema) -> None:
    if missing := [name for name in expected.names if name not in schema.names]:
        raise InvalidFileError(path, f"column {missing[0]} is missing; {REMEDY}")
    if not schema.equals(expected):
        raise InvalidFileError(path, f"its columns are not {', '.join(expected.names)}; is it another game's?")


def _rows(table: pa.Table, observation_size: int) -> Rows:
    match, ply, targets = (table.column(name).to_numpy() for name in ("match", "ply", "target"))
    if "observation" not in table.column_names:
        return Rows(match, ply, np.empty((len(match), 0), dtype=np.uint8), targets)
    bits = np.concatenate([_packed(chunk) for chunk in table.column("observation").chunks])
    return Rows(match, ply, np.unpackbits(bits, axis=1, count=observation_size), targets)


def _packed(column: pa.FixedSizeBinaryArray) -> NDArray[np.uint8]:
    width = column.type.byte_width
    rows = np.frombuffer(column.buffers()[1], dtype=np.uint8).reshape(-1, width)
    return rows[column.offset : column.offset + len(column)]
