"""Work for clients: only as long as they wait for it, and not more of it at a time for one client than for others."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Hashable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_network
from time import monotonic
from typing import Any, TypeVar

from anyio import CancelScope, CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import Request
from starlette.exceptions import HTTPException
from starlette.types import Scope

from selfplay.errors import SelfPlayError
from selfplay.search.deadline import Deadline, StoppedError

CLIENT_CLOSED_REQUEST = 499
"""The status of a response that the client no longer waits for."""
RETRY_SECONDS = 2

Answer = TypeVar("Answer")


class BusyError(SelfPlayError):
    """Too many requests of one client are waiting.

    Args:
        waiting: what is waiting, such as 20 slow requests.

    Attributes:
        retry_after: seconds until the client may try again.
    """

    def __init__(self, waiting: str) -> None:
        super().__init__(f"{waiting} of this client are waiting, which is the limit; try again later")
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


def client_of(scope: Scope) -> str:
    """The address of the client of a request; of IPv6, its network of 64 bits, whose addresses one client can have."""
    host = str(scope["client"][0]) if scope.get("client") else ""
    try:
        return str(ip_network((IPv6Address(host.partition("%")[0]), 64), strict=False))
    except ValueError:
        return host


class RequestLimit:
    """Counts the requests of each client.

    Args:
        most: number of requests of one client at a time; further ones raise BusyError.
        waiting: what the error says of them.
    """

    def __init__(self, most: int, waiting: str) -> None:
        self._most, self._waiting = most, waiting
        self._counts = Counter[str]()

    def __len__(self) -> int:
        """The number of requests that are counted now, of all clients."""
        return self._counts.total()

    @contextmanager
    def counted(self, client: str) -> Iterator[None]:
        """Count a request during the block. Raises BusyError."""
        if self._counts[client] >= self._most:
            raise BusyError(self._waiting)
        self._counts[client] += 1
        try:
            yield
        finally:
            self._counts[client] -= 1
            if not self._counts[client]:
                del self._counts[client]


class FairThreads:
    """Threads for which clients wait in turn.

    Args:
        threads: how many there are.
        of_client: how many of them a client may use at a time.

    Attributes:
        clients: the limits of the clients that have requests, by their addresses.
    """

    def __init__(self, threads: int, of_client: int) -> None:
        self._threads, self._of_client = CapacityLimiter(threads), of_client
        self.clients: dict[str, CapacityLimiter] = {}

    async def run(self, work: Callable[[], Answer], request: Request, deadline: Deadline) -> Answer:
        """The result of `work`, whose searches end at the deadline. Waiting for a thread is not counted."""
        client = client_of(request.scope)
        limiter = self.clients.setdefault(client, CapacityLimiter(self._of_client))
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


@dataclass(eq=False)
class _Piece:
    """A piece of shared work."""

    work: Callable[[], Any]
    group: Hashable
    waiting: dict[asyncio.Future[Any], str] = field(default_factory=dict)
    """The requests that wait for its result, with their clients."""
    deadline: Deadline = field(default_factory=Deadline)
    """Cancelled when nobody waits any more."""
    worker: str | None = None
    """The client for whom it runs; None if it has not begun."""
    begun: float = 0.0
    """When it has begun, as `monotonic` counts."""
    task: asyncio.Task[None] | None = None


class SharedWork:
    """Work in threads of its own, each piece of which is done once for all requests that wait for it.

    A piece for which nobody waits any more is not begun; its searches end.

    Args:
        threads: how many pieces are in work at a time.
        of_client: how many of them for one client.
    """

    def __init__(self, threads: int, of_client: int) -> None:
        self._most, self._of_client = threads, of_client
        self._threads = CapacityLimiter(threads)
        self._pieces: dict[Hashable, _Piece] = {}

    @property
    def longest(self) -> float:
        """The seconds for which the oldest piece has been in work; 0 if none is. May be read in any thread."""
        begun = [piece.begun for piece in tuple(self._pieces.values()) if piece.worker is not None]
        return monotonic() - min(begun) if begun else 0.0

    async def result(
        self, key: Hashable, work: Callable[[], Answer], request: Request, *, group: Hashable = None
    ) -> Answer:
        """The result of `work`, or of the work with the same key that another request waits for.

        Args:
            group: pieces of the same group are in work one after another; None for no group.
        """
        piece = self._pieces.setdefault(key, _Piece(work, group))
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        piece.waiting[answer] = client_of(request.scope)
        self._begin()
        try:
            return await answer
        finally:
            piece.waiting.pop(answer, None)
            if not piece.waiting:
                piece.deadline.cancel()
                if piece.worker is None and self._pieces.get(key) is piece:
                    del self._pieces[key]

    def _begin(self) -> None:
        """Begin work, the longest awaited first, as far as the limits allow."""
        for key, piece in self._pieces.items():
            working = [one for one in self._pieces.values() if one.worker is not None]
            if len(working) >= self._most:
                return
            if piece.worker is not None or (piece.group is not None and piece.group in {one.group for one in working}):
                continue
            busy = Counter(one.worker for one in working)
            free = [client for client in piece.waiting.values() if busy[client] < self._of_client]
            if free:
                piece.begun, piece.worker = monotonic(), free[0]
                piece.task = asyncio.create_task(self._do(key, piece))

    async def _do(self, key: Hashable, piece: _Piece) -> None:
        def in_thread() -> Any:
            with piece.deadline.applied():
                return piece.work()

        finished: asyncio.Future[Any] = asyncio.ensure_future(run_sync(in_thread, limiter=self._threads))
        await asyncio.wait([finished])
        piece.worker = None
        # Asked for also if nobody waits, because asyncio logs an error that nobody has asked for.
        is_stopped = isinstance(finished.exception(), StoppedError)
        if piece.waiting and is_stopped:
            # Somebody has asked for it after all others had left.
            piece.deadline = Deadline()
        else:
            del self._pieces[key]
            for answer in [one for one in piece.waiting if not one.done()]:
                _pass_on(finished, answer)
        self._begin()


def _pass_on(finished: asyncio.Future[Any], answer: asyncio.Future[Any]) -> None:
    if (error := finished.exception()) is not None:
        answer.set_exception(error)
    else:
        answer.set_result(finished.result())
