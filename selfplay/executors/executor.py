"""What every executor is, and the simplest one."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from selfplay.settings.common import CommonSettings


class Task(Protocol):
    """What an executor can hand on: a NamedTuple with the settings of its run."""

    @property
    def settings(self) -> CommonSettings: ...


AnyTask = TypeVar("AnyTask", bound=Task)
Result = TypeVar("Result")

ATTEMPTS = 4
"""How often the tasks of workers that died are begun."""
IN_FLIGHT = 2
"""Tasks begun or waiting to be fetched, for each worker."""


class Executor(Protocol):
    """Whoever runs tasks."""

    def map(
        self, function: Callable[[AnyTask], Result], tasks: Iterable[AnyTask], files: Sequence[Path] = ()
    ) -> Iterator[Result]:
        """The results of `function` on each task, in the order of the tasks.

        Args:
            function: stands at the top level of a module.
            files: what the tasks read below their run_dir, for machines that do not have it.

        Raises what `function` raises, and StageError if workers die again and again.
        """

    def close(self) -> None:
        """End the workers; what they have begun is lost."""


class SerialExecutor:
    """One task after the other, in this process."""

    def map(
        self, function: Callable[[AnyTask], Result], tasks: Iterable[AnyTask], files: Sequence[Path] = ()
    ) -> Iterator[Result]:
        return map(function, tasks)

    def close(self) -> None:
        """Nothing to end."""
