"""The settings of evaluations, of what is fitted for searches, and of the analysis and the solution of a position.

conf/evaluation/, conf/export_evaluation.yaml, conf/fit_probcut.yaml, conf/analysis.yaml, conf/solve.yaml
"""

from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from selfplay.checks import PLAYER_NAME, count, require, within
from selfplay.search.feature_evaluation import EvaluationWeights
from selfplay.search.searcher import SearchParameters
from selfplay.settings.common import IS_ARGUMENT, PATH, CommonSettings, ComputingSettings, SeededSettings
from selfplay.settings.playing import OneMatchSettings, OnePositionSettings


@dataclass
class ExportSettings(CommonSettings):
    """Which level is exported as an evaluation, and where."""

    level: int | None = field(default=None, metadata=count(0))
    """The level; null: the newest."""
    file: str | None = field(default=None, metadata=PATH)
    """The file to write; null: evaluation.yaml in the folder of the level."""


DEPTHS = range(3, 17)


@dataclass
class ProbCutSettings(SeededSettings, ComputingSettings):
    """The level whose searches ProbCut will shorten, and the positions and depths that it is fitted to."""

    level: int | None = field(default=None, metadata=count(1))
    """The level; null: the newest."""
    positions: int = field(default=3000, metadata=count(600))
    """Matches of self-play, from each of which one position is taken."""
    deepest: int = field(default=8, metadata=within(DEPTHS[0], DEPTHS[-1]))
    """The deepest search that a shallower one may replace, in plies; each ply takes two to three times as long to
    fit."""
    opening_plies: int = field(default=8, metadata=count(0))
    """Random plies at the start of each match."""


@dataclass
class TreePictureSettings:
    """The picture of the positions that the searches visit."""

    file: str | None = field(default=None, metadata=PATH)
    """The image to write; null: none."""
    depth: int = field(default=3, metadata=within(1, 8))
    """Plies shown."""
    breadth: list[int] = field(default_factory=[3, 3, 2].copy, metadata=within(1, 40))
    """Successors shown for each board, by ply; the last is for all later plies."""


@dataclass
class GameTreeSettings:
    """A game tree to search instead of a position (conf/game_tree/)."""

    payoffs: Any = None
    """Nested lists of numbers, such as [[3,-2],[0,1]]: the payoffs to the player who begins."""


@dataclass
class SolveSettings(OnePositionSettings):
    """One position, solved exactly."""

    moves: str = field(default="", metadata=IS_ARGUMENT)
    """The moves to the position, such as f5d6c3, 4453 or actions with spaces between; in Othello also a board and the
    side to move, a match in GGF, or a file of problems (.obf). `moves=` can be left out."""
    raw_discs: bool = False
    """Othello: do not count empty squares for the winner."""
    time_limit: float | None = field(default=None, metadata=within(above=0))
    """Seconds for all moves of a position together; null: no limit."""


@dataclass
class AnalysisSettings(OneMatchSettings):
    """One position analysed by several searches."""

    moves: str = ""
    """The moves to the position, such as f5d6c3, 4453 or actions with spaces between; in Othello also a board and the
    side to move, or a match in GGF."""
    record: str | None = field(default=None, metadata=PATH | IS_ARGUMENT)
    """The file of a match to value move by move instead; needs no `record=` before it."""
    player: str | None = field(default=None, metadata=PLAYER_NAME)
    """The player that values `record`; null: the newest level, or, without levels, a strong player."""
    commented: str | None = field(default=None, metadata=PATH)
    """The file to write `record` to, with the values of its moves as comments."""
    features: Any = None
    """Numbers to evaluate instead of a position: {discs: 30, corners: 2}; others are 0."""
    depth: int = 6
    """Plies to look ahead."""
    evaluation: EvaluationWeights = field(default_factory=lambda: EvaluationWeights(win=1.0, margin=0.0, weights={}))
    evaluation_file: str | None = field(default=None, metadata=PATH)
    """A file in the format of conf/evaluation/, used instead of `evaluation`."""
    searches: list[str] = field(default_factory=["minimax", "alpha_beta", "negascout"].copy)
    """The algorithms to compare."""
    search: SearchParameters = field(default_factory=SearchParameters)
    """How they search; for game trees and pictures `min_scout_depth` is 2 if it is null."""
    game_tree: GameTreeSettings = field(default_factory=GameTreeSettings)
    picture: TreePictureSettings = field(default_factory=TreePictureSettings)

    def __post_init__(self) -> None:
        super().__post_init__()
        require("searches", self.searches, len(self.searches) > 0, "one or more")
        valid = self.game_tree.payoffs is None or not self.moves
        require("features", self.features, isinstance(self.features, dict | None), "names with numbers")
        for name, value in (self.features or {}).items():
            require(f"features.{name}", value, isinstance(value, int | float) and isfinite(value), "a finite number")
        require("moves", self.moves, valid, "empty with a game tree, which is searched from its start")
        for name, value in (("player", self.player), ("commented", self.commented)):
            require(name, value, value is None or self.record is not None, "given with the file of a match (record)")
