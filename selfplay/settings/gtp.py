"""The settings of a player as a GTP engine: conf/gtp.yaml."""

from dataclasses import dataclass, field

from selfplay.settings.checks import require
from selfplay.settings.common import CommonSettings
from selfplay.settings.fields import PLAYER_NAME


@dataclass
class GtpSettings(CommonSettings):
    """A player run as an engine of the Go Text Protocol."""

    search_threads: int | None = None
    """Threads in which a long search of one position works; changes no value and no action. null: one per core."""
    player: str = field(default="search:negascout?depth=4&evaluation=article", metadata=PLAYER_NAME)
    """The player, by its name."""
    rows: str = "top"
    """The side of the board where row 1 is: top as in Othello, or bottom as in Go."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require("rows", self.rows, self.rows in ("top", "bottom"), "top or bottom")
