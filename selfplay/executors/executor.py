"""The interface of an executor, and the one that needs no other process."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

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
"""Number of tasks per worker that are running or have results waiting."""


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
