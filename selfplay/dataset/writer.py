"""Writing datasets shard by shard; a dataset gets its final name when it is complete."""

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from selfplay.dataset.csv_file import csv_header
from selfplay.dataset.parquet import part_name
from selfplay.runs.written_files import remove_folder, written_whole


class DatasetWriter(Protocol):
    """Writes the shards of a dataset, in order."""

    written: dict[int, int]
    """The shards that an earlier, interrupted run has written, with their numbers of rows."""

    def add(self, shard: int, content: bytes) -> None:
        """Write a shard as encoded by `DatasetFormat.encode`. Raises OSError or StageError."""


@contextmanager
def csv_written(path: Path, observation_size: int) -> Iterator[DatasetWriter]:
    """The writer of dataset.csv at `path`. If the block fails, the incomplete file is deleted."""
    with written_whole(path) as beside, beside.open("wb") as file:
        file.write(csv_header(observation_size))
        yield CsvWriter(file)


@contextmanager
def parts_written(path: Path, record: Mapping[str, Any]) -> Iterator[DatasetWriter]:
    """The writer of dataset.parquet at `path`.

    If the block fails, the complete files are kept and reused by the next run with the same `record`.
    """
    writer = PartsWriter(path, record)
    yield writer
    writer.finish()


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
        if self._beside.is_symlink():
            self._beside.unlink()
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
        remove_folder(self._path)
        self._beside.replace(self._path)


def _complete_parts(folder: Path) -> Iterator[tuple[int, int]]:
    """The numbers of the shards with a readable file in a folder, and their numbers of rows."""
    for path in sorted(folder.glob("part-*.parquet")):
        with suppress(OSError, pa.ArrowInvalid, ValueError):
            yield int(path.stem.removeprefix("part-")), pq.read_metadata(path).num_rows
