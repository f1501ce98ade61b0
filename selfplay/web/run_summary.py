"""What a run is and how far it is, for the first card of its story."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from selfplay.errors import InvalidFileError
from selfplay.input_files import MEGABYTE, read_text
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.web.story_schemas import RunSummary

LOG_LINES = 8
LOG_BYTES = 8192
RECENT_LEVELS = 3
"""The time left is estimated from the time that as many levels took."""
SHOWN_SETTINGS = ("recipe", "seed", "matches", "targets", "outcome", "player.depth")
"""The most telling settings of a run."""


def run_summary(run: RunFolder, levels: list[int], notes: list[str]) -> RunSummary:
    """The summary of a run with these trained levels. A broken file is added to `notes`."""
    settings = settings_of_run(run, notes)
    wanted = settings.get("levels")
    wanted = wanted if isinstance(wanted, int) and wanted >= len(levels) else None
    return RunSummary(
        settings=telling_settings(settings),
        wanted_levels=wanted,
        seconds_left=_seconds_left(run, levels, wanted) if run.is_at_work() else None,
        log=_last_lines(run.path / "run.log"),
        report=_report(run.report),
    )


def settings_of_run(run: RunFolder, notes: list[str]) -> dict[str, Any]:
    """The settings that a run has recorded, none if it has not. A broken file is added to `notes`."""
    try:
        settings: dict[str, Any] = Manifest(run.path).sections.get("run", {}).get("settings", {})
        return settings
    except InvalidFileError as error:
        notes.append(f"{error}.")
        return {}


def telling_settings(settings: dict[str, Any]) -> list[str]:
    """The most telling of these settings, such as seed=0."""
    shown = [f"{name}={settings[name]}" for name in SHOWN_SETTINGS if settings.get(name) is not None]
    name = settings.get("architecture", {}).get("name") if isinstance(settings.get("architecture"), dict) else None
    return [*shown, *([f"architecture={name}"] if name else [])]


def _seconds_left(run: RunFolder, levels: list[int], wanted: int | None) -> float | None:
    """The time until the last level, from the times of the newest ones; None if it is not known."""
    times = []
    for level in levels[-RECENT_LEVELS - 1 :]:
        with suppress(OSError):
            times.append(run.agent(level).stat().st_mtime)
    if wanted is None or len(times) < 2 or times[-1] <= times[0]:
        return None
    return (wanted - len(levels)) * (times[-1] - times[0]) / (len(times) - 1)


def _last_lines(log: Path) -> list[str]:
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - LOG_BYTES))
            text = file.read(LOG_BYTES).decode("utf-8", "replace")
    except OSError:
        return []
    return text.splitlines()[-LOG_LINES:]


def _report(path: Path) -> str | None:
    try:
        return read_text(path, MEGABYTE).rstrip()
    except InvalidFileError:
        return None
