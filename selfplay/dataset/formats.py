"""The formats of datasets, chosen by the setting `dataset.format` (`selfplay.settings.choices.DATASET_FORMATS`).

Settings and skipped stages ask for the attributes of a format, so pyarrow is imported when rows are read or written.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from selfplay.dataset.csv_file import CsvWriter
    from selfplay.dataset.parquet import ParquetRowGroups, PartsWriter
    from selfplay.dataset.rows import Rows
    from selfplay.games.observation_codec import ObservationCodec


class Csv:
    """dataset.csv: one text file, which any program can read."""

    suffix = ".csv"
    """The end of the name of a dataset, with the dot."""
    has_parts = False
    """Whether each shard has a file of its own, and rows can be read in groups."""

    def encode(self, parts: "Iterable[Rows]", codec: "ObservationCodec") -> tuple[bytes, int]:
        """The rows of a shard, one part after the other, as bytes for the writer, and the number of rows."""
        from selfplay.dataset.csv_file import encode_csv

        return encode_csv(parts, codec)

    def written(
        self, path: Path, observation_size: int, record: Mapping[str, Any], num_actions: int = 0
    ) -> "AbstractContextManager[CsvWriter | PartsWriter]":
        """The writer of the dataset at `path`, which gets its name when it is complete at the end of the block.

        Args:
            record: everything that the rows depend on. The complete files of an interrupted run with the same record
                may be kept and reused.
            num_actions: the length of the rows' policies; 0 if they have none.

        Raises StageError if a file cannot be written.
        """
        from selfplay.dataset.csv_file import csv_written

        return csv_written(path, observation_size, num_actions)

    def read(self, path: Path, codec: "ObservationCodec") -> "Iterator[Rows]":
        """The rows of the dataset at `path`, in one or more parts, with every value checked.

        Raises InvalidFileError if it is missing, empty or cut off, a column is missing or foreign, or a value is out of
        range; the message says which.
        """
        from selfplay.dataset.csv_file import read_csv

        return read_csv(path, codec)


class Parquet(Csv):
    """dataset.parquet: a folder with a file for each shard, a twentieth to a fortieth of the size of dataset.csv."""

    suffix, has_parts = ".parquet", True

    def encode(self, parts: "Iterable[Rows]", codec: "ObservationCodec") -> tuple[bytes, int]:
        from selfplay.dataset.parquet import encode_parquet

        return encode_parquet(parts, codec)

    def written(
        self, path: Path, observation_size: int, record: Mapping[str, Any], num_actions: int = 0
    ) -> "AbstractContextManager[CsvWriter | PartsWriter]":
        from selfplay.dataset.parquet import parts_written

        return parts_written(path, record)

    def read(self, path: Path, codec: "ObservationCodec") -> "Iterator[Rows]":
        groups = self.row_groups(path, codec)
        return (groups.read(group) for group, size in enumerate(groups.sizes) if size)

    def row_groups(self, path: Path, codec: "ObservationCodec") -> "ParquetRowGroups":
        """The groups of rows of the dataset at `path`. Raises InvalidFileError as `read`."""
        from selfplay.dataset.parquet import ParquetRowGroups

        return ParquetRowGroups(path, codec)


CSV, PARQUET = Csv(), Parquet()
