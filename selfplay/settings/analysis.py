"""The settings of the analysis of a position: conf/analysis.yaml."""

from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from selfplay.settings.checks import require
from selfplay.settings.common import CommonSettings
from selfplay.settings.evaluation import EvaluationSettings


@dataclass
class TreePictureSettings:
    """The picture of the positions that the searches visit."""

    file: str | None = None
    """The image to write; null: none."""
    depth: int = 3
    """Plies shown."""
    breadth: list[int] = field(default_factory=lambda: [3, 3, 2])
    """Number of moves shown in each position, by ply; the last number holds for all later plies."""

    def __post_init__(self) -> None:
        require("picture.depth", self.depth, 1 <= self.depth <= 8, "from 1 to 8")
        valid = len(self.breadth) > 0 and all(1 <= breadth <= 40 for breadth in self.breadth)
        require("picture.breadth", list(self.breadth), valid, "one or more numbers from 1 to 40")


@dataclass
class GameTreeSettings:
    """A game tree to search instead of a position (conf/game_tree/)."""

    payoffs: Any = None
    """Nested lists of numbers, such as [[3,-2],[0,1]]: what each line of play gives to the player who begins."""


@dataclass
class AnalysisSettings(CommonSettings):
    """One position analysed by several searches."""

    moves: str = ""
    """The moves that lead to the position: an Othello transcript such as f5d6c3, or actions separated by spaces."""
    features: Any = None
    """Numbers to evaluate instead of a position, such as {discs: 30, corners: 2}; features that are not named are 0."""
    depth: int = 6
    """Plies to look ahead."""
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)
    evaluation_file: str | None = None
    """A file in the format of conf/evaluation/, used instead of `evaluation`."""
    searches: list[str] = field(default_factory=lambda: ["minimax", "alpha_beta", "negascout"])
    """The algorithms to compare."""
    min_scout_depth: int | None = None
    """The smallest number of remaining plies at which NegaScout uses null windows; null: 2 for game trees and pictures,
    as published, otherwise 4 or 5, from where on they save positions."""
    game_tree: GameTreeSettings = field(default_factory=GameTreeSettings)
    picture: TreePictureSettings = field(default_factory=TreePictureSettings)
    ordered: bool = False
    """Try promising actions first, in the searches that can use the order (minimax cannot)."""
    table_bits: int = 0
    """Size of their transposition tables: 2**table_bits entries; 0: none."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require("searches", self.searches, len(self.searches) > 0, "one or more")
        valid = self.game_tree.payoffs is None or not self.moves
        require("features", self.features, isinstance(self.features, dict | None), "names with numbers")
        for name, value in (self.features or {}).items():
            require(f"features.{name}", value, isinstance(value, int | float) and isfinite(value), "a finite number")
        require("moves", self.moves, valid, "empty with a game tree, which is searched from its start")
