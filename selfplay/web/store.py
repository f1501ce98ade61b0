"""The open matches by id. Their number is limited, and unused matches expire."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from math import ceil
from typing import Generic, TypeVar

from selfplay.web.errors import NotFoundError, TooManyMatchesError

Held = TypeVar("Held")


class MatchStore(Generic[Held]):
    """Matches by id.

    Args:
        limit: the largest number of open matches.
        seconds: a match expires when it has not been used for this time.
        clock: a monotonic clock, in seconds.
    """

    def __init__(self, limit: int, seconds: float, clock: Callable[[], float]) -> None:
        self.limit, self.seconds, self._clock = limit, seconds, clock
        self._lock = threading.Lock()
        # The least recently used match is first.
        self._matches: OrderedDict[str, tuple[Held, float]] = OrderedDict()

    def __len__(self) -> int:
        with self._lock:
            self._remove_expired()
            return len(self._matches)

    def add(self, name: str, match: Held) -> None:
        """Add a match. Raises TooManyMatchesError if the limit is reached."""
        with self._lock:
            self._make_room()
            self._matches[name] = (match, self._clock())

    def check_room(self) -> None:
        """Raise TooManyMatchesError if the limit is reached."""
        with self._lock:
            self._make_room()

    def get(self, name: str) -> Held:
        """The match with this id; it counts as used now. Raises NotFoundError if there is none."""
        with self._lock:
            self._remove_expired()
            if name not in self._matches:
                raise NotFoundError("unknown match: it may have expired; begin a new one")
            match, _ = self._matches.pop(name)
            self._matches[name] = (match, self._clock())
            return match

    def remove(self, name: str) -> None:
        """Remove a match. Raises NotFoundError if there is none."""
        self.get(name)
        with self._lock:
            self._matches.pop(name, None)

    def _make_room(self) -> None:
        self._remove_expired()
        if len(self._matches) >= self.limit:
            _, last_used = next(iter(self._matches.values()))
            raise TooManyMatchesError(self.limit, max(1, ceil(last_used + self.seconds - self._clock())))

    def _remove_expired(self) -> None:
        now = self._clock()
        while self._matches:
            name, (_, last_used) = next(iter(self._matches.items()))
            if now - last_used < self.seconds:
                return
            del self._matches[name]
