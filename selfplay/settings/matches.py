"""The settings of matches between named players, of tournaments and of proofs.

conf/matches.yaml, conf/tournament.yaml, conf/prove.yaml
"""

from dataclasses import dataclass, field

from selfplay.errors import SettingError
from selfplay.settings.common import CommonSettings, ExecutorSettings
from selfplay.settings.fields import PLAYER_NAME, require, require_count, require_rates


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


SEATS = ("first", "second")
WALKS = ("first_mistake", "all")


@dataclass
class ProofSettings(CommonSettings):
    """A walk through every line of play against a player, whose actions the game's exact solver judges."""

    player: str | None = field(default=None, metadata=PLAYER_NAME)
    """The player to examine; null: the newest level of the run. Without exploration it should be deterministic: of a
    random player every action that it may take is examined."""
    seat: str = "first"
    """first: it moves first in the match; second: its opponent does."""
    walk: str = "first_mistake"
    """first_mistake: stop at its first mistake, which ends a shortest line to one; all: examine every position."""
    after: str = ""
    """Actions from the start of the match after which the walk begins, such as 4453; empty: the start itself."""
    walk_solved: bool = False
    """Also walk where the player itself solves positions exactly, as a search with `endgame` does in late ones. There
    it can make no mistake."""
    part_positions: int = 4096
    """Number of positions judged between two saved states, by one worker; changes no result."""
    table_bits: int = 22
    """Size of the solver's table in each worker: 2**table_bits entries; changes no result."""
    folder: str | None = None
    """Folder of the results and of the state; null: a folder below comparison/proofs in run_dir, named after the
    player."""
    force: bool = False
    """Start anew even if there is a state or a result."""
    executor: ExecutorSettings = field(default_factory=ExecutorSettings)

    def __post_init__(self) -> None:
        super().__post_init__()
        require("seat", self.seat, self.seat in SEATS, " or ".join(SEATS))
        require("walk", self.walk, self.walk in WALKS, " or ".join(WALKS))
        require_count("part_positions", self.part_positions, 1)
