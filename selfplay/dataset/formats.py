"""The formats of datasets.

A format is chosen by name (the setting `dataset.format`, `selfplay.settings.choices.DATASET_FORMATS`). To add one,
write a subclass of `DatasetFormat` anywhere and set `dataset.format=my_module:MY_FORMAT`, an instance of it, or offer
the instance as an entry point in the group `selfplay.dataset_formats`.

Settings and skipped stages ask for the attributes of a format, so pyarrow is imported when rows are read or written.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from selfplay.dataset.rows import Rows
    from selfplay.games.observation_codec import ObservationCodec


class RowGroups(Protocol):
    """The groups of rows of a dataset."""

    sizes: list[int]
    """Rows in each group."""

    def read(self, group: int, *, with_observations: bool = True) -> "Rows":
        """The rows of a group, checked; without observations, their words are 0. Raises InvalidFileError."""


class DatasetWriter(Protocol):
    """Writes the shards of a dataset, in order."""

    written: dict[int, int]
    """The shards that an earlier, interrupted run has written, with their numbers of rows."""

    def add(self, shard: int, content: bytes) -> None:
        """Write a shard as encoded by `DatasetFormat.encode`. Raises OSError or StageError."""


class DatasetFormat(ABC):
    """How the rows of a level's matches are stored."""

    suffix: str
    """The end of the name of a dataset, with the dot."""
    has_parts: bool = False
    """Whether each shard has a file of its own, and rows can be read in groups (`row_groups`)."""

    @abstractmethod
    def encode(self, parts: "Iterable[Rows]", codec: "ObservationCodec") -> tuple[bytes, int]:
        """The rows of a shard, one part after the other, as bytes for `DatasetWriter.add`, and the number of rows."""

    @abstractmethod
    def written(
        self, path: Path, observation_size: int, record: Mapping[str, Any], num_actions: int = 0
    ) -> AbstractContextManager[DatasetWriter]:
        """The writer of the dataset at `path`, which gets its name when it is complete at the end of the block.

        Args:
            record: everything that the rows depend on. The complete files of an interrupted run with the same record
                may be kept and reused.
            num_actions: the length of the rows' policies; 0 if they have none.

        Raises StageError if a file cannot be written.
        """

    @abstractmethod
    def read(self, path: Path, codec: "ObservationCodec") -> "Iterator[Rows]":
        """The rows of the dataset at `path`, in one or more parts, with every value checked.

        Raises InvalidFileError if it is missing, empty or cut off, a column is missing or foreign, or a value is out of
        range; the message says which.
        """

    def row_groups(self, path: Path, codec: "ObservationCodec") -> RowGroups:
        """The groups of rows of the dataset at `path`, if `has_parts`. Raises InvalidFileError as `read`."""
        raise NotImplementedError


class Csv(DatasetFormat):
    """dataset.csv: one text file, which any program can read."""

    suffix = ".csv"

    def encode(self, parts: "Iterable[Rows]", codec: "ObservationCodec") -> tuple[bytes, int]:
        """As `DatasetFormat.encode`; without a header, which is written once."""
        from selfplay.dataset.csv_file import encode_csv

        return encode_csv(parts, codec)

    def written(
        self, path: Path, observation_size: int, record: Mapping[str, Any], num_actions: int = 0
    ) -> AbstractContextManager[DatasetWriter]:
        from selfplay.dataset.csv_file import csv_written

        return csv_written(path, observation_size, num_actions)

    def read(self, path: Path, codec: "ObservationCodec") -> "Iterator[Rows]":
        from selfplay.dataset.csv_file import read_csv

        return read_csv(path, codec)


class Parquet(DatasetFormat):
    """dataset.parquet: a folder with a file for each shard, a twentieth to a fortieth of the size of dataset.csv."""

    suffix = ".parquet"
    has_parts = True

    def encode(self, parts: "Iterable[Rows]", codec: "ObservationCodec") -> tuple[bytes, int]:
        from selfplay.dataset.parquet import encode_parquet

        return encode_parquet(parts, codec)

    def written(
        self, path: Path, observation_size: int, record: Mapping[str, Any], num_actions: int = 0
    ) -> AbstractContextManager[DatasetWriter]:
        from selfplay.dataset.parquet import parts_written

        return parts_written(path, record)

    def read(self, path: Path, codec: "ObservationCodec") -> "Iterator[Rows]":
        groups = self.row_groups(path, codec)
        return (groups.read(group) for group, size in enumerate(groups.sizes) if size)

    def row_groups(self, path: Path, codec: "ObservationCodec") -> RowGroups:
        from selfplay.dataset.parquet import ParquetRowGroups

        return ParquetRowGroups(path, codec)


CSV, PARQUET = Csv(), Parquet()
