"""The settings of the page in the browser: conf/web.yaml."""

from dataclasses import dataclass

from selfplay.settings.checks import require
from selfplay.settings.common import CommonSettings

LARGEST_PORT = 65535
DEEPEST = 12


@dataclass
class WebSettings(CommonSettings):
    """Where the page is served, and how much the server takes on."""

    other_runs: str = "outputs"
    """The folder of the runs of the games that `game` does not name, each in one of its game's name."""
    host: str = "127.0.0.1"
    """The address that it listens on; 0.0.0.0 lets other machines in."""
    port: int = 8000
    """0: any free one."""
    match_limit: int = 500
    """Matches held at the same time."""
    match_minutes: float = 60.0
    """A match that nobody has touched for so long is given up."""
    search_seconds: float = 2.0
    """What a search may think for one reply."""
    deepest_search: int = 8
    """Plies that the deepest search on offer looks ahead."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require("port", self.port, 0 <= self.port <= LARGEST_PORT, f"a number from 0 to {LARGEST_PORT}")
        require("match_limit", self.match_limit, self.match_limit >= 1, "1 or more")
        require("match_minutes", self.match_minutes, self.match_minutes > 0, "minutes above 0")
        require("search_seconds", self.search_seconds, 0 < self.search_seconds <= 60, "seconds above 0, at most 60")
        in_range = 1 <= self.deepest_search <= DEEPEST
        require("deepest_search", self.deepest_search, in_range, f"a number from 1 to {DEEPEST}")
