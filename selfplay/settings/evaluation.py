"""The settings of evaluations: conf/evaluation/ and conf/export_evaluation.yaml."""

from dataclasses import dataclass, field

from selfplay.settings.checks import require
from selfplay.settings.common import CommonSettings


@dataclass
class EvaluationSettings:
    """An evaluation of positions (conf/evaluation/): see `selfplay.search.feature_evaluation.FeatureEvaluation`."""

    win: float = 1.0
    """Value of a won match."""
    margin: float = 0.0
    """Value of each point of the lead at the end of a match."""
    weights: dict[str, float] = field(default_factory=dict)
    """Weight of each feature of an unfinished position."""
    game: str | None = None
    """The game that it applies to; null: any game that has these features."""


@dataclass
class ExportSettings(CommonSettings):
    """Which level is exported as an evaluation, and where."""

    level: int | None = None
    """The level to export; null: the newest."""
    file: str | None = None
    """The file to write; null: evaluation.yaml in the folder of the level."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require("level", self.level, self.level is None or self.level >= 0, "0 or more")
