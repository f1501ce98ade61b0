"""The matches that are open, by their ids: so many at most, and none that everybody has left."""

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
        limit: matches held at the same time.
        seconds: a match that was not asked for so long is forgotten.
        clock: seconds that only grow.
    """

    def __init__(self, limit: int, seconds: float, clock: Callable[[], float]) -> None:
        self.limit, self.seconds, self._clock = limit, seconds, clock
        self._lock = threading.Lock()
        # The one that was touched longest ago stands first.
        self._matches: OrderedDict[str, tuple[Held, float]] = OrderedDict()

    def __len__(self) -> int:
        with self._lock:
            self._forget_left()
            return len(self._matches)

    def add(self, name: str, match: Held) -> None:
        """Hold a match. Raises TooManyMatchesError if there are too many."""
        with self._lock:
            self._make_room()
            self._matches[name] = (match, self._clock())

    def check_room(self) -> None:
        """Raise TooManyMatchesError if there is no room for one more."""
        with self._lock:
            self._make_room()

    def get(self, name: str) -> Held:
        """The match of that id, which counts as touched. Raises NotFoundError if there is none any more."""
        with self._lock:
            self._forget_left()
            if name not in self._matches:
                raise NotFoundError("there is no such match, or it was left alone for too long; begin a new one")
            match, _ = self._matches.pop(name)
            self._matches[name] = (match, self._clock())
            return match

    def remove(self, name: str) -> None:
        """Forget a match. Raises NotFoundError as `get`."""
        self.get(name)
        with self._lock:
            self._matches.pop(name, None)

    def _make_room(self) -> None:
        self._forget_left()
        if len(self._matches) >= self.limit:
            _, touched = next(iter(self._matches.values()))
            raise TooManyMatchesError(self.limit, max(1, ceil(touched + self.seconds - self._clock())))

    def _forget_left(self) -> None:
        now = self._clock()
        while self._matches:
            name, (_, touched) = next(iter(self._matches.items()))
            if now - touched < self.seconds:
                return
            del self._matches[name]
