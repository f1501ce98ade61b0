"""The executor whose workers are processes on this machine."""

import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing import util
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any

from selfplay.cleanup import before_exit
from selfplay.compute.process import tune_process, usable_cores
from selfplay.errors import StageError
from selfplay.executors import ATTEMPTS, IN_FLIGHT, AnyTask, ExecutorOptions, Result, TaskFiles
from selfplay.registry import name_modules, named_modules

INTERRUPTING = {signal.SIGINT, signal.SIGTERM}
"""The signals that end a program."""

SECONDS_TO_DIE = 5.0
"""The longest time to wait for the exit codes of killed workers."""


class ProcessExecutor:
    """Runs up to `options.workers` tasks in parallel, in processes that are kept for later tasks."""

    def __init__(self, options: ExecutorOptions, threads: int = 1) -> None:
        self.workers, self.threads = options.workers or usable_cores(), threads
        self._pool: ProcessPoolExecutor | None = None
        self._workers: set[BaseProcess] = set()

    def map(
        self, function: Callable[[AnyTask], Result], tasks: Iterable[AnyTask], files: TaskFiles[AnyTask] | None = None
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
                if any(code is not None and code >= 0 for code in self._exit_codes()):
                    raise StageError(
                        "a worker process ended with an error, which is printed above; executor=process starts the "
                        "script again in each worker: save it as a file, and put what it does below if __name__ == "
                        '"__main__":'
                    ) from error
                if attempt == ATTEMPTS:
                    raise StageError(
                        f"a worker process was killed {ATTEMPTS} times, perhaps because memory ran out; "
                        "set fewer executor.workers or a smaller dataset.shard_matches"
                    ) from error

    def _submit(self, function: Callable[[AnyTask], Result], task: AnyTask) -> "Future[Result]":
        # A pool starts a worker whenever no worker is idle for a new task.
        with _interrupted_later(), _named_as_errors_of_processes():
            if self._pool is None:
                begun = str(self.threads), named_modules()
                context = multiprocessing.get_context("spawn")
                self._workers = set()
                self._pool = ProcessPoolExecutor(self.workers, context, initializer=_begin_worker, initargs=begun)
            others = set(multiprocessing.active_children()) - self._workers
            future = self._pool.submit(function, task)
            self._workers |= set(multiprocessing.active_children()) - others
            return future

    def close(self) -> None:
        if self._pool is None:
            return
        # All workers are killed, as `kill_workers` does from Python 3.14 on: if only one ended while it took a task
        # from the queue, the others would wait forever. SIGTERM would not end a process that is stopped.
        for process in self._workers:
            process.kill()
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._pool = None

    def _exit_codes(self) -> list[int | None]:
        """The exit codes of the workers, which were killed or have ended; that of a killed one is negative."""
        give_up = time.monotonic() + SECONDS_TO_DIE
        # Not `join`, which returns before the exit code is known if the pool's own thread is waiting too.
        while any(process.exitcode is None for process in self._workers) and time.monotonic() < give_up:
            time.sleep(0.01)
        return [process.exitcode for process in self._workers]


def _end_pools() -> None:
    """Kill all workers and release the semaphores of all pools, so that nothing prints that they leaked.

    If an interrupt came while a worker was being started, the pool may not know the worker, which would not find its
    semaphores.
    """
    for process in multiprocessing.active_children():
        process.kill()
    finalizers: Any = util
    finalizers._run_finalizers(0)


# A program that ends early does so without Python's exit handlers.
before_exit(_end_pools)


@contextmanager
def _named_as_errors_of_processes() -> Iterator[None]:
    """Turn an OSError of the system, which names no file, into a StageError: the caller may be writing a file."""
    try:
        yield
    except OSError as error:
        raise StageError(
            f"cannot start worker processes: {error.strerror or error} (on Linux, they also need to write to "
            "/dev/shm); executor=serial works without them"
        ) from error


@contextmanager
def _interrupted_later() -> Iterator[None]:
    """Delay Ctrl-C and SIGTERM until after the block; processes started in it block them until `_begin_worker`.

    A worker that loses its parent while it starts would print a traceback. Blocking the signals is not enough, because
    another thread may receive them, and Python then calls the handler in the main thread.
    """
    received: list[int] = []
    handlers = {}
    if threading.current_thread() is threading.main_thread():
        handlers = {number: signal.signal(number, lambda got, _: received.append(got)) for number in INTERRUPTING}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTING)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if received:
            signal.raise_signal(received[0])


def _begin_worker(threads: str, modules: Sequence[str]) -> None:
    """Limit the threads of libraries, leave Ctrl-C to the parent process, and exit if the parent is killed.

    Otherwise libraries would start a thread per core, and a worker would wait for tasks forever. Files may name objects
    in the same `modules` as in the parent process.
    """
    name_modules(modules)
    tune_process()
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), threads)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The main module may have set a handler; the pool ends workers with this signal.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTING)
    parent: Any = multiprocessing.parent_process()

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
