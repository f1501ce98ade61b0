"""The settings of a run, checked: what conf/ holds, as dataclasses.

    python -m selfplay.settings recipe=article seed=1 -- levels run_dir

prints the values of `levels` and `run_dir`, a line each, for the shell scripts.
"""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar, cast

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from selfplay.devices import CUDA, require_device
from selfplay.errors import SettingError

PROJECT_FOLDER = Path(__file__).resolve().parent.parent
CONFIG_FOLDER = PROJECT_FOLDER / "conf"

OmegaConf.register_new_resolver("project_folder", lambda: str(PROJECT_FOLDER), replace=True)

OUTCOMES = ("return", "disc_difference")
EXECUTORS = ("serial", "process", "ray")
PRECISIONS = ("float32", "bfloat16")
SGD_ON_CPU = "training.optimizer.name=sgd goes row after row on the CPU; give device=cpu or auto"
LOGGERS = ("none", "tensorboard")


def require(name: str, value: object, valid: bool, allowed: str) -> None:
    if not valid:
        raise SettingError(f"{name}={value}: give {allowed}")


@dataclass
class GameSettings:
    """Which game (conf/game/)."""

    name: str = "tictactoe"


@dataclass
class PlayerSettings:
    """How a level chooses actions by its network (conf/level_player/)."""

    depth: int = 1
    temperature: float = 0.0

    def __post_init__(self) -> None:
        require("player.depth", self.depth, self.depth >= 1, "1 or more")
        require("player.temperature", self.temperature, self.temperature >= 0, "0 or more")


@dataclass
class ExecutorSettings:
    """Who runs the shards of a stage (conf/executor/)."""

    name: str = "serial"
    workers: int | None = None
    """Shards that are played side by side; None: as many as there are cores, here or in the cluster."""
    address: str | None = None
    """Of a Ray cluster; "auto" is the one that this machine belongs to; None starts Ray on this machine alone."""

    def __post_init__(self) -> None:
        require("executor.name", self.name, self.name in EXECUTORS, " or ".join(EXECUTORS))
        require("executor.workers", self.workers, self.workers is None or self.workers >= 1, "1 or more, or null")
        if self.name == "ray":
            require_package("executor=ray", "ray")


@dataclass
class OptimizerSettings:
    """How the weights go down the gradient, and how the step size runs over a level's training and over the levels."""

    name: str = "adam"
    """adam: in batches (Kingma & Ba, 2015); sgd: row after row, for tables (architecture=ntuple)."""
    learning_rate: float = 0.003
    level_decay: float = 1.0
    """The learning rate of each level is so much of that of the level before it."""
    weight_decay: float = 0.0
    decoupled_weight_decay: bool = False
    """Decay the weights themselves (AdamW) instead of adding to the gradient."""
    schedule: str = "one_cycle"

    def __post_init__(self) -> None:
        require("training.optimizer.name", self.name, self.name in ("adam", "sgd"), "adam or sgd")
        require("training.optimizer.level_decay", self.level_decay, 0 < self.level_decay <= 1, "above 0, at most 1")
        require("training.optimizer.learning_rate", self.learning_rate, self.learning_rate > 0, "a rate above 0")
        require("training.optimizer.weight_decay", self.weight_decay, self.weight_decay >= 0, "0 or more")
        schedules = ("constant", "one_cycle")
        require("training.optimizer.schedule", self.schedule, self.schedule in schedules, " or ".join(schedules))


@dataclass
class TrainingSettings:
    """How a level is trained (conf/recipe/)."""

    epochs: int = 20
    steps_per_epoch: int | None = None
    """Optimiser steps in an epoch; None: one pass over the training rows."""
    batch_size: int = 1024
    precision: str = "float32"
    """What networks compute with while they are trained: float32, or bfloat16 where torch's autocast allows it.

    Weights, losses and play keep float32.
    """
    validation_fraction: float = 0.2
    """Share of the matches whose rows are held out."""
    symmetries: bool = True
    """Train on every symmetric image of each row."""
    merge: bool = True
    """Merge the rows of equal observations into one with their mean target."""
    start: str = "previous"
    """The weights to start from: those of the previous level, or fresh ones, which wants more data (dataset.replay)."""
    weight_power: float = 0.5
    """A merged row weighs (number of rows) ** weight_power."""
    optimizer: OptimizerSettings = field(default_factory=OptimizerSettings)

    def __post_init__(self) -> None:
        require("training.epochs", self.epochs, self.epochs >= 1, "1 or more")
        steps = self.steps_per_epoch
        require("training.steps_per_epoch", steps, steps is None or steps >= 1, "1 or more, or null")
        require("training.batch_size", self.batch_size, self.batch_size >= 1, "1 or more")
        require("training.precision", self.precision, self.precision in PRECISIONS, " or ".join(PRECISIONS))
        require("training.start", self.start, self.start in ("previous", "fresh"), "previous or fresh")
        fraction = self.validation_fraction
        require("training.validation_fraction", fraction, 0 < fraction < 1, "a share between 0 and 1")


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


