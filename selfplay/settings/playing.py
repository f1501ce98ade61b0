"""The settings of playing: in a terminal (conf/play.yaml, conf/experience_play.yaml), on the page and by GTP."""

from dataclasses import dataclass, field
from typing import Any

from selfplay.checks import PLAYER_NAME, count, one_of, require, within
from selfplay.errors import SettingError
from selfplay.protocols.gtp.notation import ROWS
from selfplay.runs.folders import RUNS_FOLDER
from selfplay.settings.classical import PictureSettings, StoreSettings
from selfplay.settings.common import (
    PATH,
    PERSON,
    PLAYER_OR_PERSON,
    SEARCH_THREADS,
    CommonSettings,
    ComputingSettings,
    PlayerSettings,
    SeededSettings,
)

BOARDS = ("plain", "boxed")


@dataclass
class OnePositionSettings(CommonSettings):
    """The settings of programs that search one position at a time, in which a search may use all cores."""

    search_threads: int | None = field(default=None, metadata=SEARCH_THREADS)
    """Threads of a long search of one position; does not change the result. null: one per core."""


@dataclass
class OneMatchSettings(SeededSettings, OnePositionSettings, ComputingSettings):
    """The settings of programs that play one match at a time."""


@dataclass
class DisplaySettings(OneMatchSettings):
    """What a terminal shows of a match."""

    values: bool | None = None
    """Show what a player expects of each action before it acts; null: on at most 16 squares."""
    perfect: bool = False
    """Also show the value of each action under perfect play, where it is known."""
    legal: bool = True
    """Mark the legal squares on a person's turn, in Othello."""
    coordinates: bool = True
    """Name the rows and columns of boards."""
    verbose: bool = False
    """Also show each board as a number in base 3, and how often a tree search tried each action."""
    board: str = field(default="plain", metadata=one_of(*BOARDS))
    """How a board is drawn: plain or boxed."""
    show: bool = True
    """Show every action of a match without a person; false: only its result."""
    pause: float = field(default=0.0, metadata=within(0, 3600))
    """Seconds to wait after every action of a match without a person."""
    clear: bool = False
    """Clear the screen after each turn."""
    picture: PictureSettings = field(default_factory=PictureSettings)
    """The picture that the command graph draws."""


@dataclass
class PlaySettings(DisplaySettings):
    """Who plays, and what is shown.

    A player is given by its name in the registry of players, a person by "human". If one seat is set to a player, the
    person has the other. If one seat is set to "human", `opponent` or the level has the other.
    """

    first: str | None = field(default=None, metadata=PLAYER_OR_PERSON)
    """Who moves first: human, or a player. Without first and second the person is asked."""
    second: str | None = field(default=None, metadata=PLAYER_OR_PERSON)
    """Who moves second: human, or a player."""
    opponent: str | None = field(default=None, metadata=PLAYER_OR_PERSON)
    """The player that the person plays against; null: the level."""
    level: int | None = field(default=None, metadata=count(0))
    """The level of the run that the person plays against; null: the newest."""
    player: PlayerSettings = field(default_factory=PlayerSettings)
    """How that level chooses its actions."""
    swap: bool = False
    """Swap the seats of first and second after every match."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.opponent is not None and self.level is not None:
            raise SettingError(f"opponent={self.opponent} and level={self.level}: set only one of them")
        if self.swap and self.asks_who_is_first:
            raise SettingError(
                "swap=true: set first= or second= too; without them you are asked who moves first before each match"
            )

    @property
    def asks_who_is_first(self) -> bool:
        """Whether the person is asked before each match who moves first."""
        return self.first is None and self.second is None

    @property
    def leaves_a_seat(self) -> bool:
        """Whether `first` and `second` leave a seat to the opponent of a person."""
        return self.asks_who_is_first or {self.first, self.second} == {PERSON, None}


@dataclass
class ExperiencePlaySettings(DisplaySettings):
    """Matches with the player that keeps an experience graph."""

    experience: StoreSettings = field(default_factory=StoreSettings)
    mode: int | None = field(default=None, metadata=within(1, 3))
    """1: you against it; 2: the random player against it; 3: it against itself; null: ask."""
    matches: int = field(default=10, metadata=count(1))
    """Matches in modes 2 and 3."""
    board: str = field(default="boxed", metadata=one_of(*BOARDS))
    """How a board is drawn: plain or boxed."""
    pause: float = field(default=1.0, metadata=within(0, 3600))
    """Seconds to wait after every action of a match without a person, and after such a match."""


@dataclass
class EngineSettings(OneMatchSettings):
    """A player run as an engine, which a controller tells what to do."""

    player: str | None = field(default=None, metadata=PLAYER_NAME)
    """The player; null: the newest level of the run, or, without levels, a strong player that needs no run."""

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of the engine besides its game, player and random numbers."""
        return {}


