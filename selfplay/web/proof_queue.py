"""Proofs are long, so they are done one after the other: each once however many ask, and so many waiting at most."""

import asyncio
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor

from selfplay.web.schemas import ProofView

MAX_WAITING_PROOFS = 8
"""More opponents are not asked about at the same time, the one at hand included."""

TOO_MANY_PROOFS = ProofView(
    is_unbeatable=None, unbeatable_seats=None, text="Too many others are being tried just now; ask again later."
)


class ProofQueue:
    """The queue of proofs, for one event loop."""

    def __init__(self) -> None:
        self._worker = ThreadPoolExecutor(1, "proving")
        self._underway: dict[Hashable, Future[ProofView]] = {}
        self._asked_by: dict[Hashable, int] = {}

    async def of(self, opponent: Hashable, prove: Callable[[], ProofView]) -> ProofView:
        """What `prove` finds out about an opponent, or TOO_MANY_PROOFS if too many others wait."""
        work = self._underway.get(opponent)
        if work is None:
            if len(self._underway) >= MAX_WAITING_PROOFS:
                return TOO_MANY_PROOFS
            work = self._underway[opponent] = self._worker.submit(prove)
            work.add_done_callback(lambda _: self._underway.pop(opponent))
        self._asked_by[opponent] = self._asked_by.get(opponent, 0) + 1
        try:
            return await asyncio.shield(asyncio.wrap_future(work))
        finally:
            self._asked_by[opponent] -= 1
            if not self._asked_by[opponent]:
                del self._asked_by[opponent]
                # One that nobody waits for is not begun; one that has begun ends.
                work.cancel()

    def close(self) -> None:
        """Let the thread end once its work is done."""
        self._worker.shutdown(wait=False)
