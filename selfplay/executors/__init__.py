"""Executors map a function over tasks, in order: here, in processes of their own, or in a Ray cluster.

A task carries the settings of its run and is answered by a function at the top level of a module. Few results wait at
a time, so what the tasks give may be larger together than the memory.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from selfplay.executors.executor import Executor, SerialExecutor
from selfplay.settings.common import ExecutorSettings

__all__ = ["Executor", "open_executor"]


@contextmanager
def open_executor(settings: ExecutorSettings) -> Iterator[Executor]:
    """The executor of these settings; its workers start with the first task and end with the block."""
    executor: Executor
    if settings.name == "ray":
        from selfplay.executors.ray import RayExecutor

        executor = RayExecutor(settings)
    elif settings.name == "process":
        from selfplay.executors.processes import ProcessExecutor, usable_cores

        executor = ProcessExecutor(settings.workers or usable_cores())
    else:
        executor = SerialExecutor()
    try:
        yield executor
    finally:
        executor.close()
