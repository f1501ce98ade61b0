"""What some networks can do besides evaluating a batch of observations.

A network has a capability if it has the method. Code that needs one asks `isinstance(network, CompiledValues)`, and
never for the class of the network.
"""

from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

# The reports of a run load networks that have none of these, and should not wait for the compiler.
if TYPE_CHECKING:
    from selfplay.games import Game
    from selfplay.games.patterns import TrainableTables
    from selfplay.search.evaluation import Valuation


@runtime_checkable
class CompiledValues(Protocol):
    """A network whose values compiled searches can compute by themselves."""

    def valuation(self, name: str, game: "Game", win: float, margin: float) -> "Valuation":
        """The values of the network as it is now, for searches of `game`.

        Args:
            name: how the user named it.
            win, margin: the value of a match that is won, and of each point by which the player leads at the end.
        """


@runtime_checkable
class RowByRowTrainable(Protocol):
    """A network of tables, which gradient descent can change after each single row."""

    def trainable_tables(self) -> "TrainableTables":
        """Its tables on the CPU, with the weights themselves: what is written into them changes the network."""


@runtime_checkable
class FeatureWeights(Protocol):
    """A network whose value is a weighted sum of the features of its game."""

    def feature_weights(self) -> dict[str, float]:
        """The weight of each feature by its name, for the value to the player to move."""


@runtime_checkable
class SquareWeights(Protocol):
    """A network that can tell what a stone on each square adds to the value."""

    def square_weights(self) -> NDArray[np.float64]:
        """float64[phases, rows, columns]: what a stone of the player who has just moved adds, phase by phase."""
