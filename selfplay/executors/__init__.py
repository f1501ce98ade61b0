"""Executors: apply a function to tasks and return the results in order, in this process, in others, or on a cluster.

A task carries the settings of its run, and the function is defined at the top level of a module. Only a few results are
kept at a time, so all results together may be larger than memory.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from selfplay.executors.executor import Executor
from selfplay.settings.choices import EXECUTORS
from selfplay.settings.common import ExecutorSettings

__all__ = ["Executor", "open_executor"]


@contextmanager
def open_executor(settings: ExecutorSettings) -> Iterator[Executor]:
    """The executor that the settings name; its workers start with the first task and end with the block.

    Raises SettingError for an unknown name, or if a package that the executor needs is not installed.
    """
    executor: Executor = EXECUTORS[settings.name](settings)
    try:
        yield executor
    finally:
        executor.close()
