"""The settings of the programs around the machine's experience (conf/machine.yaml), and what these programs do."""

import logging
from dataclasses import dataclass, field
from pathlib import Path

from selfplay.experience_graph import ExperienceRule
from selfplay.experience_store import ExperienceStore
from selfplay.games import make_game
from selfplay.settings import CommonSettings, require

log = logging.getLogger(__name__)


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
class MachineSettings(CommonSettings):
    """conf/machine.yaml."""

    experience: StoreSettings = field(default_factory=StoreSettings)
    json: str = "experience.json"
    """The file in the form of the document."""
    picture: PictureSettings = field(default_factory=PictureSettings)


def open_store(settings: MachineSettings) -> ExperienceStore:
    """The store that is there. Raises as ExperienceStore."""
    return ExperienceStore(settings.experience.path, make_game(settings.game.name), must_exist=True)


def export_experience(settings: MachineSettings) -> None:
    """Write the store as JSON. Raises as ExperienceStore and `export_json`."""
    from selfplay.experience_json import export_json

    boards = export_json(open_store(settings), Path(settings.json))
    log.info("wrote %s: %s boards", settings.json, f"{boards:,}")


def import_experience(settings: MachineSettings) -> None:
    """Put the boards of the JSON file in the place of those of the store. Raises as ExperienceStore, `import_json`."""
    from selfplay.experience_json import import_json

    store = ExperienceStore(settings.experience.path, make_game(settings.game.name), settings.experience.rule)
    boards = import_json(store, Path(settings.json))
    log.info("%s now knows %s boards", settings.experience.path, f"{boards:,}")
