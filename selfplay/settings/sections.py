"""The sections of the settings of a run that the program itself reads: tree search, datasets, comparison."""

from dataclasses import dataclass, field

from selfplay.checks import count, one_in, within
from selfplay.dataset.formats import DATASET_FORMATS
from selfplay.errors import SettingError, shortened
from selfplay.grading.compared import LONGEST_PAIR, ComparisonParameters
from selfplay.named_players.names import parse_name
from selfplay.search.mcts.rule import SEARCH_RULES, constants_of_rule
from selfplay.settings.fields import EACH_COMMAND, PLAYER_NAME, TEMPERATURE, read_by
from selfplay.training.parameters import ExpertIteration

MOST_SIMULATIONS = 1_000_000


@dataclass
class TreeSearchSettings:
    """How levels search in the matches of their datasets, with targets=search (conf/mcts/)."""

    rule: str = field(default="puct", metadata=one_in(SEARCH_RULES))
    """How simulations choose actions: puct, gumbel or uct."""
    constants: dict[str, float] = field(default_factory=dict)
    """Constants of the rule that differ from their defaults, such as the noise at the root."""
    simulations: int = field(default=32, metadata=within(1, MOST_SIMULATIONS))
    """Simulations for each action."""
    proves: bool = True
    """Whether exact values are proved (MCTS-solver)."""
    reuse: bool = False
    """Whether a search continues the tree of the last ply, below the action that was played; not for gumbel."""
    temperature: float = field(default=1.0, metadata=TEMPERATURE)
    """In the first plies, actions are drawn with probability proportional to policy ** (1 / temperature); 0: the action
    that the search finds best."""
    temperature_plies: int = field(default=8, metadata=count(0))
    """Number of plies with this temperature; later ones have 0."""

    def check_constants(self) -> None:
        """Raise SettingError if the rule lacks one of the constants, as after `mcts.rule` is set alone."""
        if foreign := sorted(self.constants.keys() - constants_of_rule(self.rule)):
            raise SettingError(f"mcts.rule={self.rule}: has no constant {foreign[0]!r}; set mcts={self.rule}")


@dataclass
class DatasetSettings:
    """How the rows of a level's matches are stored and read."""

    format: str = field(default="csv", metadata=read_by("generation") | one_in(DATASET_FORMATS))
    """csv: every program can read it; parquet: a twentieth to a fortieth of the size."""
    replay: int = field(default=0, metadata=read_by("training") | count(0))
    """Number of earlier levels whose datasets are also trained on."""
    shard_matches: int = field(default=16384, metadata=count(1))
    """Matches that a worker plays at a time; their rows are one file of dataset.parquet. batch_size cannot be larger.
    With buffer_rows, the order of the rows depends on it."""
    buffer_rows: int | None = field(default=None, metadata=read_by("training") | within(1, 2**31))
    """Rows held in memory while training, for datasets larger than memory; needs dataset.format=parquet and
    training.merge=false. null: all rows."""


@dataclass(frozen=True)
class ExpertSettings(ExpertIteration):
    """The search that teaches levels which actions are good, with learning=td."""

    player: str | None = field(default=None, metadata=PLAYER_NAME)
    """The expert: a search of fixed depth, such as search:negascout?depth=6. Its evaluation is the level before
    from_level, unless its name sets another. null: no level learns from a search."""
    from_level: int = field(default=2, metadata=count(2))
    """The first level that learns from the expert; earlier ones learn from the outcomes of their matches."""
    matches: int = field(default=4096, metadata=count(2))
    """Matches that each of these levels plays against itself."""

    def check_player(self) -> None:
        """Raise SettingError if the expert is not a search of fixed depth. Its files need not exist yet."""
        if self.player is None:
            return
        name = parse_name(self.player)
        if name.kind != "search" or {"endgame", "time_limit"} & name.given.keys():
            raise SettingError(
                f"expert.player={shortened(self.player)}: must be a search of fixed depth, without endgame and "
                "time_limit, such as search:negascout?depth=6"
            )
        if (depth := name.options["depth"]) is not None and depth < 2:
            raise SettingError(f"expert.player={shortened(self.player)}: must look 2 or more plies ahead")


@dataclass(frozen=True)
class ComparisonSettings(ComparisonParameters):
    """How levels are compared."""

    references: list[str] | None = field(default=None, metadata=PLAYER_NAME)
    """Players that levels meet in addition to the random player, such as [greedy_discs], in games too large to
    enumerate; null: the game's defaults."""
    pair_seconds: float | None = field(default=None, metadata=EACH_COMMAND | within(above=0, most=LONGEST_PAIR))
