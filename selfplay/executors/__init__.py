"""Executors: apply a function to tasks and return the results in order, in this process, in others, or on a cluster.

A task is a value that can be pickled, and the function is defined at the top level of a module. Only a few results are
kept at a time, so all results together may be larger than memory.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from selfplay.checks import fields_of, one_in, within
from selfplay.registry import Registry

EXECUTORS: Registry[Any] = Registry(
    "executor",
    {
        "serial": "selfplay.executors:SerialExecutor",
        "process": "selfplay.executors.processes:ProcessExecutor",
        "ray": "selfplay.executors.ray:RayExecutor",
    },
    group="selfplay.executors",
    attributes=("map", "close"),
)
"""Classes like `Executor`, by name."""


MOST_WORKERS = 4096


@dataclass(frozen=True)
class ExecutorOptions:
    """Where the parts of a stage are run."""

    name: str = field(default="serial", metadata=one_in(EXECUTORS))
    """serial: in this process; process: in parallel processes; ray: in a Ray cluster."""
    workers: int | None = field(default=None, metadata=within(1, MOST_WORKERS))
    """Number of parts run in parallel; null: the number of cores."""
    address: str | None = None
    """Ray cluster: HOST:PORT, or auto for the one this machine belongs to; null: start Ray on this machine."""


AnyTask = TypeVar("AnyTask")
Result = TypeVar("Result")

ATTEMPTS = 4
"""The largest number of times that a task is started if its workers die."""
IN_FLIGHT = 2
"""Back-pressure: the largest number of tasks per worker that are running or have results waiting."""


class TaskFiles(NamedTuple, Generic[AnyTask]):
    """The files that tasks read, for workers on machines that do not have them."""

    paths: Mapping[str, Path]
    """By the name of the copy of each file: a path relative to the folder of the copies."""
    moved: Callable[[AnyTask, Path], AnyTask]
    """(task, folder) to the same task that reads the copies in this folder; a function at the top level of a module."""


class Executor(Protocol):
    """Runs tasks. To add an executor, write the class, and add it to EXECUTORS or offer it as an entry point."""

    def __init__(self, options: ExecutorOptions, threads: int = 1) -> None:
        """Raise SettingError if a package that it needs is not installed.

        `threads`: of the libraries in each worker process.
        """

    def map(
        self, function: Callable[[AnyTask], Result], tasks: Iterable[AnyTask], files: TaskFiles[AnyTask] | None = None
    ) -> Iterator[Result]:
        """The results of `function` on each task, in the order of the tasks.

        Args:
            function: defined at the top level of a module.
            files: the files that the tasks read, to be sent to machines that do not have them.

        Raises what `function` raises, and StageError if workers die repeatedly.
        """

    def close(self) -> None:
        """End the workers and drop unfinished tasks."""


class SerialExecutor:
    """Runs one task after another in this process."""

    def __init__(self, options: ExecutorOptions, threads: int = 1) -> None:
        pass

    def map(
        self, function: Callable[[AnyTask], Result], tasks: Iterable[AnyTask], files: TaskFiles[AnyTask] | None = None
    ) -> Iterator[Result]:
        return map(function, tasks)

    def close(self) -> None:
        """Do nothing."""


@contextmanager
def open_executor(options: ExecutorOptions, threads: int = 1) -> Iterator[Executor]:
    """The executor that the options name; its workers start with the first task and end with the block.

    `threads`: of the libraries in each worker process.

    Raises SettingError for an unknown name, or if a package that the executor needs is not installed.
    """
    with fields_of("executor", "address"):
        executor: Executor = EXECUTORS[options.name](options, threads)
        try:
            yield executor
        finally:
            executor.close()
