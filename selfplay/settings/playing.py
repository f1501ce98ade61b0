"""The settings of playing, at the console or in a browser: conf/play.yaml."""

from dataclasses import dataclass, field

from selfplay.errors import SettingError
from selfplay.settings.checks import require
from selfplay.settings.common import CommonSettings, PlayerSettings
from selfplay.settings.fields import PLAYER_NAME


@dataclass
class PlaySettings(CommonSettings):
    """Who plays, and what is shown.

    A player is given by its name in the registry of players, a person by "human". A seat that is not set belongs to the
    person, unless the other seat does; then it belongs to `opponent`, or to the level.
    """

    first: str | None = field(default=None, metadata=PLAYER_NAME)
    """Who moves first: human, or a player. If first and second are null, the person is asked before each match."""
    second: str | None = field(default=None, metadata=PLAYER_NAME)
    """Who moves second: human, or a player."""
    opponent: str | None = field(default=None, metadata=PLAYER_NAME)
    """The player that the person plays against; null: the level."""
    level: int | None = None
    """The level of the run that the person plays against; null: the newest."""
    player: PlayerSettings = field(default_factory=PlayerSettings)
    """How that level chooses its actions."""
    swap: bool = False
    """Swap the seats of first and second after every match."""
    values: bool = True
    """Show what a player expects of each action before it acts."""
    perfect: bool = False
    """Also show the value of each action under perfect play, and correct mistakes, where the game can be solved."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require("level", self.level, self.level is None or self.level >= 0, "0 or more")
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
