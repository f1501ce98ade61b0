"""The settings of a proof that a player wins against every play: conf/prove.yaml."""

from dataclasses import dataclass, field

from selfplay.settings.checks import require, require_count
from selfplay.settings.common import CommonSettings, ExecutorSettings
from selfplay.settings.fields import PLAYER_NAME

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