def require_package(setting: str, package: str) -> None:
    """Raises SettingError, naming the mend, if the optional package that a setting needs is not installed."""
    spec = find_spec(package)
    # A folder of that name, such as that of a run, is found as a package without a file.
    if spec is None or spec.origin is None:
        raise SettingError(
            f"{setting} needs the package {package}, which is not installed; "
            f"run pip install -e '.[{package}]' in {PROJECT_FOLDER}"
        )


def require_rates(name: str, rates: Sequence[float]) -> None:
    valid = len(rates) > 0 and all(0 <= rate <= 1 for rate in rates)
    require(name, list(rates), valid, "one or more rates from 0 to 1")


@dataclass
class CommonSettings:
    """What every program can be told: conf/common.yaml."""

    run_dir: str
    game: GameSettings = field(default_factory=GameSettings)
    seed: int = 0
    batch_size: int | None = None
    """Matches played in lockstep; None: 16,384 on the CPU, on a GPU as many as its memory holds."""
    threads: int = 1
    """Threads of torch in one process."""
    device: str = "auto"
    """Where matches are played and networks trained: cpu, cuda, or auto, the GPU if there is one."""

    def __post_init__(self) -> None:
        require("seed", self.seed, -(2**63) <= self.seed < 2**63, "a whole number of 64 bits")
        require("batch_size", self.batch_size, self.batch_size is None or self.batch_size >= 1, "1 or more, or null")
        require("threads", self.threads, self.threads >= 1, "1 or more")
        require_device(self.device)


AnySettings = TypeVar("AnySettings", bound=CommonSettings)


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
        require("outcome", self.outcome, self.outcome in OUTCOMES, " or ".join(OUTCOMES))
        require("targets", self.targets, self.targets in ("full", "watkins"), "full or watkins")
        require("logger", self.logger, self.logger in LOGGERS, " or ".join(LOGGERS))
        if (rows := self.dataset.buffer_rows) is not None and self.training.merge:
            raise SettingError(
                f"dataset.buffer_rows={rows}: equal rows merge only in memory; give training.merge=false"
            )
        if self.device == CUDA and self.training.optimizer.name == "sgd":
            raise SettingError(SGD_ON_CPU)
        if self.logger == "tensorboard":
            require_package("logger=tensorboard", "tensorboard")


def settings_from_config(config: DictConfig, kind: type[AnySettings]) -> AnySettings:
    """The settings of that kind that a composed configuration holds.

    Raises SettingError for an unknown name or a wrong value.
    """
    try:
        values = OmegaConf.to_container(config, resolve=True)
        merged = OmegaConf.merge(OmegaConf.structured(kind), values)
        return cast(AnySettings, OmegaConf.to_object(merged))
    except OmegaConfBaseException as error:
        raise SettingError(one_line(error)) from error


def compose_settings(overrides: Sequence[str] = ()) -> Settings:
    """The settings of conf/ with these Hydra overrides, such as ["recipe=article", "seed=1"]. Raises SettingError."""
    return compose_settings_of(Settings, "config", overrides)


def compose_settings_of(kind: type[AnySettings], config: str, overrides: Sequence[str] = ()) -> AnySettings:
    """The settings of that kind from conf/`config`.yaml with these Hydra overrides. Raises SettingError."""
    from hydra import compose, initialize_config_dir
    from hydra.errors import HydraException

    try:
        with initialize_config_dir(str(CONFIG_FOLDER), version_base="1.3"):
            return settings_from_config(compose(config, list(overrides)), kind)
    except SettingError:
        raise
    except (HydraException, OmegaConfBaseException, ValueError) as error:
        raise SettingError(one_line(error)) from error


def one_line(error: BaseException) -> str:
    """What Hydra or OmegaConf has to say, as one line: the cause, the key and the choices, without the search path."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    kept: list[str] = []
    for line in lines:
        if line.startswith(("Config search path", "To append", "object_type", "reference_type", "Set the env", "See ")):
            break
        kept.append(line.replace("full_key:", "key"))
    cause = error.__cause__
    if cause is not None and isinstance(cause, OmegaConfBaseException) and len(kept) <= 1:
        kept.append(str(cause).splitlines()[0])
    text = " ".join(kept).removeprefix("In 'config': ")
    if unknown := re.match(r"Could not override '([^']+)'.* is not in struct", text):
        return f"unknown setting {unknown[1]!r}; --help shows all"
    override = getattr(error, "override", None)
    return text if override is None or f"'{override}'" in text else f"{override}: {text}"


def main(arguments: Sequence[str]) -> None:
    """Print the values of the settings that are named after `--`. Raises SettingError."""
    from selfplay.command_line import overrides_first

    split = len(arguments) - 1 - list(reversed(arguments)).index("--")
    overrides = overrides_first(arguments[:split])
    if foreign := [override for override in overrides if override.startswith("-")]:
        raise SettingError(f"{foreign[0]} is for the scripts of the stages; here give settings only")
    settings = compose_settings(overrides)
    for name in arguments[split + 1 :]:
        sys.stdout.write(f"{getattr(settings, name)}\n")


if __name__ == "__main__":
    from selfplay.command_line import run_reporting_errors

    run_reporting_errors(lambda: main(sys.argv[1:]))
