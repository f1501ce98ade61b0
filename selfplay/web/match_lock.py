"""Whose turn it is at a match: one request at a time has it, the others wait without keeping a thread."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from selfplay.web.errors import BusyError

Answer = TypeVar("Answer")

LOCK_TIMEOUT = 1.0
"""Seconds that a request waits for an earlier one on the same match."""


class MatchLock:
    """Held by one request, from before its work is given to a thread until that is done."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def hold(self, start: Callable[[], "asyncio.Future[Answer]"]) -> Answer:
        """The result of the work that `start` gives to a thread. Raises BusyError if it has to wait for long."""
        try:
            async with asyncio.timeout(LOCK_TIMEOUT):
                await self._lock.acquire()
        except TimeoutError as error:
            raise BusyError("the match is still at work on the last request; wait for its answer") from error
        try:
            work = start()
        except BaseException:
            self._lock.release()
            raise
        work.add_done_callback(lambda _: self._lock.release())
        # A thread goes on although nobody waits for it any more, and has the match so long.
        return await asyncio.shield(work)
