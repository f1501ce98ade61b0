"""dataset.csv: one text file with all rows, which any program can read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from itertools import takewhile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import torch
from numpy.typing import NDArray

from selfplay.dataset.rows import (
    NUMBERS,
    OBSERVATION,
    POLICY,
    POSITION,
    DatasetColumn,
    RowOrder,
    Rows,
    action_names,
    actions_of,
    arrow_table,
    as_numpy,
    check_column,
    check_numbers,
    column_named,
    csv_schema,
    entry_columns,
    first_wrong_column,
    positions_checked,
    stored_words,
    word_names,
)
from selfplay.errors import InvalidFileError, shortened
from selfplay.files import open_file, written_whole
from selfplay.games.observation_codec import ObservationCodec

WRITTEN_ROWS = 16384
"""Rows that Arrow writes at a time; nearly twice as fast as with its default of 1,024."""


@contextmanager
def csv_writer(path: Path, record: Mapping[str, Any]) -> Iterator["CsvWriter"]:
    """As `DatasetFormat.written`; if the block fails, the file is deleted."""
    with written_whole(path) as beside, beside.open("wb") as file:
        yield CsvWriter(file)


class CsvWriter:
    """Writes all shards into one file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.written, self.remarks = dict[int, int](), dict[int, Sequence[Any]]()

    def add(self, shard: int, content: bytes, remarks: Sequence[Any] = ()) -> None:
        header = content.index(b"\n") + 1 if self._file.tell() else 0
        self._file.write(memoryview(content)[header:])


def encode_csv(parts: Iterable[Rows], codec: ObservationCodec) -> tuple[bytes, int]:
    """The rows of `parts`, one after the other, as lines below a header, and the number of rows."""
    num_actions, parts = actions_of(parts)
    schema, number, file = csv_schema(codec, num_actions), 0, BytesIO()
    file.write((",".join(schema.names) + "\n").encode())
    options = pa_csv.WriteOptions(include_header=False, batch_size=WRITTEN_ROWS)
    with pa_csv.CSVWriter(file, schema, write_options=options) as writer:
        for rows in parts:
            special: dict[DatasetColumn, Iterable[NDArray[Any]]] = {
                OBSERVATION: _entries_of(rows, codec),
                POSITION: rows.position[:, : stored_words(codec)].T,
                POLICY: () if rows.policy is None else np.ascontiguousarray(rows.policy.T),
            }
            writer.write_table(arrow_table(rows, schema, special))
            number += len(rows.match)
    return file.getvalue(), number


def read_csv(path: Path, codec: ObservationCodec) -> Iterator[Rows]:
    """As `DatasetFormat.read`, in one part."""
    num_actions = _check_form(path, csv_schema(codec).names)
    schema = csv_schema(codec, num_actions)
    convert = pa_csv.ConvertOptions(column_types=schema, strings_can_be_null=False, null_values=[])
    try:
        table = pa_csv.read_csv(path, convert_options=convert)
    except pa.ArrowInvalid as error:
        raise InvalidFileError(path, _first_problem(path, schema, codec) or " ".join(str(error).split())) from error
    numbers = {column.name: as_numpy(table.column(column.name)) for column in NUMBERS}
    packed = _packed_entries(path, table, codec)
    words, policy = (_matrix(table, names) for names in (word_names(stored_words(codec)), action_names(num_actions)))
    position = positions_checked(path, codec, packed, words)
    rows = check_numbers(path, Rows(position=position, policy=policy, **numbers))
    RowOrder().check(path, rows)
    yield rows


def _entries_of(rows: Rows, codec: ObservationCodec) -> list[NDArray[Any]]:
    """The columns of the observations of these rows, in the types of `csv_schema`."""
    entries = codec.entries
    packed = codec.pack(rows.position)
    if entries.are_bits:
        return list(np.unpackbits(np.ascontiguousarray(packed.T), axis=0, count=entries.size))
    numbers = entries.numbers(entries.unpacked(torch.from_numpy(packed))).numpy()
    return [values.astype(column.dtype) for column, values in zip(entry_columns(codec), numbers.T, strict=True)]


def _packed_entries(path: Path, table: pa.Table, codec: ObservationCodec) -> NDArray[np.uint8]:
    """The packed observations in a table. Raises InvalidFileError if a value is out of range."""
    columns, entries = entry_columns(codec), codec.entries
    values = np.empty((entries.size, len(table)), dtype=np.uint8 if entries.are_bits else np.int64)
    for entry, column in enumerate(columns):
        values[entry] = as_numpy(table.column(column.name))
        check_column(path, column, values[entry])
    bits = values if entries.are_bits else entries.bits(values.T).T
    return np.ascontiguousarray(np.packbits(bits, axis=0).T)


def _matrix(table: pa.Table, names: list[str]) -> NDArray[Any] | None:
    """Columns of a table as those of a matrix; None without columns."""
    return np.stack([as_numpy(table.column(name)) for name in names], axis=1) if names else None


def _first_problem(path: Path, schema: pa.Schema, codec: ObservationCodec) -> str | None:
    """The first row with another number of fields, or the first field that is not a number of its column's type."""
    as_text = pa_csv.ConvertOptions(column_types={name: pa.string() for name in schema.names})
    try:
        # In one thread, the message about a row has its number.
        one_thread = pa_csv.ReadOptions(use_threads=False)
        table = pa_csv.read_csv(path, read_options=one_thread, convert_options=as_text)
    except pa.ArrowInvalid as error:
        return " ".join(str(error).split())
    for column in schema:
        form = "as a whole number" if pa.types.is_integer(column.type) else "with a point, not a comma"
        allowed = column_named(column.name, codec).allowed
        for row, text in enumerate(table.column(column.name).to_pylist(), 1):
            if not _is_of_type(text, column.type):
                found = shortened(repr(text))
                return f"column {column.name} of row {row} is {found}; it must be {allowed}, written {form}"
    return None


def _is_of_type(text: str, kind: pa.DataType) -> bool:
    try:
        pa.array([text.strip()]).cast(kind)
    except pa.ArrowInvalid:
        return False
    return True


def _check_form(path: Path, names: list[str]) -> int:
    """The number of columns of the policy, which follow those with these names.

    Raises InvalidFileError unless the file has this header, a row, and a line feed at its end.
    """
    with open_file(path) as file:
        line, more = file.readline(), file.read(1)
        file.seek(-1 if more else 0, 2)
        last = file.read(1)
    try:
        # Spreadsheets put a byte-order mark before the text.
        text = line.decode("utf-8-sig").rstrip("\r\n").replace('"', "")
    except UnicodeDecodeError as error:
        raise InvalidFileError(path, "is not UTF-8 text") from error
    header = text.split(",")
    if not more:
        raise InvalidFileError(path, "holds no rows")
    if separators := [sign for sign in (";", "\t") if text.split(sign)[: len(names)] == names]:
        reason = f"has {separators[0]!r} between its columns; write it with commas, and numbers with a point"
        raise InvalidFileError(path, reason)
    policy = action_names(len(header) - len(names))
    num_actions = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(header[len(names) :], policy, strict=False))
    )
    expected = [*names, *policy[:num_actions]]
    if header != expected:
        columns = ",".join([*names[:3], "...", *names[-2:]])
        raise InvalidFileError(path, f"{first_wrong_column(header, expected)}; its first line must be {columns}")
    if last != b"\n":
        raise InvalidFileError(path, "has no line feed at its end; its last row may be cut off")
    return num_actions
