"""The executor that runs one task after another in this process."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from selfplay.executors.executor import AnyTask, Result
from selfplay.settings.common import ExecutorSettings


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
