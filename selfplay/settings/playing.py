"""The settings of playing, at the console or in a browser: conf/play.yaml."""

from dataclasses import dataclass, field

from selfplay.errors import SettingError
from selfplay.settings.checks import require
from selfplay.settings.common import CommonSettings, PlayerSettings


@dataclass
class PlaySettings(CommonSettings):
    """Who plays, and what is shown.

    Players are named as in `selfplay.players.registry`, and a person is "human". A seat without a name is the person's
    if the other one is not; else `opponent` or the level sits there.
    """

    first: str | None = None
    """Who moves first. If neither `first` nor `second` is set, the person is asked before each match."""
    second: str | None = None
    opponent: str | None = None
    """Whom the person plays against; None: the level."""
    level: int | None = None
    """The level of the run that the person plays against; None: the newest."""
    player: PlayerSettings = field(default_factory=PlayerSettings)
    """How that level chooses its actions."""
    swap: bool = False
    """Let `first` and `second` change seats after every match."""
    values: bool = True
    """Show what a player expects of each action before it acts."""
    perfect: bool = False
    """Show the perfect value of each action beside it, and what would have been right, where the game can be solved."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require("level", self.level, self.level is None or self.level >= 0, "0 or more")
        if self.opponent is not None and self.level is not None:
            raise SettingError(f"opponent={self.opponent} and level={self.level}: give one of them")
        if self.swap and self.asks_who_is_first:
            raise SettingError(
                "swap=true: give first= or second= with it, or be asked who goes first before each match"
            )

    @property
    def asks_who_is_first(self) -> bool:
        """Whether the person says before each match who moves first."""
        return self.first is None and self.second is None
