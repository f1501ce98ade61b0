"""The settings of matches between named players and of tournaments: conf/matches.yaml, conf/tournament.yaml."""

from dataclasses import dataclass, field

from selfplay.errors import SettingError
from selfplay.settings.checks import require_count, require_rates
from selfplay.settings.common import CommonSettings, ExecutorSettings
from selfplay.settings.fields import PLAYER_NAME


@dataclass
class MatchSettings(CommonSettings):
    """Matches between two named players."""

    first: str = field(default="random", metadata=PLAYER_NAME)
    """The player that moves first, at least in the first match."""
    second: str = field(default="random", metadata=PLAYER_NAME)
    """The other player."""
    matches: int = 200
    """Number of matches."""
    swap: bool = True
    """Swap seats after every match. A player that learns also counts the matches of earlier runs."""
    learn: bool = True
    """Whether players that can learn from their matches do so."""
    opening_plies: int = 0
    """Random plies at the start, the same in both matches of each consecutive pair."""
    report_every: int | None = None
    """Matches between two lines of progress; null: 1 if a player learns, else a twentieth of all."""
    show: bool = False
    """Also show every match: its boards side by side, each with its action."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_count("matches", self.matches, 1)
        require_count("opening_plies", self.opening_plies, 0)
        every = self.report_every
        require_count("report_every", every, 1, or_null=True)


@dataclass
class TournamentSettings(CommonSettings):
    """A round robin of named players."""

    players: list[str] = field(default_factory=lambda: ["random", "perfect"], metadata=PLAYER_NAME)
    """The players; the first one has the rating 0."""
    matches: int = 1000
    """Matches of each pair; each player moves first in half of them."""
    epsilons: list[float] = field(default_factory=lambda: [0.0])
    """Exploration rates by ply of all players; the last rate holds for all later plies."""
    opening_plies: int = 0
    """Random plies at the start, the same in the two matches in which a pair swaps seats. Without them, deterministic
    players would repeat the same two matches."""
    executor: ExecutorSettings = field(default_factory=ExecutorSettings)

    def __post_init__(self) -> None:
        super().__post_init__()
        require_count("matches", self.matches, 2)
        require_count("opening_plies", self.opening_plies, 0)
        require_rates("epsilons", self.epsilons)
        if len(self.players) < 2 or len(set(self.players)) < len(self.players):
            raise SettingError(f"players={list(self.players)}: must be two or more different players")
