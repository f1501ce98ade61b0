"""The runs of stories: the settings and the progress of a run, and the other runs of a game.

The other runs are the folders beside the run and those below `other_runs`, two folders deep, where the runs of a sweep
are. A request can only choose from this list; no path is ever taken from a request.
"""

import csv
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from selfplay import files
from selfplay.errors import InvalidFileError
from selfplay.files import read_bytes, read_text, resolved
from selfplay.games import Game
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder, path_text
from selfplay.web.loaded_players import NotFoundError
from selfplay.web.opponents import OpponentCatalog
from selfplay.web.story_schemas import RunSummary, RunView

Read = TypeVar("Read")

LOG_LINES = 8
RECENT_LEVELS = 3
"""The time left is estimated from the time that as many levels took."""
SHOWN_SETTINGS = ("recipe", "seed", "matches", "learner.name", "learner.targets", "learner.outcome", "player.depth")
"""The settings that best identify a run."""
MOST_RUNS = 100
"""The largest number of runs that are listed."""
MOST_FILES = 5000
"""Number of files whose contents are kept, because a long run has hundreds."""


def run_summary(run: RunFolder, levels: list[int], notes: list[str]) -> RunSummary:
    """The summary of a run with these trained levels. A broken file is added to `notes`."""
    settings = recorded_settings(run, notes)
    wanted = settings.get("levels")
    wanted = wanted if isinstance(wanted, int) and wanted >= len(levels) else None
    report = read_or_note(read_text, run.report, notes)
    return RunSummary(
        settings=telling_settings(settings),
        wanted_levels=wanted,
        seconds_left=_seconds_left(run, levels, wanted) if run.is_at_work() else None,
        log=_last_lines(run.path / "run.log"),
        report=None if report is None else report.rstrip(),
    )


def recorded_settings(run: RunFolder, notes: list[str]) -> dict[str, Any]:
    """The settings that a run has recorded, none if it has not. A broken file is added to `notes`."""
    try:
        settings: dict[str, Any] = Manifest(run.path).sections.get("run", {}).get("settings", {})
        return settings
    except InvalidFileError as error:
        notes.append(f"{error}.")
        return {}


def telling_settings(settings: dict[str, Any]) -> list[str]:
    """The settings among these that best identify a run, such as seed=0."""
    shown = [f"{name}={settings[name]}" for name in SHOWN_SETTINGS if settings.get(name) is not None]
    name = settings.get("architecture", {}).get("name") if isinstance(settings.get("architecture"), dict) else None
    return [*shown, *([f"architecture={name}"] if name else [])]


def _seconds_left(run: RunFolder, levels: list[int], wanted: int | None) -> float | None:
    """The time until the last level, from the times of the newest ones; None if it is not known."""
    times = []
    for level in levels[-RECENT_LEVELS - 1 :]:
        with suppress(OSError):
            times.append(run.agent(level).stat().st_mtime)
    if wanted is None or wanted == len(levels) or len(times) < 2 or times[-1] <= times[0]:
        return None
    return (wanted - len(levels)) * (times[-1] - times[0]) / (len(times) - 1)


def _last_lines(log: Path) -> list[str]:
    try:
        return read_bytes(log).decode("utf-8", "replace").splitlines()[-LOG_LINES:]
    except InvalidFileError:
        return []


def shown_path(catalog: OpponentCatalog, path: Path) -> str:
    """The path of a run, without the folders of the server that hold the project or `other_runs`."""
    outputs, text = resolved(Path(catalog.settings.other_runs)), path_text(path)
    if not Path(text).is_absolute():
        return text
    real = resolved(path)
    return str(real.relative_to(outputs)) if real.is_relative_to(outputs) else path.name


def other_runs(catalog: OpponentCatalog, game: Game) -> dict[str, RunFolder]:
    """The other runs of a game that exist now, by their ids, in order of these."""
    own = catalog.run(game).path
    outputs = Path(catalog.settings.other_runs)
    paths = {resolved(path): path for path in (*_folders(own.parent), *_folders(outputs, depth=2))}
    paths.pop(resolved(own), None)
    of_game: dict[str, RunFolder] = {}
    for path in paths.values():
        if _game_of(path) == game.name:
            name = shown_path(catalog, path)
            of_game[name if name not in of_game else f"{path.parent.name}/{name}"] = RunFolder(path)
    return dict(sorted(of_game.items())[:MOST_RUNS])


def other_run(catalog: OpponentCatalog, game: Game, run_id: str) -> RunFolder:
    """The other run of a game with this id. Raises NotFoundError if there is none."""
    try:
        return other_runs(catalog, game)[run_id]
    except KeyError:
        raise NotFoundError(f"unknown run of {game.name}; the list of its runs may have changed") from None


def run_views(catalog: OpponentCatalog, game: Game) -> list[RunView]:
    """The other runs of a game."""
    return [
        RunView(id=name, settings=telling_settings(recorded_settings(run, [])), levels=len(run.trained_levels()))
        for name, run in other_runs(catalog, game).items()
    ]


def _game_of(path: Path) -> str | None:
    """The name of the game of the run in a folder; None if there is no run, or its manifest is broken."""
    section = read_or_note(_generation, RunFolder(path).level(0) / "manifest.json", [])
    return None if section is None else section["settings"].get("game.name")


def _generation(path: Path) -> dict[str, Any] | None:
    return Manifest(path.parent).sections.get("generation")


def _folders(folder: Path, depth: int = 1) -> Iterator[Path]:
    """The folders in a folder, and those in them, down to this depth; without the folders of levels."""
    if depth == 0 or not folder.is_dir():
        return
    try:
        inside = sorted(
            path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(("level_", "."))
        )
    except OSError:
        return
    for path in inside:
        yield path
        yield from _folders(path, depth - 1)


def read_or_note(read: Callable[[Path], Read], path: Path, notes: list[str]) -> Read | None:
    """The result of `read` for a file, which is read again only after it has changed.

    None if the file does not exist or is broken; the latter is added to `notes`.
    """
    try:
        found: Read = _read(path, read)
        return found
    except InvalidFileError as error:
        notes.append(f"{error}.")
    except (OSError, ValueError, KeyError, TypeError, csv.Error):
        # Nor does it exist if its folder is a file or a link to itself.
        if path.exists():
            notes.append(f"{path.name} cannot be read; delete it and run the stage that writes it again.")
    return None


@files.read_once(MOST_FILES)
def _read(path: Path, read: Callable[[Path], Any]) -> Any:
    return read(path)
