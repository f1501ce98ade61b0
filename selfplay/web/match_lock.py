"""A lock on a match, for one request at a time; the others wait without occupying a thread."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from selfplay.web.errors import BusyError

Answer = TypeVar("Answer")

LOCK_TIMEOUT = 1.0
"""Seconds that a request waits for an earlier one on the same match."""


class MatchLock:
    """A lock that a request holds from before its work is given to a thread until the work is done."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def hold(self, start: Callable[[], "asyncio.Future[Answer]"]) -> Answer:
        """The result of the work that `start` gives to a thread. Raises BusyError after LOCK_TIMEOUT seconds."""
        try:
            async with asyncio.timeout(LOCK_TIMEOUT):
                await self._lock.acquire()
        except TimeoutError as error:
            raise BusyError("the match is still working on the previous request; wait for its answer") from error
        try:
            work = start()
        except BaseException:
            self._lock.release()
            raise
        work.add_done_callback(lambda _: self._lock.release())
        # The thread continues when the request is cancelled, and holds the lock until it is done.
        return await asyncio.shield(work)
