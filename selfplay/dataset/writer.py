"""Writing datasets shard by shard; a dataset gets its final name when it is complete."""

import hashlib
import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from selfplay.dataset.csv_file import csv_header
from selfplay.dataset.parquet import part_name
from selfplay.errors import InvalidFileError
from selfplay.files import MEGABYTE, opened_to_append, read_bytes, read_text, remove_folder, sha256, written_whole

DIGEST_LINE = re.compile(r"([0-9a-f]{64})  (part-[0-9]{5,9}\.parquet)")
LARGEST_LIST = 1024 * MEGABYTE


class DatasetWriter(Protocol):
    """Writes the shards of a dataset, in order."""

    written: dict[int, int]
    """The shards that an earlier, interrupted run has written, with their numbers of rows."""

    def add(self, shard: int, content: bytes) -> None:
        """Write a shard as encoded by `DatasetFormat.encode`. Raises OSError or StageError."""


@contextmanager
def csv_written(path: Path, observation_size: int, num_actions: int = 0) -> Iterator[DatasetWriter]:
    """The writer of dataset.csv at `path`. If the block fails, the incomplete file is deleted.

    `num_actions`: of the policies; 0 without policies.
    """
    with written_whole(path) as beside, beside.open("wb") as file:
        file.write(csv_header(observation_size, num_actions))
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
    """Writes a file for each shard into a folder, and records the SHA-256 of each in a list beside them."""

    def __init__(self, path: Path, record: Mapping[str, Any]) -> None:
        self._path, self._beside = path, path.with_name(f".{path.name}.partial")
        self._record, self._digests = self._beside / "record.json", self._beside / "parts.sha256"
        content = json.dumps(record, sort_keys=True).encode()
        if self._beside.is_symlink():
            self._beside.unlink()
        if not (self._record.exists() and _has_content(self._record, content)):
            shutil.rmtree(self._beside, ignore_errors=True)
            with written_whole(self._record) as beside:
                beside.write_bytes(content)
        self.written = dict(self._complete_parts())

    def add(self, shard: int, content: bytes) -> None:
        name = part_name(shard)
        with written_whole(self._beside / name) as beside:
            beside.write_bytes(content)
        # A part whose line is missing, because the process was killed here, is written again.
        with opened_to_append(self._digests) as file:
            file.write(f"{hashlib.sha256(content).hexdigest()}  {name}\n".encode())

    def finish(self) -> None:
        """Rename the folder to that of the dataset."""
        for path in (self._record, self._digests):
            path.unlink()
        remove_folder(self._path)
        self._beside.replace(self._path)

    def _complete_parts(self) -> Iterator[tuple[int, int]]:
        """The numbers of the shards whose files are as they were written, and their numbers of rows.

        All other files are deleted.
        """
        digests = self._recorded_digests()
        for path in sorted(self._beside.iterdir()):
            if path in (self._record, self._digests):
                continue
            if (
                path.is_file()
                and digests.get(path.name) == sha256(path)
                and (rows := _number_of_rows(path)) is not None
            ):
                yield int(path.stem.removeprefix("part-")), rows
            elif path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()

    def _recorded_digests(self) -> dict[str, str]:
        """The recorded SHA-256 of the parts by their names; a list that cannot be read or is a link is deleted."""
        if self._digests.is_symlink():
            self._digests.unlink()
        try:
            lines = read_text(self._digests, LARGEST_LIST).splitlines()
        except InvalidFileError:
            self._digests.unlink(missing_ok=True)
            return {}
        return {match[2]: match[1] for line in lines if (match := DIGEST_LINE.fullmatch(line))}


def _number_of_rows(path: Path) -> int | None:
    """The rows of a Parquet file; None if it is not one."""
    try:
        return int(pq.read_metadata(path).num_rows)
    except (OSError, pa.ArrowException):
        return None


def _has_content(path: Path, content: bytes) -> bool:
    try:
        return read_bytes(path, len(content)) == content
    except InvalidFileError:
        return False
