"""The executor whose workers are processes of this machine."""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from selfplay.errors import StageError
from selfplay.executors.executor import ATTEMPTS, IN_FLIGHT, AnyTask, Result


def usable_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class ProcessExecutor:
    """Up to `workers` tasks side by side, in processes of their own that stay for the tasks to come."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool: ProcessPoolExecutor | None = None
        self._processes: set[BaseProcess] = set()

    def map(
        self, function: Callable[[AnyTask], Result], tasks: Iterable[AnyTask], files: Sequence[Path] = ()
    ) -> Iterator[Result]:
        rest = iter(tasks)
        unanswered: deque[AnyTask] = deque()
        for attempt in range(1, ATTEMPTS + 1):
            begun: deque[Future[Result]] = deque()
            try:
                while True:
                    unanswered.extend(islice(rest, IN_FLIGHT * self.workers - len(unanswered)))
                    while len(begun) < len(unanswered):
                        begun.append(self._submit(function, unanswered[len(begun)]))
                    if not begun:
                        return
                    result = begun[0].result()
                    begun.popleft()
                    unanswered.popleft()
                    yield result
            except BrokenProcessPool as error:
                self.close()
                if attempt == ATTEMPTS:
                    raise StageError(
                        f"a worker process was killed {ATTEMPTS} times, perhaps for want of memory; "
                        "give fewer executor.workers, or a smaller dataset.shard_matches"
                    ) from error

    def _submit(self, function: Callable[[AnyTask], Result], task: AnyTask) -> "Future[Result]":
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            threads = str(task.settings.threads)
            self._pool = ProcessPoolExecutor(
                self.workers, mp_context=context, initializer=_begin_worker, initargs=(threads,)
            )
        if len(self._processes) == self.workers:
            return self._pool.submit(function, task)
        # A pool starts its workers one by one, with the tasks that find none idle.
        before = set(multiprocessing.active_children())
        with _ctrl_c_later():
            future = self._pool.submit(function, task)
        self._processes |= set(multiprocessing.active_children()) - before
        return future

    def close(self) -> None:
        if self._pool is None:
            return
        self._pool.shutdown(wait=False, cancel_futures=True)
        # All of them: one that ends while it takes a task from the queue would leave the others waiting for ever.
        for process in self._processes:
            process.terminate()
        self._processes.clear()
        self._pool = None


@contextmanager
def _ctrl_c_later() -> Iterator[None]:
    """Ctrl-C waits for the end of the block; in the processes that are started there, for `_begin_worker`."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin_worker(threads: str) -> None:
    """Set the threads of what this worker will import, leave Ctrl-C to its parent, and end when the parent is killed.

    A worker would wait for tasks for ever otherwise, and libraries would start a thread for each core.
    """
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), threads)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    parent: Any = multiprocessing.parent_process()

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
