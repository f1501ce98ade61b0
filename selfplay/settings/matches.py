"""The settings of the programs beside the loop: tabular learning, matches between named players, tournaments."""

from dataclasses import dataclass, field

from selfplay.errors import SettingError
from selfplay.settings.checks import require, require_rates
from selfplay.settings.common import CommonSettings, ExecutorSettings


@dataclass
class MatchSettings(CommonSettings):
    """Matches between two named players: conf/matches.yaml."""

    first: str = "random"
    second: str = "random"
    matches: int = 200
    swap: bool = True
    """Let the first player move first in every other match only, beginning with the first one; a player that learns
    counts the matches that it has seen before."""
    learn: bool = True
    """Let players that learn from their matches do so."""
    opening_plies: int = 0
    """So many plies at the start are random, the same in every two matches that follow each other."""
    report_every: int | None = None
    """Matches between two lines of progress; None: 1 if a player learns, else a twentieth of all."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require("matches", self.matches, self.matches >= 1, "1 or more")
        require("opening_plies", self.opening_plies, self.opening_plies >= 0, "0 or more")
        every = self.report_every
        require("report_every", every, every is None or every >= 1, "1 or more, or null")


@dataclass
class TournamentSettings(CommonSettings):
    """A round robin of named players: conf/tournament.yaml."""

    players: list[str] = field(default_factory=lambda: ["random", "perfect"])
    matches: int = 1000
    """Matches of each pair; each player moves first in half of them."""
    epsilons: list[float] = field(default_factory=lambda: [0.0])
    """Exploration rates by ply of all players."""
    opening_plies: int = 0
    """So many plies at the start are random, the same in the two matches in which a pair changes sides."""
    executor: ExecutorSettings = field(default_factory=ExecutorSettings)

    def __post_init__(self) -> None:
        super().__post_init__()
        require("matches", self.matches, self.matches >= 2, "2 or more")
        require("opening_plies", self.opening_plies, self.opening_plies >= 0, "0 or more")
        require_rates("epsilons", self.epsilons)
        if len(self.players) < 2 or len(set(self.players)) < len(self.players):
            raise SettingError(f"players={list(self.players)}: give two or more different players")