@dataclass
class GtpSettings(EngineSettings):
    """A player run as an engine of the Go Text Protocol."""

    rows: str = field(default="board", metadata=one_of(*ROWS))
    """Where row 1 is: top, bottom, or as the board shows it (top in Othello, bottom in Go)."""
    resign: float | None = field(default=None, metadata=within(-1, 1))
    """Resign once the player has expected less than this in three moves in a row, from -1 (lost) to 1; null: never."""

    @property
    def options(self) -> dict[str, Any]:
        return {"rows": self.rows, "resign": self.resign}


@dataclass
class GomocupSettings(EngineSettings):
    """A player run as an engine of the Gomocup protocol."""


@dataclass
class NBoardSettings(EngineSettings):
    """A player run as an engine of the NBoard protocol."""


@dataclass
class UciSettings(EngineSettings):
    """A player run as an engine of the Universal Chess Interface."""


DEEPEST = 12


@dataclass
class WebSettings(OneMatchSettings):
    """The address at which the page is served, and the limits of the server."""

    other_runs: str = field(default_factory=lambda: str(RUNS_FOLDER), metadata=PATH)
    """Folder of the runs of all other games, each in a folder named after its game."""
    opponents: list[str] = field(default_factory=list, metadata=PLAYER_NAME)
    """Further opponents to offer in every game, as names of players, such as my_module:MyPlayer."""
    host: str = "127.0.0.1"
    """The address that the server listens on; 0.0.0.0: all of this computer, which needs `hosts`."""
    hosts: list[str] = field(default_factory=list)
    """Further names and addresses at which the page may be opened."""
    port: int = field(default=8000, metadata=within(0, 65535))
    """The port to listen on; 0: any free one."""
    client_searches: int = field(default=1, metadata=count(1))
    """Slow requests of one address that are answered at the same time."""
    search_seconds: float = field(default=2.0, metadata=within(above=0, most=60))
    """Time limit of a reply, of values and of hints, in seconds."""
    deepest_search: int = field(default=8, metadata=within(1, DEEPEST))
    """Depth in plies of the deepest search that the page offers."""
    compile_ahead: bool = True
    """Compile in the background what the page offers, so that nobody waits for it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in [self.host, *self.hosts]:
            is_name = bool(name) and not set(name) & set("/?#@*\\ \t\r\n\0")
            require("host" if name == self.host else "hosts", name, is_name, "an address or name, such as 127.0.0.1")


@dataclass
class ExportPageSettings(SeededSettings):
    """The agent that is exported with the page, and where."""

    opponent: str | None = field(default=None, metadata=PLAYER_NAME)
    """The learned agent, such as level:3; null: the newest level, or, without levels, `pretrained`."""
    output_dir: str = field(default="site", metadata=PATH)
    """The folder to write."""
    search_seconds: float = field(default=0.3, metadata=within(above=0, most=60))
    """Time of the search that the page offers, for one reply, in seconds."""
