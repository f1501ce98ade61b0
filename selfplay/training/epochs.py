"""What is measured in an epoch of the training of a level: a row of epoch_loss.csv, in one shape for all learners."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

LOSS_DECIMALS = 6
"""Decimal places of all that is measured: means of float32 numbers, which have about seven digits."""


class Epoch(NamedTuple):
    """An epoch of the training of a level."""

    epoch: int
    """From 1."""
    measured: Mapping[str, float]
    """Numbers of at least 0, by the names of their columns, which say what they are, such as mean_squared_error. By the
    last of them epochs and levels are compared: the lower, the better."""
    is_champion: bool = True
    """Whether it is better than all earlier epochs. The weights of the last such epoch are kept."""
    parts: Mapping[str, float] = MappingProxyType({})
    """Further numbers of the epoch, of which the others are made."""

    @property
    def judged_by(self) -> str:
        """The name of the number by which epochs are compared."""
        return list(self.measured)[-1]

    @property
    def judged(self) -> float:
        """The number by which epochs are compared."""
        return self.measured[self.judged_by]

    @property
    def unit(self) -> str:
        """What the measured numbers are, for axes of figures."""
        return "squared error and cross-entropy" if self.parts else described(self.judged_by).unit


class Described(NamedTuple):
    """What a measured number is, in words for figures."""

    title: str
    unit: str


DESCRIPTIONS = {
    "training_loss": Described("Training loss", "mean squared error"),
    "validation_loss": Described("Validation loss", "mean squared error"),
    "mean_squared_error": Described("Error of the values while they are learned", "mean squared error"),
    "share_of_mistakes_left": Described("Mistakes left among the lessons", "share of the positions"),
    "share_of_mistakes_met": Described("Mistakes in the matches of the level", "share of the positions"),
}


def described(name: str) -> Described:
    """The description of a measured number; one that only its learner knows is described by its name."""
    words = name.replace("_", " ")
    return DESCRIPTIONS.get(name, Described(words[:1].upper() + words[1:], words))
