"""The settings of the analysis of a position: conf/analysis.yaml."""

from dataclasses import dataclass, field

from selfplay.settings.checks import require
from selfplay.settings.common import CommonSettings
from selfplay.settings.evaluation import EvaluationSettings


@dataclass
class AnalysisSettings(CommonSettings):
    """One position looked at by several searches: conf/analysis.yaml."""

    moves: str = ""
    """What has been played so far; for Othello a transcript such as f5d6c3, else actions with spaces between them."""
    depth: int = 6
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)
    evaluation_file: str | None = None
    """A file in the form of conf/evaluation/ that stands in for `evaluation`."""
    searches: list[str] = field(default_factory=lambda: ["minimax", "alpha_beta", "negascout"])
    ordered: bool = False
    """Try promising actions first, in those searches that can do with less for it."""
    table_bits: int = 0
    """The size of their transposition tables, in powers of two; 0: none."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require("searches", self.searches, len(self.searches) > 0, "one or more")
