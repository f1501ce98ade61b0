"""The open matches by id. Their number is limited, also for each client, and unused matches expire."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from math import ceil
from typing import Generic, NamedTuple, TypeVar

from selfplay.web.errors import NotFoundError, TooManyMatchesError

Held = TypeVar("Held")


class Entry(NamedTuple, Generic[Held]):
    """A match in the store."""

    match: Held
    client: str
    """The client that has begun it."""
    last_used: float


class MatchStore(Generic[Held]):
    """Matches by id.

    Args:
        limit: the largest number of open matches.
        client_limit: the largest number of open matches of one client.
        seconds: a match expires when it has not been used for this time.
        clock: a monotonic clock, in seconds.
    """

    def __init__(self, limit: int, client_limit: int, seconds: float, clock: Callable[[], float]) -> None:
        self.limit, self.client_limit, self.seconds, self._clock = limit, client_limit, seconds, clock
        self._lock = threading.Lock()
        # The least recently used match is first.
        self._matches: OrderedDict[str, Entry[Held]] = OrderedDict()

    def __len__(self) -> int:
        with self._lock:
            self._remove_expired()
            return len(self._matches)

    def add(self, name: str, match: Held, client: str) -> None:
        """Add a match of a client. Raises TooManyMatchesError if a limit is reached."""
        with self._lock:
            self._make_room(client)
            self._matches[name] = Entry(match, client, self._clock())

    def check_room(self, client: str) -> None:
        """Raise TooManyMatchesError if a limit is reached."""
        with self._lock:
            self._make_room(client)

    def get(self, name: str) -> Held:
        """The match with this id; it counts as used now. Raises NotFoundError if there is none."""
        with self._lock:
            self._remove_expired()
            if name not in self._matches:
                raise NotFoundError("unknown match: it may have expired; begin a new one")
            entry = self._matches.pop(name)
            self._matches[name] = entry._replace(last_used=self._clock())
            return entry.match

    def remove(self, name: str) -> None:
        """Remove a match. Raises NotFoundError if there is none."""
        self.get(name)
        with self._lock:
            self._matches.pop(name, None)

    def _make_room(self, client: str) -> None:
        self._remove_expired()
        own = [entry for entry in self._matches.values() if entry.client == client]
        if len(own) >= self.client_limit:
            raise TooManyMatchesError(self.client_limit, self._seconds_left(own[0]), "each client")
        if len(self._matches) >= self.limit:
            raise TooManyMatchesError(self.limit, self._seconds_left(next(iter(self._matches.values()))), "this server")

    def _seconds_left(self, entry: "Entry[Held]") -> int:
        return max(1, ceil(entry.last_used + self.seconds - self._clock()))

    def _remove_expired(self) -> None:
        now = self._clock()
        while self._matches:
            name, entry = next(iter(self._matches.items()))
            if now - entry.last_used < self.seconds:
                return
            del self._matches[name]
