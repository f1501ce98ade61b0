"""dataset.csv: one text file with all rows, which any program can read."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from itertools import takewhile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from selfplay.dataset.rows import (
    NUMBERS,
    OBSERVATION,
    Rows,
    action_names,
    actions_of,
    as_arrow,
    as_numpy,
    check_column,
    check_numbers,
    column_named,
    columns_of,
    csv_schema,
    entry_names,
    first_wrong_column,
    unpack_checked,
)
from selfplay.errors import InvalidFileError, shortened
from selfplay.files import open_file, written_whole
from selfplay.games.observation_codec import ObservationCodec

WRITTEN_ROWS = 16384
"""Rows that Arrow writes at a time; nearly twice as fast as with its default of 1,024."""


@contextmanager
def written(
    path: Path, observation_size: int, record: Mapping[str, Any], num_actions: int = 0
) -> Iterator["CsvWriter"]:
    """As `DatasetFormat.written`; if the block fails, the file is deleted."""
    with written_whole(path) as beside, beside.open("wb") as file:
        file.write((",".join(csv_schema(observation_size, num_actions).names) + "\n").encode())
        yield CsvWriter(file)


class CsvWriter:
    """Writes all shards into one file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.written: dict[int, int] = {}

    def add(self, shard: int, content: bytes) -> None:
        self._file.write(content)


def encode(parts: Iterable[Rows], codec: ObservationCodec) -> tuple[bytes, int]:
    """The rows of `parts`, one after the other, as lines without a header, and the number of rows."""
    num_actions, parts = actions_of(parts)
    schema, number, file = csv_schema(codec.size, num_actions), 0, BytesIO()
    options = pa_csv.WriteOptions(include_header=False, batch_size=WRITTEN_ROWS)
    with pa_csv.CSVWriter(file, schema, write_options=options) as writer:
        for rows in parts:
            packed = np.ascontiguousarray(codec.pack(rows.own, rows.opp).T)
            columns = columns_of(rows, np.unpackbits(packed, axis=0, count=codec.size))
            if rows.policy is not None:
                columns += [*np.ascontiguousarray(rows.policy.T)]
            arrays = [as_arrow(*pair) for pair in zip(columns, schema.types, strict=True)]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
            number += len(rows.match)
    return file.getvalue(), number


def read(path: Path, codec: ObservationCodec) -> Iterator[Rows]:
    """As `DatasetFormat.read`, in one part."""
    num_actions = _check_form(path, csv_schema(codec.size).names)
    schema = csv_schema(codec.size, num_actions)
    convert = pa_csv.ConvertOptions(column_types=schema, strings_can_be_null=False, null_values=[])
    try:
        table = pa_csv.read_csv(path, convert_options=convert)
    except pa.ArrowInvalid as error:
        raise InvalidFileError(path, _first_problem(path, schema) or " ".join(str(error).split())) from error
    numbers = {column.name: as_numpy(table.column(column.name)) for column in NUMBERS}
    entries = np.empty((codec.size, len(table)), dtype=np.uint8)
    for entry, name in enumerate(entry_names(codec.size)):
        entries[entry] = as_numpy(table.column(name))
        check_column(path, OBSERVATION, entries[entry], name=name)
    packed = np.ascontiguousarray(np.packbits(entries, axis=0).T)
    own, opp = unpack_checked(path, codec, packed)
    probabilities = [as_numpy(table.column(name)) for name in action_names(num_actions)]
    policy = np.stack(probabilities, axis=1) if probabilities else None
    yield check_numbers(path, Rows(own=own, opp=opp, policy=policy, **numbers))


def _first_problem(path: Path, schema: pa.Schema) -> str | None:
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
        allowed = column_named(column.name).allowed
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
