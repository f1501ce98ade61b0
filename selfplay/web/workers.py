"""Threads in which matches are played while the server keeps answering. Quick work never waits for slow work."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from selfplay.web.schemas import OpponentView

Answer = TypeVar("Answer")

QUICK_WORKERS = 1
"""One thread: short work takes longer in several threads, which would compete for the interpreter's lock."""
SLOW_WORKERS = 4
"""Matches against a search have separate threads, so that other matches do not wait for them."""
LOADING_WORKERS = 4
"""Opponents are made in threads in which no match is played."""
READING_WORKERS = 2
"""The files of runs are read in further threads: making a search may compile it first, which takes seconds."""
LEARNING_WORKERS = 4
"""Matches against a player that learns also have separate threads: another process may lock its store for half a
minute."""


class Workers:
    """Thread pools for work of different durations."""

    def __init__(self) -> None:
        self._quick = ThreadPoolExecutor(QUICK_WORKERS, "quick")
        self._slow = ThreadPoolExecutor(SLOW_WORKERS, "slow")
        self._loading = ThreadPoolExecutor(LOADING_WORKERS, "loading")
        self._reading = ThreadPoolExecutor(READING_WORKERS, "reading")
        self._learning = ThreadPoolExecutor(LEARNING_WORKERS, "learning")

    def run_quick(self, work: Callable[[], Answer]) -> "asyncio.Future[Answer]":
        """The result of `work`, which takes milliseconds."""
        return asyncio.get_running_loop().run_in_executor(self._quick, work)

    def run_loading(self, work: Callable[[], Answer]) -> "asyncio.Future[Answer]":
        """The result of `work`, which makes a player and does not search."""
        return asyncio.get_running_loop().run_in_executor(self._loading, work)

    def run_reading(self, work: Callable[[], Answer]) -> "asyncio.Future[Answer]":
        """The result of `work`, which reads the files of a run and makes no player."""
        return asyncio.get_running_loop().run_in_executor(self._reading, work)

    def run_for(self, opponent: OpponentView, work: Callable[[], Answer]) -> "asyncio.Future[Answer]":
        """The result of `work` in a match against this opponent, whose player has been loaded already."""
        worker = self._learning if opponent.learns else self._slow if opponent.is_slow else self._quick
        return asyncio.get_running_loop().run_in_executor(worker, work)

    def close(self) -> None:
        """Let the threads end when their work is done."""
        for worker in (self._quick, self._slow, self._loading, self._reading, self._learning):
            worker.shutdown(wait=False)
