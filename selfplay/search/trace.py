"""Records which positions a search visits, by running the search itself uncompiled."""

from dataclasses import dataclass

import numpy as np

from selfplay.compute.bit_algebra import bit_count
from selfplay.games.game import Game
from selfplay.games.rules import Position
from selfplay.search.negamax import Negamax
from selfplay.search.negamax_memory import NegamaxSearch


@dataclass(eq=False)
class Visit:
    """One visit of a position by a search; NegaScout may visit a position twice.

    Values are to the player to move in the position.
    """

    actions: tuple[int, ...]
    """The actions from the searched position to this one."""
    alpha: float
    beta: float
    """The window of values that matter."""
    value: float = np.nan
    following: tuple[int, ...] = ()
    """The actions of this position in the order in which they are tried; () if the value is known without trying
    any."""
    num_tried: int = 0
    """How many of them were tried before the rest was cut off."""
    last_tried: Position | None = None
    """The position that the last of them leads to."""


class Trace:
    """The visits of one search of a position of `game`, in order."""

    def __init__(self, game: Game) -> None:
        self.visits: list[Visit] = []
        self._active: list[Visit] = []
        self._game = game

    def recording(self, part: Negamax) -> Negamax:
        """A function of `negamax_of` that records its visits here; it runs uncompiled."""

        def visit(
            position: Position, left: int, alpha: float, beta: float, search: NegamaxSearch
        ) -> tuple[float, bool]:
            following, actions = search.actions, tuple[int, ...]()
            if self._active:
                parent = self._active[-1]
                parent.num_tried += parent.last_tried != position
                parent.last_tried = position
                actions = (*parent.actions, int(following[left + 1, parent.num_tried - 1]))
            here = Visit(actions, float(alpha), float(beta))
            self.visits.append(here)
            self._active.append(here)
            value, is_open = part(position, left, alpha, beta, search)
            here.value = float(value)
            self._active.pop()
            if here.num_tried > 0:
                count = max(1, bit_count(self._game.rules.legal_actions(position)))
                here.following = tuple(following[left, :count].tolist())
            return value, is_open

        return visit
