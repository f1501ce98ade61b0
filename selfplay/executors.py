"""Executors map a function over tasks, in order. They know nothing of games."""

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.connection import wait
from typing import TypeVar

from selfplay.settings import ExecutorSettings

Task = TypeVar("Task")
Result = TypeVar("Result")


def map_tasks(
    executor: ExecutorSettings, function: Callable[[Task], Result], tasks: Iterable[Task]
) -> Iterator[Result]:
    """The results of `function` on each task, in the order of the tasks.

    `process` runs up to `workers` of them side by side in processes of their own; `function` and the tasks must then
    be picklable, so `function` stands at the top level of a module.
    """
    if executor.name == "serial" or executor.workers == 1:
        yield from map(function, tasks)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(executor.workers, mp_context=context, initializer=_end_with_parent) as pool:
        yield from pool.map(function, tasks)


def _end_with_parent() -> None:
    """Let this worker end when its parent is killed; it would wait for tasks for ever otherwise."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    sentinel = parent.sentinel

    def watch() -> None:
        wait([sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
