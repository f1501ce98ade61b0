"""Reading a dataset, whose format is known by its name, with every value checked."""

from pathlib import Path

from selfplay.dataset.formats import CSV, DatasetFormat
from selfplay.dataset.rows import Rows, concatenate
from selfplay.games.observation_codec import ObservationCodec
from selfplay.settings.choices import DATASET_FORMATS


def read_dataset(path: Path, codec: ObservationCodec) -> Rows:
    """The rows of the dataset at `path`: a file dataset.csv, or a folder dataset.parquet.

    Args:
        codec: the codec of the game, `Game.observation_codec`.

    Raises:
        InvalidFileError: the file is missing, empty or cut off, a column is missing or foreign, or a value is out of
            range; the message says which.
    """
    return concatenate(list(_format_of(path).read(path, codec)))


def _format_of(path: Path) -> DatasetFormat:
    """The registered format with the suffix of `path`; CSV if there is none."""
    return next((form for form in DATASET_FORMATS.values() if form.suffix == path.suffix), CSV)
