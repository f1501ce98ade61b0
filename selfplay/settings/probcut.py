"""The settings of the fit of ProbCut: conf/fit_probcut.yaml."""

from dataclasses import dataclass

from selfplay.settings.checks import require, require_count
from selfplay.settings.common import CommonSettings

DEPTHS = range(3, 17)


@dataclass
class ProbCutSettings(CommonSettings):
    """The level whose searches ProbCut is to shorten, and the positions and depths that it is fitted to."""

    level: int | None = None
    """The level; null: the newest."""
    positions: int = 3000
    """Matches of self-play, from each of which one position is taken; a few end before it."""
    deepest: int = 8
    """The deepest search that a shallower one may replace, in plies. Each further ply takes two to three times as
    long to fit; deeper searches still cut where this many plies or fewer are left."""
    opening_plies: int = 8
    """Random plies at the start of each match."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_count("level", self.level, 1, or_null=True)
        require_count("positions", self.positions, 600)
        require_count("opening_plies", self.opening_plies, 0)
        require("deepest", self.deepest, self.deepest in DEPTHS, f"from {DEPTHS[0]} to {DEPTHS[-1]}")
