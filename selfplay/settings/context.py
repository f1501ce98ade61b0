"""What a stage needs besides its settings: the threads that it computes with, and the files that its tasks read."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic

from selfplay.checks import fields_of
from selfplay.compute.devices import computing_on
from selfplay.executors import Executor, ExecutorOptions, TaskFiles, open_executor
from selfplay.games import Game, make_game
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.common import AnyComputing, CommonSettings


@dataclass(frozen=True)
class RunContext(Generic[AnyComputing]):
    """What a stage needs besides its settings: run folder, game and device, found once and passed down."""

    settings: AnyComputing
    run: RunFolder
    game: Game
    device: str
    """cpu or cuda."""


def context_of(settings: AnyComputing) -> RunContext[AnyComputing]:
    """The context of these settings. Raises SettingError for an unknown game, or a device that does not exist."""
    run = RunFolder.of(settings)
    return RunContext(settings, run, make_game(settings.game.name), settings.chosen_device())


@contextmanager
def executor_of(executor: ExecutorOptions, threads: int) -> Iterator[Executor]:
    """The executor of these settings, as `open_executor`; errors name the settings."""
    with fields_of("executor", "address"), open_executor(executor, threads) as opened:
        yield opened


@contextmanager
def computing(settings: AnyComputing) -> Iterator[RunContext[AnyComputing]]:
    """The context of these settings; in the block torch and searches have the numbers of threads that they name.

    Raises as `context_of`.
    """
    context = context_of(settings)
    with computing_on(context.device, settings.threads, settings.search_threads):
        yield context


AGENT_FILE = "agent_file.safetensors"
"""The name of the copy of the file in the setting agent_file, which may be anywhere."""


def task_files(settings: CommonSettings, paths: Iterable[Path]) -> TaskFiles[Any]:
    """These files of a run, for tasks that have an attribute `settings`.

    Args:
        paths: each below run_dir, or the setting agent_file.
    """
    own, run_dir = _agent_file(settings), Path(settings.run_dir)
    return TaskFiles({AGENT_FILE if path == own else str(path.relative_to(run_dir)): path for path in paths}, _moved)


def _moved(task: Any, folder: Path) -> Any:
    places = {"run_dir": str(folder)}
    if _agent_file(task.settings) is not None:
        places["agent_file"] = str(folder / AGENT_FILE)
    return task._replace(settings=replace(task.settings, **places))


def _agent_file(settings: CommonSettings) -> Path | None:
    file: str | None = getattr(settings, "agent_file", None)
    return None if file is None else Path(file)
