"""The values of positions that were searched for earlier requests."""

from collections import OrderedDict
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from selfplay.games import State
from selfplay.players.player import Player
from selfplay.playing.estimates import Estimate, Values

MOST_ESTIMATES = 5000
"""Number of positions whose searched values are kept."""

Found = tuple[Values, bool, NDArray[np.int64] | None, bool, int | None]
"""The fields of an estimate without its player and position."""


class RecentEstimates:
    """The values that slow players have found, so that a position of a match is not searched twice.

    Several threads may use it. The least recently used values are dropped.
    """

    def __init__(self) -> None:
        # The player of a search is not kept, because its table is large; a shared solver is.
        self._kept: OrderedDict[object, tuple[Player | None, Found]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: object, player: Player, state: State) -> Estimate | None:
        """What `player` has found in a position (B = 1); None if it is not known."""
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            solver, found = self._kept[key]
        return Estimate(solver or player, state, *found)

    def keep(self, key: object, player: Player, estimate: Estimate) -> None:
        """Keep what `player`, or a shared solver in its place, has found."""
        solver = None if estimate.player is player else estimate.player
        with self._lock:
            found = estimate.values, estimate.in_points, estimate.visits, estimate.is_exact, estimate.preferred
            self._kept[key] = solver, found
            if len(self._kept) > MOST_ESTIMATES:
                self._kept.popitem(last=False)
