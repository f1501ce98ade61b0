"""How the rows of a level's matches are stored and read: a part of the settings of a run."""

from dataclasses import dataclass, field
from typing import Any

from selfplay.errors import SettingError
from selfplay.settings.checks import require, require_count
from selfplay.settings.choices import DATASET_FORMATS, require_choice
from selfplay.settings.fields import affects


def _has_parts(settings: Any, _: int) -> bool:
    """Whether the dataset of a run with these `Settings` consists of several files."""
    return bool(DATASET_FORMATS[settings.dataset.format].has_parts)


@dataclass
class DatasetSettings:
    """How the rows of a level's matches are stored and read."""

    format: str = field(default="csv", metadata=affects("generation", recorded_as="format"))
    """csv: readable by anything; parquet: a twentieth to a fortieth of the size."""
    replay: int = field(default=0, metadata=affects("run"))
    """Number of earlier levels whose datasets are also trained on."""
    shard_matches: int = field(
        default=16384, metadata=affects("generation", when=_has_parts, recorded_as="shard_matches")
    )
    """Matches that a worker plays at a time, and whose rows form one file of dataset.parquet. It limits batch_size, and
    the order in which buffer_rows reads rows depends on it."""
    buffer_rows: int | None = field(default=None, metadata=affects("training", unless_default=True))
    """Rows held in memory while training, for datasets larger than memory; needs dataset.format=parquet and
    training.merge=false. null: all rows."""

    def __post_init__(self) -> None:
        require_count("dataset.shard_matches", self.shard_matches, 1)
        require_choice("dataset.format", self.format, DATASET_FORMATS)
        require_count("dataset.replay", self.replay, 0)
        rows = self.buffer_rows
        require("dataset.buffer_rows", rows, rows is None or 1 <= rows <= 2**31, "1 to 2147483648, or null")
        if rows is not None and not DATASET_FORMATS[self.format].has_parts:
            raise SettingError(
                f"dataset.buffer_rows={rows}: {self.format} cannot be read in parts; set dataset.format=parquet"
            )
