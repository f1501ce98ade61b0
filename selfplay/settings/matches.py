"""The settings of matches between named players, of tournaments, of proofs and of corrections.

conf/matches.yaml, conf/compete.yaml, conf/tournament.yaml, conf/prove.yaml, conf/correct.yaml
"""

from dataclasses import dataclass, field

from selfplay.checks import PLAYER_NAME, count, one_of, within
from selfplay.errors import SettingError
from selfplay.executors import ExecutorOptions
from selfplay.games.game import SEATS
from selfplay.settings.common import PATH, ComputingSettings, LockstepSettings, SeededSettings


@dataclass
class SeriesSettings(LockstepSettings):
    """Matches of two players."""

    matches: int = field(default=200, metadata=count(1))
    """Number of matches."""
    show: bool = False
    """Also show the boards of every match side by side, each with its action."""


@dataclass
class CompeteSettings(SeriesSettings):
    """Matches between the two policies of trained tables."""

    tables: str = "temporal_difference"
    """The trained tables: RUN_DIR/tabular/NAME.npz, or a path."""
    matches: int = field(default=1000, metadata=count(1))
    """Number of matches; the policy of the first player always moves first."""
    epsilon: float = field(default=0.0, metadata=within(0, 1))
    """Share of the actions that are random."""


@dataclass
class MatchSettings(SeriesSettings):
    """Matches between two named players."""

    first: str = field(default="random", metadata=PLAYER_NAME)
    """The player that moves first, at least in the first match."""
    second: str = field(default="random", metadata=PLAYER_NAME)
    """The other player."""
    swap: bool = True
    """Swap seats after every match."""
    learn: bool = True
    """Whether players that can learn from their matches do so."""
    opening_plies: int | None = field(default=None, metadata=count(0))
    """Random plies at the start, the same from both seats. null: 0, or an eighth of the longest match, at most 8, if
    players repeat themselves."""
    report_every: int | None = field(default=None, metadata=count(1))
    """Matches between two lines of progress; null: on a terminal a bar, elsewhere a line for each twentieth of all, or
    for each match if a player learns."""
    sgf: str | None = field(default=None, metadata=PATH)
    """Folder for the matches as files: SGF (Go, Gomoku and Hex), or another format of the game."""


@dataclass
class TournamentSettings(LockstepSettings):
    """A round robin of named players."""

    players: list[str] = field(default_factory=["random", "perfect"].copy, metadata=PLAYER_NAME)
    """The players; the first one has the rating 0."""
    matches: int = field(default=1000, metadata=count(2))
    """Matches of each pair; each player moves first in half of them."""
    epsilons: list[float] = field(default_factory=[0.0].copy, metadata=within(0, 1))
    """Exploration rates by ply of all players; the last is for all later plies."""
    opening_plies: int | None = field(default=None, metadata=count(0))
    """Random plies at the start, the same from both seats. null: 0, or an eighth of the longest match, at most 8, if
    players repeat themselves."""
    sgf: str | None = field(default=None, metadata=PATH)
    """Folder for the matches as files; those of players 1 and 3 are in its folder 1_3."""
    force: bool = False
    """Play all pairs again, and replace what was played with other settings."""
    executor: ExecutorOptions = field(default_factory=ExecutorOptions)

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.players) < 2 or len(set(self.players)) < len(self.players):
            raise SettingError(f"players={list(self.players)}: must be two or more different players")


@dataclass
class WalkSettings(ComputingSettings):
    """The lines of play against one of the two sides. The exact solver of the game judges the actions of this side."""

    seat: str = field(default="first", metadata=one_of(*SEATS))
    """first: it moves first in the match; second: its opponent does."""
    replies: str = field(default="all", metadata=one_of("all", "best"))
    """all: the opponent plays every legal action; best: only those of the best exact value."""
    after: str = ""
    """Actions from the start of the match after which the lines begin, such as 4453."""
    table_bits: int = 22
    """Size of the solver's table in each worker: 2**table_bits entries; does not change the result."""
    force: bool = False
    """Start again from the beginning, even if there is a result."""
    executor: ExecutorOptions = field(default_factory=ExecutorOptions)


@dataclass
class ProofSettings(WalkSettings):
    """A walk through the lines of play against a player."""

    player: str | None = field(default=None, metadata=PLAYER_NAME)
    """The player to examine; null: the newest level of the run."""
    walk: str = field(default="first_mistake", metadata=one_of("first_mistake", "all"))
    """first_mistake: stop at its first mistake. all: examine every position."""
    walk_solved: bool = False
    """Also walk positions that the player itself solves exactly."""
    part_positions: int = field(default=4096, metadata=count(1))
    """Positions that a worker judges between two saved states; does not change the result."""
    folder: str | None = field(default=None, metadata=PATH)
    """Folder of the results; null: below comparison/proofs in run_dir."""


@dataclass
class CorrectionSettings(SeededSettings, WalkSettings):
    """The correction of a level: its tables learn from the mistakes on the lines of play, until none is left."""

    level: int | None = field(default=None, metadata=count(1))
    """The level whose tables are corrected; null: the newest of the run."""
    endgame: int = field(default=20, metadata=count(0))
    """With at most this number of empty squares the player takes exact actions."""
    passes: int = field(default=20, metadata=count(1))
    """Maximum passes through the mistakes of a ply in each training."""
    margin: float = field(default=0.1, metadata=within(above=0, most=1))
    """By how much the sum of weights of a winning action must exceed those of mistakes."""
