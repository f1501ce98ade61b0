"""dataset.parquet: a folder with one file for each shard of matches, 20 to 40 times smaller than dataset.csv.

Observations are packed, one bit for each entry, in row groups of one size.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from selfplay.dataset.rows import (
    NUMBERS,
    OBSERVATION,
    POLICY,
    POSITION,
    DatasetColumn,
    RowOrder,
    Rows,
    actions_of,
    arrow_table,
    as_numpy,
    bytes_as_numpy,
    check_numbers,
    concatenate,
    first_wrong_column,
    lists_as_numpy,
    parquet_schema,
    positions_checked,
    stored_words,
)
from selfplay.errors import InvalidFileError
from selfplay.files import open_file, remove_folder, sha256, written_whole
from selfplay.games.observation_codec import ObservationCodec

GROUP_SIZE = 65536
"""Rows in a row group, however many rows are passed at a time, because batching must not change the bytes."""


MAGIC = b"PAR1"
"""How a Parquet file begins."""


def part_name(shard: int) -> str:
    """The name of the file of a shard."""
    return f"part-{shard:05d}.parquet"


def is_parquet(path: Path) -> bool:
    """Whether there is a folder, or a single file in the format Parquet."""
    return path.is_dir() or _is_parquet_file(path)


def _is_parquet_file(path: Path) -> bool:
    if not path.is_file():
        return False
    with open_file(path) as file:
        return file.read(len(MAGIC)) == MAGIC


def parquet_parts(path: Path) -> list[Path]:
    """The files of the dataset at `path`, in order: those of the folder, or the one file that it is.

    Raises InvalidFileError if there are none, or one is missing.
    """
    if _is_parquet_file(path):
        return [path]
    # Sorted by number: from part 100,000 on, numbers have more than five digits.
    parts = sorted(path.glob("part-*.parquet"), key=lambda part: (len(part.name), part.name)) if path.is_dir() else []
    if not parts:
        raise InvalidFileError(path, "is neither a Parquet file nor a folder with part-00000.parquet in it")
    for number, part in enumerate(parts):
        if part.name != part_name(number):
            raise InvalidFileError(path / part_name(number), f"is missing; there is {part.name}")
    return parts


@contextmanager
def parquet_writer(path: Path, record: Mapping[str, Any]) -> Iterator["PartsWriter"]:
    """As `DatasetFormat.written`; if the block fails, the complete files are kept for the next run."""
    writer = PartsWriter(path, record)
    yield writer
    writer.finish()


class PartsWriter:
    """Writes a file for each shard into a folder beside the dataset."""

    def __init__(self, path: Path, record: Mapping[str, Any]) -> None:
        self._path, self._beside = path, path.with_name(f".{path.name}.partial")
        self._record, self._digests = self._beside / "record.json", self._beside / "digests.txt"
        content = json.dumps(record, sort_keys=True).encode()
        has_links = any(path.is_symlink() for path in (self._beside, self._digests))
        if has_links or not self._record.is_file() or self._record.read_bytes() != content:
            remove_folder(self._beside)
            with written_whole(self._record) as beside:
                beside.write_bytes(content)
        self.remarks = dict[int, Sequence[Any]]()
        self.written = dict(self._complete_parts())

    def add(self, shard: int, content: bytes, remarks: Sequence[Any] = ()) -> None:
        name = part_name(shard)
        with written_whole(self._beside / name) as beside:
            beside.write_bytes(content)
            # A line begins anew, because the one before may have been cut off.
            with self._digests.open("ab") as digests:
                digests.write(f"\n{sha256(beside)}  {name}  {json.dumps(list(remarks))}\n".encode())

    def finish(self) -> None:
        """Rename the folder to that of the dataset."""
        self._record.unlink()
        self._digests.unlink(missing_ok=True)
        remove_folder(self._path)
        self._beside.replace(self._path)

    def _complete_parts(self) -> Iterator[tuple[int, int]]:
        """The numbers of the shards whose files are as they were written, and their rows; all others are deleted."""
        lines = self._digests.read_text(errors="replace").splitlines() if self._digests.is_file() else []
        said = {line.partition("  [")[0]: line for line in lines if line}
        for path in sorted(self._beside.iterdir()):
            name = f"{sha256(path)}  {path.name}" if path.is_file() else ""
            if name in said:
                shard = int(path.stem.removeprefix("part-"))
                self.remarks[shard] = json.loads(said[name].removeprefix(name) or "[]")
                yield shard, int(pq.read_metadata(path).num_rows)
            elif path not in (self._record, self._digests):
                remove_folder(path)


def encode_parquet(parts: Iterable[Rows], codec: ObservationCodec) -> tuple[bytes, int]:
    """The rows of `parts`, one after the other, as the bytes of a Parquet file, and the number of rows."""
    num_actions, parts = actions_of(parts)
    schema, number, file = parquet_schema(codec, num_actions), 0, BytesIO()
    with pq.ParquetWriter(
        file,
        schema,
        compression="zstd",
        use_dictionary=False,
        write_statistics=False,
        use_byte_stream_split=[OBSERVATION.name],
    ) as writer:
        for rows in _groups(parts):
            special: dict[DatasetColumn, Iterable[NDArray[Any]]] = {
                OBSERVATION: [codec.pack(rows.position)],
                POSITION: [rows.position] if stored_words(codec) else [],
                POLICY: [] if rows.policy is None else [rows.policy],
            }
            writer.write_table(arrow_table(rows, schema, special), row_group_size=max(1, len(rows.match)))
            number += len(rows.match)
    return file.getvalue(), number


def _groups(parts: Iterable[Rows]) -> Iterator[Rows]:
    """The same rows in groups of equal size, except for a smaller last one."""
    waiting: list[Rows] = []
    for rows in parts:
        waiting.append(rows)
        if sum(len(part.match) for part in waiting) < GROUP_SIZE:
            continue
        together = concatenate(waiting)
        whole = len(together.match) - len(together.match) % GROUP_SIZE
        for start in range(0, whole, GROUP_SIZE):
            yield together.select(slice(start, start + GROUP_SIZE))
        waiting = [together.select(slice(whole, None))]
    if waiting and len((rest := concatenate(waiting)).match):
        yield rest


def read_parquet(path: Path, codec: ObservationCodec) -> Iterator[Rows]:
    """As `DatasetFormat.read`, a row group at a time."""
    parts = {part: _checked_metadata(part, codec) for part in parquet_parts(path)}
    if not sum(metadata.num_rows for metadata in parts.values()):
        raise InvalidFileError(path, "holds no rows")
    order = RowOrder()
    return (rows for part, metadata in parts.items() for rows in _groups_of(part, metadata, codec, order))


def _checked_metadata(part: Path, codec: ObservationCodec) -> pq.FileMetaData:
    """The metadata of a file. Raises InvalidFileError if it is missing or broken, or has other columns."""
    open_file(part).close()
    with _naming(part), pq.ParquetFile(part) as file:
        schema, metadata = file.schema_arrow, file.metadata
    _check_columns(part, schema, parquet_schema(codec, _actions_in(schema)))
    return metadata


def _groups_of(part: Path, metadata: pq.FileMetaData, codec: ObservationCodec, order: RowOrder) -> Iterator[Rows]:
    """The rows of each group of a file that has some, checked. Raises InvalidFileError."""
    before = 0
    for number in range(metadata.num_row_groups):
        if metadata.row_group(number).num_rows == 0:
            continue
        with _naming(part), pq.ParquetFile(part, metadata=metadata) as file:
            table = file.read_row_group(number, use_threads=False)
        with _naming(part):
            _check_filled(part, table, before)
            numbers = {column.name: as_numpy(table.column(column.name)) for column in NUMBERS}
        stored, policy = (_matrix(table, name) for name in (POSITION.name, POLICY.name))
        packed = bytes_as_numpy(table.column(OBSERVATION.name))
        position = positions_checked(part, codec, packed, stored, before)
        rows = check_numbers(part, Rows(position=position, policy=policy, **numbers), before)
        order.check(part, rows, before)
        yield rows
        before += len(table)


def _matrix(table: pa.Table, name: str) -> NDArray[Any] | None:
    """A column of lists as a matrix; None if the table does not have it."""
    return lists_as_numpy(table.column(name)) if name in table.column_names else None


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Turn errors while reading `path` into an InvalidFileError that names it."""
    try:
        yield
    except OSError as error:
        raise InvalidFileError(path, f"cannot be read: {error.strerror or 'it is broken'}") from error
    except pa.ArrowMemoryError:
        raise
    except pa.ArrowException as error:
        raise InvalidFileError(path, " ".join(str(error).split())) from error


def _check_filled(path: Path, table: pa.Table, rows_before: int) -> None:
    """Raise InvalidFileError, with the first row, if a field is empty."""
    for name in table.column_names:
        if table.column(name).null_count:
            row = table.column(name).is_null().to_pylist().index(True)
            raise InvalidFileError(path, f"column {name} of row {rows_before + row + 1} is empty")


def _actions_in(schema: pa.Schema) -> int:
    """The number of actions in the policies of a file with this schema; 0 if it has none."""
    if POLICY.name not in schema.names or not pa.types.is_fixed_size_list(kind := schema.field(POLICY.name).type):
        return 0
    return int(kind.list_size)


def _check_columns(path: Path, schema: pa.Schema, expected: pa.Schema) -> None:
    """Raise InvalidFileError, naming the first wrong column, unless the columns of a file are the expected ones."""
    if schema.equals(expected):
        return
    found, wanted = ([f"{field.name} ({field.type})" for field in fields] for fields in (schema, expected))
    raise InvalidFileError(path, f"{first_wrong_column(found, wanted)}; its columns must be {', '.join(wanted)}")
