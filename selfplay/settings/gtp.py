"""The settings of a player as a GTP engine: conf/gtp.yaml."""

from dataclasses import dataclass

from selfplay.settings.checks import require
from selfplay.settings.common import CommonSettings


@dataclass
class GtpSettings(CommonSettings):
    """A player as an engine of the Go Text Protocol: conf/gtp.yaml."""

    player: str = "random"
    """Who plays, named as in `selfplay.players.registry`."""
    rows: str = "top"
    """Where row 1 of the board is: at the top as in Othello, or at the bottom as in Go."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require("rows", self.rows, self.rows in ("top", "bottom"), "top or bottom")
