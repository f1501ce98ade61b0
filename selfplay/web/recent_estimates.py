"""The values of positions that were searched for earlier requests."""

from collections import OrderedDict
from threading import Lock

from selfplay.players.capabilities import NamesValues, capability
from selfplay.players.estimates import Estimate
from selfplay.players.player import Player
from selfplay.search.deadline import current_deadline
from selfplay.web.participants import UnaskedPlayer

MOST_ESTIMATES = 5000
"""Number of positions whose searched values are kept."""
MOST_PLAYERS = 64
"""Number of players that are held, because they put their values in words."""


class RecentEstimates:
    """The values that slow players have found, so that a position is not searched twice.

    Several threads may use it. The least recently used values are dropped.
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
            self._kept[key] = self._held(estimate)
            if len(self._kept) > MOST_ESTIMATES:
                self._kept.popitem(last=False)

    def _held(self, estimate: Estimate) -> Estimate:
        """The estimate without its player, which can hold megabytes, unless the player puts values in words. Those of
        too many such players are dropped."""
        player = estimate.player
        if capability(player, NamesValues) is None:
            return estimate._replace(player=UnaskedPlayer(player.name))
        self._players[id(player)] = player
        self._players.move_to_end(id(player))
        if len(self._players) > MOST_PLAYERS:
            _, dropped = self._players.popitem(last=False)
            self._kept = OrderedDict((key, kept) for key, kept in self._kept.items() if kept.player is not dropped)
        return estimate
