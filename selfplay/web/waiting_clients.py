"""Work for clients: only as long as they wait for it, and not more of it at a time for one client than for others."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from typing import TypeVar

from anyio import CancelScope, CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import Request
from starlette.exceptions import HTTPException

from selfplay.errors import SelfPlayError
from selfplay.search.deadline import Deadline, StoppedError

CLIENT_CLOSED_REQUEST = 499
"""The status of a response that the client no longer waits for."""
RETRY_SECONDS = 2

Answer = TypeVar("Answer")


class BusyError(SelfPlayError):
    """Too many slow requests of one client are waiting.

    Attributes:
        retry_after: seconds until the client may try again.
    """

    def __init__(self, waiting: int) -> None:
        super().__init__(f"{waiting} slow requests of this client are waiting, which is the limit; try again later")
        self.retry_after = RETRY_SECONDS


class ClientLeftError(HTTPException):
    """The client has closed the request."""

    def __init__(self) -> None:
        super().__init__(CLIENT_CLOSED_REQUEST, "the client has closed the request")


@asynccontextmanager
async def while_waiting(request: Request) -> AsyncIterator[Deadline]:
    """A deadline without a limit. When the client leaves, it is cancelled, and the block ends with ClientLeftError."""
    deadline = Deadline()
    with CancelScope() as scope:
        watching = asyncio.create_task(_cancel_if_left(request, deadline, scope))
        try:
            yield deadline
        except StoppedError:
            if not deadline.is_cancelled:
                raise
        finally:
            watching.cancel()
    if deadline.is_cancelled:
        raise ClientLeftError


async def _cancel_if_left(request: Request, deadline: Deadline, scope: CancelScope) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    deadline.cancel()
    # Waiting for a thread ends, too.
    scope.cancel()


class FairThreads:
    """Threads for which clients wait in turn.

    Args:
        threads: how many there are.
        of_client: how many of them a client may use at a time.
        most_waiting: number of requests of a client that wait; later ones raise BusyError. None for no limit.

    Attributes:
        clients: the limits of the clients that have requests, by their addresses.
    """

    def __init__(self, threads: int, of_client: int, most_waiting: int | None = None) -> None:
        self._threads, self._of_client, self._most_waiting = CapacityLimiter(threads), of_client, most_waiting
        self.clients: dict[str, CapacityLimiter] = {}

    async def run(self, work: Callable[[], Answer], request: Request, deadline: Deadline) -> Answer:
        """The result of `work`, whose searches end at the deadline. Waiting for a thread is not counted."""
        client = request.client.host if request.client else ""
        limiter = self.clients.setdefault(client, CapacityLimiter(self._of_client))
        if self._most_waiting is not None and limiter.statistics().tasks_waiting >= self._most_waiting:
            raise BusyError(self._most_waiting)

        paused = ExitStack()
        paused.enter_context(deadline.paused())

        def in_time() -> Answer:
            paused.close()
            with deadline.applied():
                return work()

        must_wait = limiter.available_tokens < 1
        try:
            async with limiter:
                if must_wait and await request.is_disconnected():
                    raise ClientLeftError
                return await run_sync(in_time, limiter=self._threads)
        finally:
            if not limiter.borrowed_tokens and not limiter.statistics().tasks_waiting:
                self.clients.pop(client, None)
