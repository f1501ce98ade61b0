"""The settings of the analysis of a position: conf/analysis.yaml."""

from dataclasses import dataclass, field

from selfplay.settings.checks import require
from selfplay.settings.common import CommonSettings
from selfplay.settings.evaluation import EvaluationSettings


@dataclass
class AnalysisSettings(CommonSettings):
    """One position analysed by several searches."""

    moves: str = ""
    """The moves that lead to the position: an Othello transcript such as f5d6c3, or actions separated by spaces."""
    depth: int = 6
    """Plies to look ahead."""
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)
    evaluation_file: str | None = None
    """A file in the format of conf/evaluation/, used instead of `evaluation`."""
    searches: list[str] = field(default_factory=lambda: ["minimax", "alpha_beta", "negascout"])
    """The algorithms to compare."""
    ordered: bool = False
    """Try promising actions first, in the searches that can use the order (minimax cannot)."""
    table_bits: int = 0
    """Size of their transposition tables: 2**table_bits entries; 0: none."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require("searches", self.searches, len(self.searches) > 0, "one or more")
