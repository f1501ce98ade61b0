"""The sections of the settings of a run: training, tree search in self-play, datasets, comparison."""

from dataclasses import dataclass, field
from math import inf
from typing import Any

from selfplay.errors import SettingError
from selfplay.settings.choices import DATASET_FORMATS, OPTIMIZERS, SCHEDULES, SEARCH_RULES
from selfplay.settings.fields import (
    PLAYER_NAME,
    affects,
    require,
    require_choice,
    require_count,
    require_number,
    require_rates,
)

PRECISIONS = ("float32", "bfloat16")


@dataclass
class OptimizerSettings:
    """The optimiser, and how its learning rate changes during the training of a level and from level to level."""

    name: str = "adam"
    """adam: in batches (Kingma & Ba, 2015); sgd: row by row, for tables of patterns (architecture=ntuple)."""
    learning_rate: float = 0.003
    """The highest learning rate of the first level."""
    level_decay: float = 1.0
    """Factor applied to the learning rate at each level."""
    weight_decay: float = 0.0
    """Weight decay, by adding to the gradient or decoupled from it (decoupled_weight_decay)."""
    decoupled_weight_decay: bool = False
    """Decay the weights themselves (AdamW) instead of adding to the gradient."""
    schedule: str = "one_cycle"
    """constant, or one_cycle: rise to the learning rate, then fall to almost 0 (Smith & Topin, 2018)."""

    def __post_init__(self) -> None:
        require_choice("training.optimizer.name", self.name, OPTIMIZERS)
        require("training.optimizer.level_decay", self.level_decay, 0 < self.level_decay <= 1, "above 0, at most 1")
        require("training.optimizer.learning_rate", self.learning_rate, 0 < self.learning_rate < inf, "above 0")
        require_number("training.optimizer.weight_decay", self.weight_decay, 0)
        require_choice("training.optimizer.schedule", self.schedule, SCHEDULES)


@dataclass
class TrainingSettings:
    """How a level is trained."""

    epochs: int = 20
    """Number of epochs; the weights of the one with the lowest validation loss are kept."""
    steps_per_epoch: int | None = 20
    """Optimiser steps in an epoch; null: one pass over the training rows."""
    batch_size: int = 1024
    """Rows in a batch."""
    precision: str = "float32"
    """Precision of the network's computations in training: float32, or bfloat16 where torch's autocast allows it.
    Weights, losses and play keep float32."""
    validation_fraction: float = 0.2
    """Share of the matches whose rows are held out for the validation loss."""
    symmetries: bool = True
    """Train on every symmetric image of each row."""
    merge: bool = True
    """Merge the rows of equal observations into one with their mean target."""
    start: str = "previous"
    """Initial weights: previous, those of the previous level, or fresh, which needs more data (dataset.replay)."""
    weight_power: float = 0.5
    """The weight of a merged row is (number of rows) ** weight_power."""
    optimizer: OptimizerSettings = field(default_factory=OptimizerSettings)

    def __post_init__(self) -> None:
        require_count("training.epochs", self.epochs, 1)
        steps = self.steps_per_epoch
        require_count("training.steps_per_epoch", steps, 1, or_null=True)
        require_count("training.batch_size", self.batch_size, 1)
        require("training.precision", self.precision, self.precision in PRECISIONS, " or ".join(PRECISIONS))
        require("training.start", self.start, self.start in ("previous", "fresh"), "previous or fresh")
        require("training.weight_power", self.weight_power, abs(self.weight_power) <= 10, "from -10 to 10")
        fraction = self.validation_fraction
        require("training.validation_fraction", fraction, 0 < fraction < 1, "above 0 and below 1")


MOST_SIMULATIONS = 1_000_000


@dataclass
class TemporalDifferenceSettings:
    """How a level learns while it plays, with learning=td."""

    step_size: float = 0.01
    """The largest step size of a weight (alpha), that of a weight whose recommended changes all have the same sign."""
    level_decay: float = 1.0
    """Factor applied to the step size at each level."""
    trace_decay: float = 0.7
    """lambda: the weight of later values in the target of an afterstate, from 0, the next value, to 1, the outcome."""
    sharpness: float = 2.7
    """How much less weights change whose recommended changes cancel out: exp(sharpness * (coherence - 1)) of the step
    size (temporal coherence; Bagheri, Thill, Koch & Konen, 2014); 0: all the same."""
    round_matches: int = 128
    """Matches that are played with the same weights before these learn from them."""

    def __post_init__(self) -> None:
        require("td.step_size", self.step_size, 0 < self.step_size < inf, "above 0")
        require("td.level_decay", self.level_decay, 0 < self.level_decay <= 1, "above 0, at most 1")
        require("td.trace_decay", self.trace_decay, 0 <= self.trace_decay <= 1, "from 0 to 1")
        require_number("td.sharpness", self.sharpness, 0)
        require_count("td.round_matches", self.round_matches, 1)


