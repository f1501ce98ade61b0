"""The sections of the settings of a run that the program itself reads: datasets and comparison."""

from dataclasses import dataclass, field

from selfplay.checks import PLAYER_NAME, count, one_in, within
from selfplay.dataset.formats import DATASET_FORMATS
from selfplay.grading.compared import LONGEST_PAIR, ComparisonParameters
from selfplay.settings.fields import EACH_COMMAND, read_by


@dataclass
class DatasetSettings:
    """How the rows of a level's matches are stored and read."""

    format: str = field(default="csv", metadata=read_by("generation") | one_in(DATASET_FORMATS))
    """csv: every program can read it; parquet: a twentieth to a fortieth of the size."""
    shard_matches: int = field(default=16384, metadata=count(1))
    """Matches that a worker plays at a time; their rows are one file of dataset.parquet. batch_size cannot be
    larger."""


@dataclass(frozen=True)
class ComparisonSettings(ComparisonParameters):
    """How levels are compared."""

    references: list[str] | None = field(default=None, metadata=PLAYER_NAME)
    """Players that levels meet in addition to the random player, such as [greedy_discs], in games too large to
    enumerate; null: the game's defaults."""
    pair_seconds: float | None = field(default=None, metadata=EACH_COMMAND | within(above=0, most=LONGEST_PAIR))
