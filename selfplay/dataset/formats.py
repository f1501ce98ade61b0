"""The formats of datasets, chosen by the setting `dataset.format` (`selfplay.dataset.formats.DATASET_FORMATS`)."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from selfplay.registry import Registry

if TYPE_CHECKING:
    from selfplay.dataset.rows import Rows
    from selfplay.games.observation_codec import ObservationCodec


class DatasetWriter(Protocol):
    """Writes the shards of a dataset."""

    written: dict[int, int]
    """The numbers of the shards that an interrupted run has written, and their numbers of rows."""

    def add(self, shard: int, content: bytes) -> None:
        """Write the rows of a shard, as `DatasetFormat.encode` returns them."""


class DatasetFormat(NamedTuple):
    """How a level's rows are stored."""

    suffix: str
    """The end of the name of a dataset, with the dot."""
    has_parts: bool
    """Whether each shard has a file of its own, and rows can be read in groups."""
    module: str
    """Has the functions `encode`, `written` and `read`. It is imported when rows are read or written, because it
    imports pyarrow; settings and skipped stages ask only for the fields above."""

    def encode(self, parts: "Iterable[Rows]", codec: "ObservationCodec") -> tuple[bytes, int]:
        """The rows of a shard, one part after the other, as bytes for the writer, and the number of rows."""
        return cast(tuple[bytes, int], import_module(self.module).encode(parts, codec))

    def written(
        self, path: Path, observation_size: int, record: Mapping[str, Any], num_actions: int = 0
    ) -> AbstractContextManager[DatasetWriter]:
        """The writer of the dataset at `path`. The dataset gets this name at the end of the block, when it is complete.

        Args:
            record: everything that the rows depend on. The complete files of an interrupted run with the same record
                may be kept and reused.
            num_actions: the length of the rows' policies; 0 if they have none.

        Raises StageError if a file cannot be written.
        """
        written = import_module(self.module).written(path, observation_size, record, num_actions)
        return cast(AbstractContextManager[DatasetWriter], written)

    def read(self, path: Path, codec: "ObservationCodec") -> "Iterator[Rows]":
        """The rows of the dataset at `path`, in one or more parts, with every value checked.

        Raises InvalidFileError if it is missing, empty or cut off, a column is missing or foreign, or a value is out of
        range; the message says which.
        """
        return cast("Iterator[Rows]", import_module(self.module).read(path, codec))


CSV = DatasetFormat(".csv", has_parts=False, module="selfplay.dataset.csv_file")
"""One text file, which any program can read."""
PARQUET = DatasetFormat(".parquet", has_parts=True, module="selfplay.dataset.parquet")
"""A folder with a file for each shard, a twentieth to a fortieth of the size of dataset.csv."""

DATASET_FORMATS: Registry[Any] = Registry(
    "dataset format",
    {"csv": "selfplay.dataset.formats:CSV", "parquet": "selfplay.dataset.formats:PARQUET"},
    group="selfplay.dataset_formats",
    attributes=("suffix", "has_parts"),
)
"""The formats by name."""
