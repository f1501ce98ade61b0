"""dataset.parquet: a folder with a file for each shard of the matches, in a thirtieth of the space of dataset.csv.

Observations stand there packed, a bit an entry, in row groups of one size.
"""

from collections.abc import Iterable, Iterator
from io import BytesIO
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


def part_name(shard: int) -> str:
    """The name of the file of a shard."""
    return f"part-{shard:05d}.parquet"


def parquet_parts(path: Path) -> list[Path]:
    """The files of the dataset at `path`, in order. Raises InvalidFileError if there is none, or one is missing."""
    parts = sorted(path.glob("part-*.parquet")) if path.is_dir() else []
    if not parts:
        raise InvalidFileError(path, f"is no folder with part-00000.parquet in it; {REMEDY}")
    for number, part in enumerate(parts):
        if part.name != part_name(number):
            raise InvalidFileError(path / part_name(number), f"is missing; {REMEDY}")
    return parts


def _schema(observation_size: int) -> pa.Schema:
    packed = pa.binary(-(-observation_size // 8))
    return pa.schema([("match", pa.int64()), ("ply", pa.int32()), ("observation", packed), ("target", pa.float32())])


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


def read_parquet(path: Path, observation_size: int) -> Rows:
    """The rows of the dataset at `path`.

    Raises InvalidFileError if a file is missing or broken, its columns are others, or there is no row.
    """
    groups = [rows for part in parquet_parts(path) for rows in row_groups(part, observation_size)]
    if not sum(len(rows.match) for rows in groups):
        raise InvalidFileError(path, f"holds no rows; {REMEDY}")
    return concatenated(groups)


def row_groups(part: Path, observation_size: int) -> Iterator[Rows]:
    """The rows of one file, a row group at a time. Raises InvalidFileError if it is broken, or of other columns."""
    try:
        with pq.ParquetFile(part) as file:
            _check_columns(part, file.schema_arrow, _schema(observation_size))
            for number in range(file.num_row_groups):
                yield _rows(file.read_row_group(number, use_threads=False), observation_size)
    except OSError as error:
        raise InvalidFileError(part, f"cannot be read: {error.strerror or 'it is broken'}; {REMEDY}") from error
    except pa.ArrowInvalid as error:
        raise InvalidFileError(part, f"{' '.join(str(error).split())}; {REMEDY}") from error


def _check_columns(path: Path, schema: pa.Schema, expected: pa.Schema) -> None:
    if missing := [name for name in expected.names if name not in schema.names]:
        raise InvalidFileError(path, f"column {missing[0]} is missing; {REMEDY}")
    if not schema.equals(expected):
        raise InvalidFileError(path, f"its columns are not {', '.join(expected.names)}; is it another game's?")


def _rows(table: pa.Table, observation_size: int) -> Rows:
    bits = np.concatenate([_packed(chunk) for chunk in table.column("observation").chunks])
    observations = np.unpackbits(bits, axis=1, count=observation_size)
    match, ply, targets = (table.column(name).to_numpy() for name in ("match", "ply", "target"))
    return Rows(match, ply, observations, targets)


def _packed(column: pa.FixedSizeBinaryArray) -> NDArray[np.uint8]:
    width = column.type.byte_width
    rows = np.frombuffer(column.buffers()[1], dtype=np.uint8).reshape(-1, width)
    return rows[column.offset : column.offset + len(column)]
