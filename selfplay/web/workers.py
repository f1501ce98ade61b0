"""The threads in which matches are gone on with, while the server goes on answering: what is quick never waits for
what is slow."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from selfplay.web.schemas import OpponentView

Answer = TypeVar("Answer")

QUICK_WORKERS = 1
"""What takes a millisecond takes longer in several threads, which would hand the interpreter's lock to and fro."""
SLOW_WORKERS = 4
"""Matches with a search are thought about by threads of their own, so that the others need not wait for them."""
LEARNING_WORKERS = 4
"""So are matches with a player that learns: its store may be held by another process for half a minute."""


class Workers:
    """Work for threads, by how long it may take."""

    def __init__(self) -> None:
        self._quick = ThreadPoolExecutor(QUICK_WORKERS, "quick")
        self._slow = ThreadPoolExecutor(SLOW_WORKERS, "slow")
        self._learning = ThreadPoolExecutor(LEARNING_WORKERS, "learning")

    def run_quick(self, work: Callable[[], Answer]) -> "asyncio.Future[Answer]":
        """The result of `work`, which takes milliseconds."""
        return asyncio.get_running_loop().run_in_executor(self._quick, work)

    def run_slow(self, work: Callable[[], Answer]) -> "asyncio.Future[Answer]":
        """The result of `work`, which may take seconds."""
        return asyncio.get_running_loop().run_in_executor(self._slow, work)

    def run_for(self, opponent: OpponentView, work: Callable[[], Answer]) -> "asyncio.Future[Answer]":
        """The result of `work` with this opponent, which is made already; it takes as long as such opponents do."""
        worker = self._learning if opponent.kind == "experience" else self._slow if opponent.is_slow else self._quick
        return asyncio.get_running_loop().run_in_executor(worker, work)

    def close(self) -> None:
        """Let the threads end once their work is done."""
        for worker in (self._quick, self._slow, self._learning):
            worker.shutdown(wait=False)
