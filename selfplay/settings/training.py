"""How a level is trained: conf/recipe/ and conf/config.yaml, section training."""

from dataclasses import dataclass, field

from selfplay.settings.checks import require
from selfplay.settings.choices import OPTIMIZERS, SCHEDULES, require_choice

PRECISIONS = ("float32", "bfloat16")


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
        require_choice("training.optimizer.name", self.name, OPTIMIZERS)
        require("training.optimizer.level_decay", self.level_decay, 0 < self.level_decay <= 1, "above 0, at most 1")
        require("training.optimizer.learning_rate", self.learning_rate, self.learning_rate > 0, "a rate above 0")
        require("training.optimizer.weight_decay", self.weight_decay, self.weight_decay >= 0, "0 or more")
        require_choice("training.optimizer.schedule", self.schedule, SCHEDULES)


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
