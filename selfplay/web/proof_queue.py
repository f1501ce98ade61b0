"""A queue of proofs. Proofs take long, so only one runs at a time, each once for all its requests, and few may wait."""

import asyncio
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor

from selfplay.web.schemas import ProofView

MAX_WAITING_PROOFS = 8
"""The number of opponents in the queue, including the one whose proof is running."""

TOO_MANY_PROOFS = ProofView(
    is_unbeatable=None, unbeatable_seats=None, text="Too many other proofs are running; try again later."
)


class ProofQueue:
    """The queue of proofs of one event loop."""

    def __init__(self) -> None:
        self._worker = ThreadPoolExecutor(1, "proof")
        self._pending: dict[Hashable, Future[ProofView]] = {}
        self._requests: dict[Hashable, int] = {}

    async def of(self, opponent: Hashable, prove: Callable[[], ProofView]) -> ProofView:
        """The result of `prove` for an opponent, or TOO_MANY_PROOFS if the queue is full."""
        work = self._pending.get(opponent)
        if work is None:
            if len(self._pending) >= MAX_WAITING_PROOFS:
                return TOO_MANY_PROOFS
            work = self._pending[opponent] = self._worker.submit(prove)
            work.add_done_callback(lambda _: self._pending.pop(opponent))
        self._requests[opponent] = self._requests.get(opponent, 0) + 1
        try:
            return await asyncio.shield(asyncio.wrap_future(work))
        finally:
            self._requests[opponent] -= 1
            if not self._requests[opponent]:
                del self._requests[opponent]
                # A proof that no request waits for is not started; one that is running finishes.
                work.cancel()

    def close(self) -> None:
        """Let the thread end after its current work."""
        self._worker.shutdown(wait=False)
