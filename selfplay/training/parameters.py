"""How networks are trained: parameters with their ranges, and the optimisers and schedules that they name."""

from dataclasses import dataclass, field
from numbers import Real
from typing import Any

from selfplay.checks import IN_TRAINING, count, one_in, one_of, within
from selfplay.games.game import SEATS
from selfplay.registry import Registry
from selfplay.search.searcher import MAX_DEPTH

OPTIMIZERS: Registry[Any] = Registry(
    "optimizer",
    {"adam": "selfplay.training.optimizers:Adam"},
    group="selfplay.optimizers",
    attributes=("step",),
)
"""Classes of optimisers: (weights, gradient, training, *, is_portable) makes one, whose `step(learning_rate)` changes
the vector of all weights by that of their gradients: see `selfplay.training.optimizers.Adam`."""

SCHEDULES: Registry[Any] = Registry(
    "schedule",
    {"constant": "selfplay.training.optimizers:constant", "one_cycle": "selfplay.training.optimizers:one_cycle"},
    group="selfplay.schedules",
    arguments=("peak", "step", "total_steps"),
    result=(Real,),
)
"""(peak, step, total_steps) to the learning rate of a step: see `selfplay.training.optimizers`."""

PRECISIONS = ("float32", "bfloat16")


@dataclass(frozen=True)
class Training:
    """How a network is fitted to the rows of matches."""

    epochs: int = field(default=20, metadata=IN_TRAINING | count(1))
    """Number of epochs; the weights with the lowest validation loss are kept."""
    steps_per_epoch: int | None = field(default=20, metadata=IN_TRAINING | count(1))
    """Optimiser steps in an epoch; null: one pass over the training rows."""
    batch_size: int = field(default=1024, metadata=IN_TRAINING | count(1))
    """Rows in a batch."""
    optimizer: str = field(default="adam", metadata=IN_TRAINING | one_in(OPTIMIZERS))
    """adam (Kingma & Ba, 2015), or module:Class."""
    learning_rate: float = field(default=0.003, metadata=IN_TRAINING | within(above=0))
    """The highest learning rate of the first level."""
    level_decay: float = field(default=1.0, metadata=IN_TRAINING | within(above=0, most=1))
    """Factor applied to the learning rate at each level."""
    schedule: str = field(default="one_cycle", metadata=IN_TRAINING | one_in(SCHEDULES))
    """The learning rate within a level: constant, or one_cycle: it rises, then falls to almost 0 (Smith & Topin,
    2018)."""
    weight_decay: float = field(default=0.0, metadata=IN_TRAINING | within(0))
    """Weight decay, added to the gradient unless decoupled_weight_decay."""
    decoupled_weight_decay: bool = field(default=False, metadata=IN_TRAINING)
    """Decay the weights themselves (AdamW) instead of adding to the gradient."""
    precision: str = field(default="float32", metadata=IN_TRAINING | one_of(*PRECISIONS))
    """Precision in training: float32, or bfloat16 where torch's autocast allows it."""
    validation_fraction: float = field(default=0.2, metadata=IN_TRAINING | within(above=0, below=1))
    """Share of the matches held out for the validation loss."""
    symmetries: bool = field(default=True, metadata=IN_TRAINING)
    """Train on every symmetric image of each row."""
    merge: bool = field(default=True, metadata=IN_TRAINING)
    """Merge the rows of equal observations into one with their mean target."""
    weight_power: float = field(default=0.5, metadata=IN_TRAINING | within(-10, 10))
    """The weight of a merged row is (number of rows) ** weight_power."""
    start: str = field(default="previous", metadata=IN_TRAINING | one_of("previous", "fresh"))
    """Initial weights. previous: of the previous level; fresh: new ones, which need more data (replay)."""

    def recorded(self) -> dict[str, Any]:
        """The parameters as the file of an agent has them."""
        of_optimizer = {
            "name": self.optimizer,
            "learning_rate": self.learning_rate,
            "level_decay": self.level_decay,
            "weight_decay": self.weight_decay,
            "decoupled_weight_decay": self.decoupled_weight_decay,
            "schedule": self.schedule,
        }
        names = (
            *("epochs", "steps_per_epoch", "batch_size", "precision", "validation_fraction", "symmetries", "merge"),
            *("start", "weight_power"),
        )
        return {name: getattr(self, name) for name in names} | {"optimizer": of_optimizer}


@dataclass(frozen=True)
class StepSizes:
    """How tables learn from the differences between successive values (temporal differences)."""

    step_size: float = field(default=0.01, metadata=within(above=0, most=10))
    """The largest step size of a weight (alpha)."""
    level_decay: float = field(default=1.0, metadata=within(above=0, most=1))
    """Factor applied to the step size at each level."""
    trace_decay: float = field(default=0.7, metadata=within(0, 1))
    """lambda: the weight of later values in the target of an afterstate; 1: the outcome only."""
    sharpness: float = field(default=2.7, metadata=within(0, 100))
    """How much the step size of weights whose recommended changes cancel out is reduced: by exp(sharpness * (coherence
    - 1))."""
    round_matches: int = field(default=128, metadata=count(1))
    """Matches that are played with the same weights before the weights learn from them."""


LARGEST_DIFFERENCE = 2
"""The difference between the values of a won and a lost position."""


@dataclass(frozen=True)
class ExpertIteration:
    """How a level learns from a search (the expert) which actions are good."""

    epsilons: list[float] = field(default_factory=[0.25].copy, metadata=within(0, 1))
    """Exploration rates by ply; the last is for all later plies."""
    seat: str = field(default="both", metadata=one_of(*SEATS, "both"))
    """The seat of the level on the lines that are walked: first, second, or both."""
    reply_depth: int = field(default=6, metadata=within(1, MAX_DEPTH))
    """How many plies the search looks ahead for the opponent's likely actions."""
    slack: float = field(default=0.3, metadata=within(0, LARGEST_DIFFERENCE))
    """Only actions of the opponent at most this far below the best one are followed."""
    most_positions: int = field(default=5000, metadata=count(1))
    """Maximum positions in a ply of the walk."""
    noise: float = field(default=0.02, metadata=within(0, LARGEST_DIFFERENCE))
    """A random number up to this is added to what the opponent gave away."""
    tolerance: float = field(default=0.05, metadata=within(0, LARGEST_DIFFERENCE))
    """An action is good if its value is at most this far below the best one."""
    margin: float = field(default=0.05, metadata=within(above=0, most=1))
    """By how much the sum of weights after a good action should exceed those after poor ones."""
    passes: int = field(default=20, metadata=count(1))
    """Maximum passes through the lessons in each training."""
    weights_by_ply: bool = True
    """Whether tables get weights for each number of stones; if not, these serve the walk only."""


@dataclass(frozen=True)
class LossWeights:
    """The weights of the two parts of the loss, where datasets have policies."""

    value: float = field(default=1.0, metadata=within(0, 1000))
    """Weight of the squared error of the value."""
    policy: float = field(default=1.0, metadata=within(0, 1000))
    """Weight of the cross-entropy of the policy."""


EQUAL_WEIGHTS = LossWeights()
