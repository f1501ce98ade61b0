"""The settings of the experience graph: its file, how scores run back, its picture (conf/experience_graph.yaml)."""

from dataclasses import dataclass, field
from typing import NamedTuple

from selfplay.errors import SettingError
from selfplay.settings.checks import require
from selfplay.settings.common import CommonSettings

BACKUPS = ("absolute", "minimax")


class ExperienceRule(NamedTuple):
    """How experience is kept: what a store is made with, and keeps for good."""

    backup: str = "absolute"
    """How scores run back: a name of BACKUPS."""
    discount: float = 0.9
    """In (0, 1]: how much of a score reaches the board before."""
    canonical: bool = False
    """Whether boards that are equal under a symmetry of the game are one board."""

    def check(self) -> None:
        """Raise SettingError if a value is out of range."""
        if self.backup not in BACKUPS:
            raise SettingError(f"experience.backup={self.backup}: give {' or '.join(BACKUPS)}")
        if not 0 < self.discount <= 1:
            raise SettingError(f"experience.discount={self.discount}: give a discount above 0, at most 1")


@dataclass
class StoreSettings:
    """Where experience is kept, and how (conf/experience/)."""

    path: str = "experience.sqlite"
    backup: str = "absolute"
    discount: float = 0.9
    canonical: bool = False

    def __post_init__(self) -> None:
        self.rule.check()

    @property
    def rule(self) -> ExperienceRule:
        return ExperienceRule(self.backup, self.discount, self.canonical)


@dataclass
class PictureSettings:
    """Which boards the picture shows, and where it goes."""

    after: list[str] = field(default_factory=list)
    """The actions that lead to the first board, as a person writes them."""
    depth: int = 3
    """Plies ahead."""
    breadth: list[int] = field(default_factory=lambda: [4, 2, 1])
    """Boards shown of those that follow a board, by ply; the last number holds for all later plies."""
    file: str | None = None
    """None: on the screen."""

    def __post_init__(self) -> None:
        require("picture.depth", self.depth, 1 <= self.depth <= 9, "1 to 9")
        valid = len(self.breadth) > 0 and all(breadth >= 1 for breadth in self.breadth)
        require("picture.breadth", list(self.breadth), valid, "one or more numbers from 1 on")


@dataclass
class ExperienceGraphSettings(CommonSettings):
    """conf/experience_graph.yaml."""

    experience: StoreSettings = field(default_factory=StoreSettings)
    json: str = "experience.json"
    """The file in the form of the document."""
    picture: PictureSettings = field(default_factory=PictureSettings)
