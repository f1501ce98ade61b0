"""The settings of the programs beside the loop: tabular learning, matches between named players, tournaments."""

from dataclasses import dataclass, field

from selfplay.errors import SettingError
from selfplay.settings import CommonSettings, ExecutorSettings, require, require_rates


@dataclass
class TabularSettings(CommonSettings):
    """How tables of values are learned: conf/tabular.yaml with conf/agent/."""

    agent: str = "temporal_difference"
    """The update rule."""
    episodes: int = 100_000
    """Matches to learn from."""
    epsilon: float = 0.01
    """Share of the actions that are random."""
    alpha: float | None = None
    """Step size of agent=backward_value."""
    step_size: float | None = None
    """Step size of agent=temporal_difference."""
    force: bool = False
    """Learn again although tables made with other settings are there."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require("episodes", self.episodes, self.episodes >= 1, "1 or more")
        require("epsilon", self.epsilon, 0 <= self.epsilon <= 1, "a rate from 0 to 1")
        for name in ("alpha", "step_size"):
            size = getattr(self, name)
            require(name, size, size is None or 0 < size <= 1, "a step above 0, at most 1")


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
