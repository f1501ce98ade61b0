"""The settings of a run, checked: what conf/config.yaml and its groups hold, as dataclasses."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from selfplay.compute.devices import CUDA
from selfplay.errors import SettingError
from selfplay.settings.checks import require, require_package, require_rates
from selfplay.settings.choices import OPTIMIZERS, OUTCOMES, TARGET_RULES, require_choice
from selfplay.settings.common import CommonSettings, ExecutorSettings, PlayerSettings
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.training import TrainingSettings

LOGGERS = ("none", "tensorboard")


@dataclass
class DatasetSettings:
    """How the rows of a level's matches are kept and used."""

    format: str = "csv"
    """csv, which anything can read, or parquet, which takes a twentieth to a fortieth of the space."""
    replay: int = 0
    """A level is trained on the datasets of so many earlier levels too."""
    shard_matches: int = 16384
    """Matches that are played in one go, and whose rows are one file of dataset.parquet."""
    buffer_rows: int | None = None
    """Training holds so many rows in memory at a time and reads the others as it goes; None: all rows."""

    def __post_init__(self) -> None:
        require("dataset.shard_matches", self.shard_matches, self.shard_matches >= 1, "1 or more")
        require("dataset.format", self.format, self.format in ("csv", "parquet"), "csv or parquet")
        require("dataset.replay", self.replay, self.replay >= 0, "0 or more")
        rows = self.buffer_rows
        require("dataset.buffer_rows", rows, rows is None or 1 <= rows <= 2**31, "1 to 2147483648, or null")
        if rows is not None and self.format != "parquet":
            raise SettingError(f"dataset.buffer_rows={rows}: CSV cannot be read in parts; give dataset.format=parquet")


@dataclass
class ComparisonSettings:
    """How levels are compared."""

    matches: int = 1000
    epsilons: list[float] = field(default_factory=lambda: [0.5, 0.5, 0.1])
    """Exploration rates by ply of both players in the matches between a level and its predecessor."""
    references: list[str] | None = None
    """Games too large to enumerate, here and below: the names of the players that levels meet; None: by the game."""
    opening_plies: int = 8
    """So many plies at the start are random, the same for both players of a match and its return match."""
    every: int | None = None
    """Every so many levels one meets the references, and the newest level meets it; None: about ten of them."""
    earlier_matches: int = 100
    """Matches of a level that is not the newest against each reference, and between references."""
    endgames: int = 100
    """Late positions with exact values in which players are tried; 0: none."""

    def __post_init__(self) -> None:
        require("comparison.matches", self.matches, self.matches >= 2, "2 or more")
        require("comparison.opening_plies", self.opening_plies, self.opening_plies >= 0, "0 or more")
        require("comparison.every", self.every, self.every is None or self.every >= 1, "1 or more, or null")
        require("comparison.earlier_matches", self.earlier_matches, self.earlier_matches >= 2, "2 or more")
        require("comparison.endgames", self.endgames, self.endgames >= 0, "0 or more")
        require_rates("comparison.epsilons", self.epsilons)


@dataclass
class Settings(CommonSettings):
    """All settings of a run: conf/config.yaml with its groups."""

    architecture: dict[str, Any] = field(default_factory=lambda: {"name": "mlp"})
    player: PlayerSettings = field(default_factory=PlayerSettings)
    executor: ExecutorSettings = field(default_factory=ExecutorSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    dataset: DatasetSettings = field(default_factory=DatasetSettings)
    comparison: ComparisonSettings = field(default_factory=ComparisonSettings)
    level: int | None = None
    """The level that a single stage works on; None: the newest."""
    levels: int = 10
    matches: int = 30000
    """Matches in each level's dataset."""
    gamma: float = 0.95
    epsilons: list[float] = field(default_factory=lambda: [0.5, 0.5, 0.1])
    """Exploration rates by ply in the matches that a level plays against itself."""
    opponents: str = "self"
    """self: a level plays its matches against itself; pool: half of them against the levels before it."""
    viewpoints: str = "both"
    outcome: str = "return"
    """What is learned: the return, or disc_difference, the lead in points over the number of squares."""
    targets: str = "full"
    """full: targets are outcomes of whole matches; watkins: an exploring action cuts the match in two."""
    logger: str = "none"
    """tensorboard: losses, comparisons and figures also as event files for TensorBoard."""
    force: bool = False
    """Make a stage's files again although they were made with other settings."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require("level", self.level, self.level is None or self.level >= 0, "0 or more")
        require("levels", self.levels, self.levels >= 1, "1 or more")
        require("matches", self.matches, self.matches >= 2, "2 or more")
        require("gamma", self.gamma, 0 <= self.gamma <= 1, "a discount from 0 to 1")
        require_rates("epsilons", self.epsilons)
        require("viewpoints", self.viewpoints, self.viewpoints in ("both", "agent"), "both or agent")
        require("opponents", self.opponents, self.opponents in ("self", "pool"), "self or pool")
        require_choice("outcome", self.outcome, OUTCOMES)
        require_choice("targets", self.targets, TARGET_RULES)
        require("logger", self.logger, self.logger in LOGGERS, " or ".join(LOGGERS))
        if (rows := self.dataset.buffer_rows) is not None and self.training.merge:
            raise SettingError(
                f"dataset.buffer_rows={rows}: equal rows merge only in memory; give training.merge=false"
            )
        # Only where a GPU is demanded, because looking at the optimizer imports torch.
        if self.device == CUDA and OPTIMIZERS[self.training.optimizer.name].runs_on_cpu_only:
            name = self.training.optimizer.name
            raise SettingError(f"training.optimizer.name={name} runs on the CPU only; set device=cpu or auto")
        if self.logger == "tensorboard":
            require_package("logger=tensorboard", "tensorboard")


def compose_settings(overrides: Sequence[str] = ()) -> Settings:
    """The settings of conf/ with these Hydra overrides, such as ["recipe=article", "seed=1"]. Raises SettingError."""
    return compose_settings_of(Settings, "config", overrides)
