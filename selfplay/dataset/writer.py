"""How the rows of a level come onto the disk: shard after shard, and the dataset takes its name when it is whole."""

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from selfplay.dataset.files import csv_header
from selfplay.dataset.parquet import part_name
from selfplay.runs.written_files import written_whole


class DatasetWriter(Protocol):
    """Takes the shards of a dataset, in order."""

    there: dict[int, int]
    """The shards that are on the disk already, with the number of their rows: nobody need play them again."""

    def add(self, shard: int, content: bytes) -> None:
        """Write what `selfplay.dataset.files.encode_rows` made of a shard. Raises OSError or StageError."""


@contextmanager
def dataset_written(path: Path, observation_size: int, record: Mapping[str, Any]) -> Iterator[DatasetWriter]:
    """The writer of the dataset at `path`, which stands there whole when the block ends.

    dataset.csv is written beside itself, and goes when the block fails. The files of dataset.parquet stay beside it
    then, and those that are whole are taken over by the next run with the same `record`.

    Args:
        record: what the rows depend on.

    Raises StageError if something cannot be written.
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
    """All shards in one file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.there: dict[int, int] = {}

    def add(self, shard: int, content: bytes) -> None:
        self._file.write(content)


class PartsWriter:
    """A file for each shard, in a folder."""

    def __init__(self, path: Path, record: Mapping[str, Any]) -> None:
        self._path, self._beside = path, path.with_name(f".{path.name}.partial")
        self._record = self._beside / "record.json"
        text = json.dumps(record, sort_keys=True)
        if not (self._record.exists() and self._record.read_text() == text):
            shutil.rmtree(self._beside, ignore_errors=True)
            with written_whole(self._record) as beside:
                beside.write_text(text)
        self.there = dict(_whole_parts(self._beside))

    def add(self, shard: int, content: bytes) -> None:
        with written_whole(self._beside / part_name(shard)) as beside:
            beside.write_bytes(content)

    def finish(self) -> None:
        """Give the folder its name."""
        self._record.unlink()
        if self._path.exists():
            shutil.rmtree(self._path)
        self._beside.replace(self._path)


def _whole_parts(folder: Path) -> Iterator[tuple[int, int]]:
    """The numbers and rows of the files of shards in a folder."""
    for path in sorted(folder.glob("part-*.parquet")):
        with suppress(OSError, pa.ArrowInvalid, ValueError):
            yield int(path.stem.removeprefix("part-")), pq.read_metadata(path).num_rows
