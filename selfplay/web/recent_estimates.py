"""The values of positions that were searched for earlier requests."""

from collections import OrderedDict
from threading import Lock

from selfplay.players.estimates import Estimate
from selfplay.players.player import Player
from selfplay.search.deadline import current_deadline

MOST_ESTIMATES = 5000
"""Number of positions whose searched values are kept."""
MOST_PLAYERS = 64
"""Number of players whose values are kept."""


class RecentEstimates:
    """The values that slow players have found, so that a position is not searched twice.

    Several threads may use it. The least recently used values are dropped, and those of the players whose last values
    are the oldest, because values hold their player.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[object, Estimate] = OrderedDict()
        self._players: OrderedDict[int, Player] = OrderedDict()
        self._lock = Lock()

    def get(self, key: object) -> Estimate | None:
        """What is kept under a key; None if there is nothing."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def keep(self, key: object, estimate: Estimate) -> None:
        """Keep an estimate, unless its search may have been cut short by the deadline of the request."""
        if current_deadline().is_over:
            return
        with self._lock:
            self._kept[key] = estimate
            if len(self._kept) > MOST_ESTIMATES:
                self._kept.popitem(last=False)
            self._players[id(estimate.player)] = estimate.player
            self._players.move_to_end(id(estimate.player))
            if len(self._players) > MOST_PLAYERS:
                _, dropped = self._players.popitem(last=False)
                self._kept = OrderedDict((key, kept) for key, kept in self._kept.items() if kept.player is not dropped)
