"""What a stage needs besides its settings: the threads that it computes with, and the files that its tasks read."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic

from selfplay.checks import fields_of
from selfplay.compute.devices import computing_on
from selfplay.executors import Executor, ExecutorOptions, TaskFiles, open_executor
from selfplay.games import Game, make_game
from selfplay.players.pretrained import PRETRAINED, pretrained_agent
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


def first_agent_file(settings: CommonSettings) -> Path | None:
    """The file of the setting first_agent. Raises SettingError if no agent comes with the program for this game."""
    name: str | None = getattr(settings, "first_agent", None)
    if name == PRETRAINED:
        return pretrained_agent(make_game(settings.game.name).learned_as())
    return None if name is None else Path(name)


RECORDS = "records"
"""The folder of the copies of files that a learner reads."""


def task_files(settings: CommonSettings, paths: Iterable[Path], records: Sequence[Path] = ()) -> TaskFiles[Any]:
    """These files of a run, for tasks that have an attribute `settings`.

    Args:
        paths: each below run_dir, or that of the setting agent_file or first_agent.
        records: the files that the learner reads, in order.
    """
    outside, run_dir = {path: name for name, path in _outside(settings).items()}, Path(settings.run_dir)
    names = {path: _copied(outside[path]) if path in outside else str(path.relative_to(run_dir)) for path in paths}
    read = {f"{RECORDS}/{number:06d}{path.suffix}": path for number, path in enumerate(records)}
    return TaskFiles({name: path for path, name in names.items()} | read, _moved)


def _moved(task: Any, folder: Path) -> Any:
    changed: dict[str, Any] = {name: str(folder / _copied(name)) for name in _outside(task.settings)}
    if records := sorted((folder / RECORDS).glob("*")):
        changed["learner"] = task.settings.learner.reading(records)
    return task._replace(settings=replace(task.settings, run_dir=str(folder), **changed))


def _copied(setting: str) -> str:
    """The name of the copy of the file that a setting names."""
    return f"{setting}.safetensors"


def _outside(settings: CommonSettings) -> dict[str, Path]:
    """The files that settings name, which may be anywhere, by these settings."""
    own: str | None = getattr(settings, "agent_file", None)
    files = {"agent_file": None if own is None else Path(own), "first_agent": first_agent_file(settings)}
    return {name: path for name, path in files.items() if path is not None}
