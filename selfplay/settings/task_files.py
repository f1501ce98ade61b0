"""The files that tasks with settings read, for executors whose workers are on other machines."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from selfplay.executors import TaskFiles
from selfplay.settings.common import CommonSettings

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