@dataclass
class TreeSearchSettings:
    """How levels search in the matches of their datasets, with targets=search (conf/mcts/)."""

    rule: str = "puct"
    """How simulations choose actions: puct, gumbel or uct."""
    constants: dict[str, float] = field(default_factory=dict)
    """Constants of the rule that differ from their defaults, such as the noise at the root."""
    simulations: int = 32
    """Simulations for each action."""
    proves: bool = True
    """Whether exact values are proved (MCTS-solver)."""
    reuse: bool = False
    """Whether the search of a ply continues the part of the last ply's tree below the action played; not for gumbel."""
    temperature: float = 1.0
    """In the first plies, actions are drawn with probability proportional to policy ** (1 / temperature); 0: the action
    that the search concludes."""
    temperature_plies: int = 8
    """Number of plies with this temperature; later ones have 0."""
    opening_plies: int = 0
    """Each match begins with 0 to this number of random plies. Positions in which they are played give no rows."""
    value_mix: float = 0.0
    """Share of the value that the search finds in the target; the rest is the outcome of the match."""

    def __post_init__(self) -> None:
        require_choice("mcts.rule", self.rule, SEARCH_RULES)
        valid = 1 <= self.simulations <= MOST_SIMULATIONS
        require("mcts.simulations", self.simulations, valid, f"1 to {MOST_SIMULATIONS:,}")
        require_number("mcts.temperature", self.temperature, 0)
        require_count("mcts.temperature_plies", self.temperature_plies, 0)
        require_count("mcts.opening_plies", self.opening_plies, 0)
        require("mcts.value_mix", self.value_mix, 0 <= self.value_mix <= 1, "between 0 and 1")


@dataclass
class LossSettings:
    """The weights of the two parts of the loss, where datasets have policies."""

    value: float = 1.0
    """Weight of the squared error of the value."""
    policy: float = 1.0
    """Weight of the cross-entropy of the policy."""

    def __post_init__(self) -> None:
        require_number("loss.value", self.value, 0)
        require_number("loss.policy", self.policy, 0)


def _has_parts(settings: Any, _: int) -> bool:
    """Whether the dataset of a run with these `Settings` consists of several files."""
    return bool(DATASET_FORMATS[settings.dataset.format].has_parts)


@dataclass
class DatasetSettings:
    """How the rows of a level's matches are stored and read."""

    format: str = field(default="csv", metadata=affects("generation", recorded_as="format"))
    """csv: readable by anything; parquet: a twentieth to a fortieth of the size."""
    replay: int = field(default=0, metadata=affects("run"))
    """Number of earlier levels whose datasets are also trained on."""
    shard_matches: int = field(
        default=16384, metadata=affects("generation", when=_has_parts, recorded_as="shard_matches")
    )
    """Matches that a worker plays at a time, and whose rows form one file of dataset.parquet. It limits batch_size, and
    the order in which buffer_rows reads rows depends on it."""
    buffer_rows: int | None = field(default=None, metadata=affects("training", unless_default=True))
    """Rows held in memory while training, for datasets larger than memory; needs dataset.format=parquet and
    training.merge=false. null: all rows."""

    def __post_init__(self) -> None:
        require_count("dataset.shard_matches", self.shard_matches, 1)
        require_choice("dataset.format", self.format, DATASET_FORMATS)
        require_count("dataset.replay", self.replay, 0)
        rows = self.buffer_rows
        require("dataset.buffer_rows", rows, rows is None or 1 <= rows <= 2**31, "1 to 2147483648, or null")
        if rows is not None and not DATASET_FORMATS[self.format].has_parts:
            raise SettingError(
                f"dataset.buffer_rows={rows}: {self.format} cannot be read in parts; set dataset.format=parquet"
            )


@dataclass
class ComparisonSettings:
    """How levels are compared. The settings from `references` on are for games too large to enumerate."""

    matches: int = 1000
    """Matches of a level against its predecessor, and against each other opponent."""
    epsilons: list[float] = field(default_factory=lambda: [0.5, 0.5, 0.1])
    """Exploration rates by ply of both players in the matches between a level and its predecessor."""
    references: list[str] | None = field(default=None, metadata=PLAYER_NAME)
    """Players that levels meet in addition to the random player, such as [greedy_discs]; null: the game's defaults."""
    opening_plies: int = 8
    """Random plies at the start of each match, the same from both seats. Othello has 244 openings of four plies and
    390,216 of eight."""
    every: int | None = None
    """Play level 1, the newest and every n-th level between against the references; null: about ten levels."""
    earlier_matches: int = 100
    """Matches against each reference of a level other than the newest, and between references."""
    endgames: int = 100
    """Number of solved endgame positions (few empty squares) in which players are tested; 0: none. Games whose exact
    solver solves whole matches have `judged` instead."""
    judged: int = 100
    """Positions in each of six groups, by stage and difficulty, in which an exact solver judges players; 0: none."""
    perfect_matches: int = 10
    """Matches in each seat against perfect play, from the initial position, of level 1, the newest and every n-th level
    between; 0: none."""

    def __post_init__(self) -> None:
        require_count("comparison.matches", self.matches, 2)
        require_count("comparison.opening_plies", self.opening_plies, 0)
        require_count("comparison.every", self.every, 1, or_null=True)
        require_count("comparison.earlier_matches", self.earlier_matches, 2)
        for name in ("endgames", "judged", "perfect_matches"):
            require_count(f"comparison.{name}", getattr(self, name), 0)
        require_rates("comparison.epsilons", self.epsilons)
