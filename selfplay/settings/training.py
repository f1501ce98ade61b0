"""How a level is trained: section `training` of the settings of a run."""

from dataclasses import dataclass, field
from math import inf

from selfplay.settings.checks import require, require_count, require_number
from selfplay.settings.choices import OPTIMIZERS, SCHEDULES, require_choice

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
