"""The settings of the web page: conf/web.yaml."""

from dataclasses import dataclass, field

from selfplay.settings.common import CommonSettings
from selfplay.settings.fields import PLAYER_NAME, require, require_count
from selfplay.settings.folders import RUNS_FOLDER

LARGEST_PORT = 65535
DEEPEST = 12


@dataclass
class WebSettings(CommonSettings):
    """The address at which the page is served, and the limits of the server."""

    search_threads: int | None = None
    """Threads in which a long search of one position works; changes no value and no action. null: one per core."""
    other_runs: str = field(default_factory=lambda: str(RUNS_FOLDER))
    """Folder of the runs of all games other than `game`, each in a folder with the name of its game."""
    opponents: list[str] = field(default_factory=list, metadata=PLAYER_NAME)
    """Further opponents to offer in every game, as names of players, such as my_module:MyPlayer."""
    host: str = "127.0.0.1"
    """The address that the server listens on; 0.0.0.0 admits other computers, and then needs `hosts`."""
    hosts: list[str] = field(default_factory=list)
    """Further names and addresses of this computer at which the page may be opened."""
    port: int = 8000
    """The port to listen on; 0: any free one."""
    match_limit: int = 500
    """Number of matches kept at the same time."""
    client_match_limit: int = 100
    """Number of matches that one client, identified by its address, may have open at the same time."""
    match_minutes: float = 60.0
    """Minutes after which an unused match is dropped."""
    search_seconds: float = 2.0
    """Time limit of a search, or of perfect play, for one reply, in seconds."""
    deepest_search: int = 8
    """Depth in plies of the deepest search that the page offers."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in [self.host, *self.hosts]:
            is_name = bool(name) and not set(name) & set("/?#@*\\ \t\r\n\0")
            require("host" if name == self.host else "hosts", name, is_name, "an address or name, such as 127.0.0.1")
        require("port", self.port, 0 <= self.port <= LARGEST_PORT, f"from 0 to {LARGEST_PORT}")
        require_count("match_limit", self.match_limit, 1)
        require_count("client_match_limit", self.client_match_limit, 1)
        require("match_minutes", self.match_minutes, self.match_minutes > 0, "above 0")
        require("search_seconds", self.search_seconds, 0 < self.search_seconds <= 60, "above 0, at most 60")
        in_range = 1 <= self.deepest_search <= DEEPEST
        require("deepest_search", self.deepest_search, in_range, f"from 1 to {DEEPEST}")
