"""Protocols for abilities that only some networks have.

A network has a capability if it has the method. Code that needs one asks `isinstance(network, CompiledValues)`, not
for the class of the network.
"""

from collections.abc import Iterable
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from selfplay.architectures import ARCHITECTURES, Output
from selfplay.games import Game
from selfplay.games.patterns import TrainableTables
from selfplay.search.evaluation import Evaluation


@runtime_checkable
class CompiledValues(Protocol):
    """A network whose values can be computed inside compiled searches, without torch."""

    def evaluation(self, name: str, game: Game, win: float, margin: float) -> Evaluation:
        """The values of the network with its present weights, for searches of `game`.

        Args:
            name: the name that the user gave it.
            win, margin: the value of a won match, and of each point by which the player leads at the end.
        """


@runtime_checkable
class TableWeights(Protocol):
    """A network of tables of patterns whose weights compiled code can read and change (learning=td)."""

    def trainable_tables(self) -> TrainableTables:
        """Its tables on the CPU. The weights are not copied: writing into them changes the network."""


class LayerLists(NamedTuple):
    """The layers of a network, in the order in which they are computed, from one observation to its `Output`.

    Compiled searches and exported pages compute those that `selfplay.architectures.layer_program.LAYERS` names.
    """

    value: Iterable[nn.Module]
    """From the output of the trunk to the value."""
    policy: Iterable[nn.Module] | None = None
    """From the output of the trunk to the policy logits; None: the network has no policy head."""
    trunk: Iterable[nn.Module] = ()
    """From the observation to what both heads see."""


@runtime_checkable
class ScoresActions(Protocol):
    """A network that computes the logits of a few actions in less time than those of all."""

    def output_of(self, observations: Tensor, actions: Tensor) -> Output:
        """Its output, with the logits of some actions (int64[N, K]) alone: float32[N, K]."""


@runtime_checkable
class ListedLayers(Protocol):
    """A network that is a sequence of layers, which may branch into two heads."""

    def listed_layers(self) -> LayerLists:
        """The layers. They are not copied."""


@runtime_checkable
class FeatureWeights(Protocol):
    """A network whose value is a weighted sum of the features of its game."""

    def feature_weights(self) -> dict[str, float]:
        """The weight of each feature by its name, for the value to the player to move."""


@runtime_checkable
class SquareWeights(Protocol):
    """A network that can compute how much a stone on each square adds to the value."""

    def square_weights(self) -> NDArray[np.float64]:
        """float64[phases, rows, columns]: what a stone of the player who has just moved adds, phase by phase."""


def has_compiled_values(architecture: str) -> bool:
    """Whether compiled searches can compute the values of networks of the architecture with this name.

    Raises SettingError for an unknown name.
    """
    network = ARCHITECTURES[architecture]
    return isinstance(network, type) and issubclass(network, CompiledValues | FeatureWeights)
