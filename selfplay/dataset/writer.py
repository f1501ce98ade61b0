"""Writing datasets of either format shard by shard; a dataset gets its final name when it is complete."""

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from selfplay.dataset.csv_file import csv_header, encode_csv
from selfplay.dataset.parquet import encode_parquet, part_name
from selfplay.dataset.rows import Rows
from selfplay.games.observation_codec import ObservationCodec
from selfplay.runs.written_files import written_whole


def encode_rows(parts: Iterable[Rows], form: str, codec: ObservationCodec) -> tuple[bytes, int]:
    """The rows of a shard, one part after the other, as bytes of the format csv or parquet, and the number of rows.

    The bytes of csv have no header: `csv_header` followed by those of all shards is the file.
    """
    return (encode_parquet if form == "parquet" else encode_csv)(parts, codec)


class DatasetWriter(Protocol):
    """Writes the shards of a dataset, in order."""

    written: dict[int, int]
    """The shards that an earlier, interrupted run has written, with their numbers of rows."""

    def add(self, shard: int, content: bytes) -> None:
        """Write a shard as encoded by `encode_rows`. Raises OSError or StageError."""


@contextmanager
def dataset_written(path: Path, observation_size: int, record: Mapping[str, Any]) -> Iterator[DatasetWriter]:
    """The writer of the dataset at `path`, which is complete when the block ends.

    If the block fails, an incomplete dataset.csv is deleted. The complete files of an incomplete dataset.parquet are
    kept and reused by the next run with the same `record`.

    Args:
        record: everything that the rows depend on.

    Raises StageError if a file cannot be written.
    """
    if path.suffix == ".parquet":
        writer = PartsWriter(path, record)
        yield writer
        writer.finish()
        return
    with written_whole(path) as beside, beside.open("wb") as file:
        file.write(csv_header(observation_size))
        yield CsvWriter(file)


class CsvWriter:
    """Writes all shards into one file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.written: dict[int, int] = {}

    def add(self, shard: int, content: bytes) -> None:
        self._file.write(content)


class PartsWriter:
    """Writes a file for each shard into a folder."""

    def __init__(self, path: Path, record: Mapping[str, Any]) -> None:
        self._path, self._beside = path, path.with_name(f".{path.name}.partial")
        self._record = self._beside / "record.json"
        text = json.dumps(record, sort_keys=True)
        if not (self._record.exists() and self._record.read_text() == text):
            shutil.rmtree(self._beside, ignore_errors=True)
            with written_whole(self._record) as beside:
                beside.write_text(text)
        self.written = dict(_complete_parts(self._beside))

    def add(self, shard: int, content: bytes) -> None:
        with written_whole(self._beside / part_name(shard)) as beside:
            beside.write_bytes(content)

    def finish(self) -> None:
        """Rename the folder to that of the dataset."""
        self._record.unlink()
        if self._path.exists():
            shutil.rmtree(self._path)
        self._beside.replace(self._path)


def _complete_parts(folder: Path) -> Iterator[tuple[int, int]]:
    """The numbers of the shards with a readable file in a folder, and their numbers of rows."""
    for path in sorted(folder.glob("part-*.parquet")):
        with suppress(OSError, pa.ArrowInvalid, ValueError):
            yield int(path.stem.removeprefix("part-")), pq.read_metadata(path).num_rows
