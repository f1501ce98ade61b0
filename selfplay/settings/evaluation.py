"""The settings of evaluations: conf/evaluation/ and conf/export_evaluation.yaml."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from selfplay.settings.checks import require
from selfplay.settings.common import CommonSettings

if TYPE_CHECKING:
    pass


@dataclass
class EvaluationSettings:
    """What a position is worth (conf/evaluation/): see `selfplay.search.evaluation.Evaluation`."""

    win: float = 1.0
    margin: float = 0.0
    weights: dict[str, float] = field(default_factory=dict)
    game: str | None = None


@dataclass
class ExportSettings(CommonSettings):
    """conf/export_evaluation.yaml."""

    level: int | None = None
    """None: the newest."""
    file: str | None = None
    """Where the evaluation goes; None: evaluation.yaml in the folder of the level."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require("level", self.level, self.level is None or self.level >= 0, "0 or more")
