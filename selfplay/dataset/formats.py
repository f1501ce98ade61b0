"""The formats of datasets, by name."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from selfplay.dataset import csv_file, parquet
from selfplay.dataset.rows import Rows
from selfplay.games.observation_codec import ObservationCodec
from selfplay.registry import Registry


class DatasetWriter(Protocol):
    """Writes the shards of a dataset."""

    written: dict[int, int]
    """The numbers of the shards that an interrupted run has written, and their numbers of rows."""
    remarks: dict[int, Sequence[Any]]
    """The remarks with which these shards were added."""

    def add(self, shard: int, content: bytes, remarks: Sequence[Any] = ()) -> None:
        """Write the rows of a shard, as `DatasetFormat.encode` returns them.

        `remarks`: values of JSON, which are kept until the dataset is complete.
        """


class DatasetFormat(NamedTuple):
    """How a level's rows are stored."""

    suffix: str
    """The end of the name of a dataset, with the dot."""
    has_parts: bool
    """Whether each shard has a file of its own."""
    encode: Callable[[Iterable[Rows], ObservationCodec], tuple[bytes, int]]
    """(parts, codec): the rows of a shard, one part after the other, as bytes for the writer, and their number."""
    written: Callable[[Path, Mapping[str, Any]], AbstractContextManager[DatasetWriter]]
    """(path, record): the writer of the dataset at `path`, which gets this name at the
    end of the block, when it is complete.

    record: everything that the rows depend on. The complete files of an interrupted run with the same record may be
    kept and reused.

    Raises StageError if a file cannot be written.
    """
    read: Callable[[Path, ObservationCodec], Iterator[Rows]]
    """(path, codec): the rows of the dataset at `path`, in one or more parts, with every value checked.

    Raises InvalidFileError if it is missing, empty or cut off, a column is missing or foreign, or a value is out of
    range; the message says which.
    """


CSV = DatasetFormat(".csv", False, csv_file.encode_csv, csv_file.csv_writer, csv_file.read_csv)
"""One text file, which any program can read."""
PARQUET = DatasetFormat(".parquet", True, parquet.encode_parquet, parquet.parquet_writer, parquet.read_parquet)
"""A folder with a file for each shard, a twentieth to a fortieth of the size of dataset.csv."""


def format_of(path: Path, usual: DatasetFormat) -> DatasetFormat:
    """The format of the dataset at `path`: the usual one, unless that has parts and there is a text file, or the
    reverse.
    """
    is_in_parts = parquet.is_parquet(path)
    if is_in_parts == usual.has_parts:
        return usual
    return PARQUET if is_in_parts else CSV


DATASET_FORMATS: Registry[Any] = Registry(
    "dataset format",
    {"csv": "selfplay.dataset.formats:CSV", "parquet": "selfplay.dataset.formats:PARQUET"},
    group="selfplay.dataset_formats",
    attributes=("suffix", "has_parts"),
)
"""How a level's rows are stored: each is a `DatasetFormat`."""
