"""The executor whose workers are processes on this machine."""

import multiprocessing
import os
import pickle
import re
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from traceback import format_exc
from typing import Any, NamedTuple

from selfplay.cleanup import before_exit
from selfplay.compute.process import tune_process, usable_cores
from selfplay.errors import USER_ERRORS, SelfPlayError, StageError, shortened, system_reason, text_of
from selfplay.executors import ATTEMPTS, IN_FLIGHT, AnyTask, ExecutorOptions, Result, TaskFiles
from selfplay.executors.same_code import OutsideCode, check_same_code, outside_code
from selfplay.registry import current_folder_searched, name_modules, named_modules

AGAIN = (
    "executor=process starts the script again in each worker: set executor=serial, or save it as a file and put what "
    'it does below if __name__ == "__main__":'
)

GUARD = re.compile(rb"(?<!\.)\b__name__\b|\bcurrent_process\b")
"""How a script finds out that it was started as a worker."""

INTERRUPTING = {signal.SIGINT, signal.SIGTERM}
"""The signals that end a program."""

SECONDS_TO_DIE = 5.0
"""The longest time to wait for the exit code of a worker that has ended."""


class _Worker(NamedTuple):
    """A process that runs one task after another."""

    process: BaseProcess
    connection: Connection
    """Sends the code from outside and (function, task), and receives (result, None) or (None, error)."""


class _WorkerKilledError(Exception):
    """The process that ran a task was killed."""


class ProcessExecutor:
    """Runs up to `options.workers` tasks in parallel, in processes that are kept for later tasks."""

    def __init__(self, options: ExecutorOptions, threads: int = 1) -> None:
        self.workers, self._threads_of_worker = options.workers or usable_cores(), threads
        self._waiting = ThreadPoolExecutor(self.workers)
        """Each of its threads has a worker, gives it tasks and waits for its answers."""
        self._own = threading.local()
        self._workers: list[_Worker] = []
        self._starting, self._is_closed = threading.Lock(), False

    def map(
        self, function: Callable[[AnyTask], Result], tasks: Iterable[AnyTask], files: TaskFiles[AnyTask] | None = None
    ) -> Iterator[Result]:
        rest, code = iter(tasks), outside_code()
        begun: deque[Future[Result]] = deque()
        while True:
            for task in islice(rest, IN_FLIGHT * self.workers - len(begun)):
                begun.append(self._waiting.submit(self._result, function, task, code))
            if not begun:
                return
            result = begun[0].result()
            begun.popleft()
            yield result

    def _result(self, function: Callable[[AnyTask], Result], task: AnyTask, code: OutsideCode) -> Result:
        """The result of a task, which is started again if its worker is killed."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._answer(function, task, code)
            except _WorkerKilledError as error:
                if attempt == ATTEMPTS:
                    raise StageError(
                        f"a worker process was killed {ATTEMPTS} times, perhaps because memory ran out; "
                        "set fewer executor.workers or a smaller dataset.shard_matches"
                    ) from error
        raise AssertionError("every attempt returns or raises")

    def _answer(self, function: Callable[[AnyTask], Result], task: AnyTask, code: OutsideCode) -> Result:
        """The result of a task in the worker of this thread. Raises what the function raises."""
        worker: _Worker | None = getattr(self._own, "worker", None)
        if worker is None or not worker.process.is_alive():
            worker = self._own.worker = self._begin_worker()
        try:
            worker.connection.send(code)
            worker.connection.send((function, task))
            result, error = worker.connection.recv()
        except (EOFError, OSError) as lost:
            worker.process.join(SECONDS_TO_DIE)
            if (status := worker.process.exitcode) is not None and status >= 0:
                raise StageError(f"a worker process ended with an error, which is printed above; {AGAIN}") from lost
            raise _WorkerKilledError from lost
        if error is not None:
            raise error
        answer: Result = result
        return answer

    def _begin_worker(self) -> _Worker:
        _check_main()
        context = multiprocessing.get_context("spawn")
        # `close` waits for a worker that is being started.
        with self._starting, _named_as_errors_of_processes():
            if self._is_closed:
                raise _WorkerKilledError
            ours, theirs = context.Pipe()
            arguments = theirs, str(self._threads_of_worker), named_modules()
            process = context.Process(target=_work, args=arguments, daemon=True)
            with _signals_blocked():
                process.start()
            theirs.close()
            worker = _Worker(process, ours)
            self._workers.append(worker)
        return worker

    def close(self) -> None:
        with self._starting:
            self._is_closed = True
            for worker in self._workers:
                # SIGTERM would not end a process that is stopped.
                worker.process.kill()
        self._waiting.shutdown(wait=False, cancel_futures=True)


def _check_main() -> None:
    """Raise StageError if the script of this process would do everything again when a worker imports it."""
    main = sys.modules["__main__"]
    file = getattr(main, "__file__", None)
    # Workers import nothing from a notebook or -c. A module that was started with -m is found out by its worker.
    if file is None or getattr(main, "__spec__", None) is not None:
        return
    try:
        is_guarded = GUARD.search(Path(file).read_bytes()) is not None
    except OSError:  # such as <stdin>
        is_guarded = False
    if not is_guarded:
        raise StageError(AGAIN)


def _end_workers() -> None:
    """Kill all workers: a program that ends early does so without Python's exit handlers."""
    for process in multiprocessing.active_children():
        process.kill()


before_exit(_end_workers)


@contextmanager
def _named_as_errors_of_processes() -> Iterator[None]:
    """Turn an OSError of the system, which names no file, into a StageError: the caller may be writing a file."""
    try:
        yield
    except OSError as error:
        raise StageError(
            f"cannot start worker processes: {system_reason(error)}; executor=serial works without them"
        ) from error


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """Processes started in the block do not receive Ctrl-C and SIGTERM until `_work` begins.

    A worker that loses its parent while it starts would print a traceback.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _read(content: bytes) -> Any:
    """The function and the task that a worker gets. Raises StageError if their code cannot be imported."""
    try:
        # A learner, for example, may be of a module there.
        with current_folder_searched():
            return pickle.loads(content)
    except SelfPlayError:
        raise
    except Exception as error:
        raise StageError(
            f"a worker process cannot read its task: {shortened(text_of(error))}; if code was edited while the program "
            "ran, start the program again"
        ) from error


def _work(connection: Connection, threads: str, modules: Sequence[str]) -> None:
    """Answer tasks until the other end of the connection is closed.

    Libraries get this number of threads, instead of one for each core. Files may name objects in the same `modules` as
    in the parent process, to which Ctrl-C is left. If the parent is killed, the worker ends.
    """
    name_modules(modules)
    tune_process()
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), threads)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The main module may have set a handler.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTING)
    parent: Any = multiprocessing.parent_process()

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    while True:
        try:
            code, content = connection.recv(), connection.recv_bytes()
        except EOFError:
            return
        try:
            function, task = _read(content)
            check_same_code(code)
            result = function(task)
            # The task may have imported more.
            check_same_code(code)
            answer = pickle.dumps((result, None))
        # The parent raises it.
        except BaseException as error:
            if not isinstance(error, USER_ERRORS):
                error.add_note(f"in a worker process:\n{format_exc()}")
            answer = pickle.dumps((None, error))
        connection.send_bytes(answer)
