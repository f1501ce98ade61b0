"""Executors: apply a function to tasks and return the results in order, in this process, in others, or on a cluster.

A task carries the settings of its run, and the function is defined at the top level of a module. Only a few results are
kept at a time, so all results together may be larger than memory.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

from selfplay.settings.choices import EXECUTORS
from selfplay.settings.common import CommonSettings, ExecutorSettings


class Task(Protocol):
    """The argument of one call: a NamedTuple with the settings of its run."""

    @property
    def settings(self) -> CommonSettings: ...


AnyTask = TypeVar("AnyTask", bound=Task)
Result = TypeVar("Result")

ATTEMPTS = 4
"""The largest number of times that a task is started if its workers die."""
IN_FLIGHT = 2
"""Back-pressure: the largest number of tasks per worker that are running or have results waiting."""


class Executor(Protocol):
    """Runs tasks. To add an executor, write the class, add it to EXECUTORS or offer it as an entry point, and add
    conf/executor/NAME.yaml."""

    def __init__(self, settings: ExecutorSettings) -> None:
        """Raise SettingError if a package that it needs is not installed."""

    def map(
        self, function: Callable[[AnyTask], Result], tasks: Iterable[AnyTask], files: Sequence[Path] = ()
    ) -> Iterator[Result]:
        """The results of `function` on each task, in the order of the tasks.

        Args:
            function: defined at the top level of a module.
            files: files below run_dir that the tasks read, to be sent to machines that do not have them.

        Raises what `function` raises, and StageError if workers die repeatedly.
        """

    def close(self) -> None:
        """End the workers and drop unfinished tasks."""


class SerialExecutor:
    """Runs one task after another in this process."""

    def __init__(self, settings: ExecutorSettings) -> None:
        pass

    def map(
        self, function: Callable[[AnyTask], Result], tasks: Iterable[AnyTask], files: Sequence[Path] = ()
    ) -> Iterator[Result]:
        return map(function, tasks)

    def close(self) -> None:
        """Do nothing."""


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
