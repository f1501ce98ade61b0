"""Reading datasets of either format, with every value checked."""

from collections.abc import Iterator
from pathlib import Path

from selfplay.dataset.csv_file import read_csv
from selfplay.dataset.parquet import RowGroups
from selfplay.dataset.rows import Rows, concatenate
from selfplay.games.observation_codec import ObservationCodec


def read_dataset(path: Path, codec: ObservationCodec) -> Rows:
    """The rows of the dataset at `path`: a file dataset.csv, or a folder dataset.parquet.

    Args:
        codec: the codec of the game, `Game.observation_codec`.

    Raises:
        InvalidFileError: the file is missing, empty or cut off, a column is missing or foreign, or a value is out of
            range; the message says which.
    """
    return concatenate(list(read_parts(path, codec)))


def read_parts(path: Path, codec: ObservationCodec) -> Iterator[Rows]:
    """As `read_dataset`, but in parts: the row groups of Parquet, or all rows of CSV at once."""
    if path.suffix != ".parquet":
        yield read_csv(path, codec)
        return
    groups = RowGroups(path, codec)
    for group, size in enumerate(groups.sizes):
        if size:
            yield groups.read(group)
