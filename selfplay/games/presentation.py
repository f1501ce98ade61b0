"""How a game is shown to people, apart from its rules."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from torch import Tensor

from selfplay.games.state import State

if TYPE_CHECKING:
    pass


class PositionLine(NamedTuple):
    """A line on which the positions of a game stand, so that one number tells them apart."""

    label: str
    """What the number is, as the label of an axis."""
    place: Callable[[State], Tensor]
    """The number of each position of a state: int64[B]."""
    end: int | None = None
    """The number at which a match ends, if there is such a one; it then begins at 0."""
