"""The finished runs below a folder, read from their files: their settings and the results of their levels."""

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from selfplay.errors import InvalidFileError, SettingError, StageError
from selfplay.files import read_once, sha256
from selfplay.games import GAMES, make_game
from selfplay.grading.comparison import level_columns
from selfplay.grading.proof import GRADE_COLUMNS
from selfplay.runs.command_lines import command_line
from selfplay.runs.manifest import Manifest, check_against_manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.tables import LINES, data_frame, read_rows
from selfplay.training.epochs import read_epochs
from selfplay.training.fitting import VALIDATION_LOSS

SETTING_IN_NAME = re.compile(r"(?:^|[,/])([A-Za-z_+][\w.]*)=(.*?)(?=[,/][A-Za-z_+][\w.]*=|/|$)")
"""A setting in the name of a folder as made by a sweep: recipe=article,seed=0."""

MOST_LEVELS = 1000
"""The largest number of levels whose digests are kept."""
NEEDED = ("level", "rating", *(f"{what}_vs_random" for what in ("wins", "draws", "losses")))
"""Columns without which a run cannot be compared; the results are empty for level 0."""


class FinishedRun(NamedTuple):
    """A run whose levels are all compared."""

    name: str
    """The folder of the run, relative to the folder that was searched; "." if they are the same."""
    settings: Mapping[str, Mapping[str, Any]]
    """The settings in its manifests: play_0 (matches of level 0), play (of later levels), training. A part may be
    missing."""
    table: pd.DataFrame
    """comparison/levels.csv, a row a level, level 0 first."""
    validation_loss: float | None
    """The lowest validation loss of the newest level."""

    @property
    def settings_in_name(self) -> dict[str, str]:
        """The settings that its name contains."""
        return dict(SETTING_IN_NAME.findall(self.name))

    @property
    def all_settings(self) -> dict[str, Any]:
        """All known settings of the run; a manifest takes precedence over the name."""
        return self.settings_in_name | {name: value for part in self.settings.values() for name, value in part.items()}


class Runs(NamedTuple):
    """The runs found below a folder."""

    finished: list[FinishedRun]
    skipped: dict[str, str]
    """Why each other run was skipped, by its name: it is unfinished, or a file is broken."""


def read_runs(folder: Path, expected: Sequence[Path] = ()) -> Runs:
    """Read every run below `folder`, or `folder` itself if it is the only one besides its corrected levels.

    `expected`: the folders of runs that should exist; those that do not are reported in `Runs.skipped`.

    Raises StageError if no run is found.
    """
    if not folder.is_dir():
        raise StageError(f"{folder} does not exist; set run_dir to the folder of a sweep")
    marks = (mark for name in (".lock", "level_00") for mark in folder.rglob(name))
    found = {mark.parent for mark in marks if not _holds_tables(mark.parent)} | set(expected)
    if found - {folder, RunFolder(folder).corrected}:
        # The folder of a sweep has a lock of its own if other programs, such as a tournament, have written there.
        found.discard(folder)
    paths = sorted(found, key=lambda path: _numbers_in_order(str(path)))
    if not paths:
        sweep = f"{command_line('learn')} -m seed=0,1 {shlex.quote(f'run_dir={folder}')}"
        raise StageError(f"{folder} contains no runs; a sweep makes a folder of them, such as {sweep}")
    finished, skipped = [], {}
    for path in paths:
        name = str(path.relative_to(folder))
        try:
            finished.append(read_run(path, name))
        except (StageError, SettingError, InvalidFileError) as error:
            skipped[name] = str(error)
    return Runs(finished, skipped)


def _holds_tables(folder: Path) -> bool:
    """Whether it is a folder of tables of values, whose lock is that of the tables, and not a run."""
    if any(folder.glob("level_*")):
        return False
    is_part = RunFolder(folder.parent).tabular == folder and (folder.parent / ".lock").exists()
    return is_part or any(folder.glob("*.npz"))


def _numbers_in_order(text: str) -> list[tuple[int, str]]:
    """A key that sorts seed=10 after seed=9."""
    return [(int(part) if re.fullmatch("[0-9]+", part) else -1, part) for part in re.split("([0-9]+)", text)]


def read_run(path: Path, name: str = ".") -> FinishedRun:
    """The finished run in this folder, under this name.

    Raises StageError, without the run's name, if it is not finished, InvalidFileError if a file is broken, or
    SettingError for an unknown game.
    """
    run = RunFolder(path)
    levels = run.trained_levels()
    if not levels:
        raise StageError("no level is trained yet" if run.path.is_dir() else "it has not started")
    if not run.comparison.exists():
        raise StageError(f"trained up to level {levels[-1]}, and its levels are not compared yet")
    table = read_level_table(run.comparison)
    check_against_manifest(run.comparison, run.path, remedy=level_table(run.comparison).partition("; ")[2])
    if (compared := int(table["level"].iloc[-1])) != levels[-1]:
        raise StageError(f"trained up to level {levels[-1]}, but compared up to level {compared}")
    if reason := outdated_comparison(run):
        raise StageError(f"{reason}; {command_line('compare')} compares again")
    losses = run.epoch_loss(levels[-1])
    epochs = read_epochs(losses)
    loss = min((epoch.judged for epoch in epochs if epoch.judged_by == VALIDATION_LOSS), default=None)
    check_against_manifest(losses)
    read = FinishedRun(name, _settings(run, levels[-1]), table, loss)
    if (game := read.all_settings.get("game.name")) is not None:
        GAMES.check_recorded(game)
        make_game(game)
    return read


def outdated_comparison(run: RunFolder) -> str:
    """Why the comparison of a run is not of its present levels, as a clause; empty if it is, or that is not known.

    Raises InvalidFileError if the manifest of the run is broken.
    """
    manifest = Manifest(run.path)
    if (section := manifest.sections.get("comparison")) is None:
        return ""
    if change := manifest.changed_code("comparison", section["settings"]):
        return f"{change}, since its levels were compared"
    agents = section["settings"].get("agents_sha256", [])
    for level, digest in enumerate(agents, start=1):
        if (agent := run.agent(level)).exists() and _digest(agent) != digest:
            return f"level {level} has been made again since the levels were compared"
    return ""


@read_once(MOST_LEVELS)
def _digest(path: Path) -> str:
    return sha256(path)


def level_table(path: Path) -> str:
    """What error messages call a table of a comparison, or of the strength of a level, and how to replace it."""
    run_dir = shlex.quote(f"run_dir={path.parent.parent}")
    return f"a table of compared levels; {command_line('compare')} {run_dir} writes it again"


def read_level_table(path: Path) -> pd.DataFrame:
    """Read comparison/levels.csv. Raises InvalidFileError if it is not such a table."""
    rows = read_rows(path, level_columns(), level_table(path))
    exact = [row.get("exact_win_vs_random") for row in rows]
    lines = [row.get(name) for row in rows for name, kind in GRADE_COLUMNS.items() if kind is LINES]
    is_table = (
        [row.get("level") for row in rows] == list(range(len(rows)))
        and len(rows) > 1
        and all(row.get(name) is not None for row in rows[1:] for name in NEEDED)
        # In a game too large to enumerate, no level has an exact grade.
        and exact.count(None) in (0, len(rows))
        and all(count is None or count >= 0 for count in lines)
    )
    if not is_table:
        what, _, remedy = level_table(path).partition("; ")
        raise InvalidFileError(path, f"is not {what} (a level or a result is missing); {remedy}")
    return data_frame(level_columns(), [dict.fromkeys(GRADE_COLUMNS) | row for row in rows])


def _settings(run: RunFolder, newest: int) -> dict[str, dict[str, Any]]:
    """The settings in the manifests, by their names on the command line."""
    sections = {
        "play_0": Manifest(run.level(0)).sections.get("generation"),
        "play": Manifest(run.level(1)).sections.get("generation"),
        "training": Manifest(run.level(newest)).sections.get("training"),
    }
    parts: dict[str, dict[str, Any]] = {}
    for part, section in sections.items():
        if section is not None:
            values = dict(section["settings"])
            # The storage of rows and the inputs of a level are not choices that distinguish runs.
            parts[part] = {
                name: value
                for name, value in values.items()
                if name not in ("level", "dataset.format") and not name.endswith("_sha256")
            }
    return parts


# ---------------------------------------------------------------------- what differs between runs


def differing_settings(runs: Sequence[FinishedRun]) -> list[str]:
    """The names of all settings that are not the same in all runs; those in the names of folders come first."""
    named = _differing([run.settings_in_name for run in runs])
    parts = dict.fromkeys(part for run in runs for part in run.settings)
    written = [_differing([run.settings[part] for run in runs if part in run.settings]) for part in parts]
    return list(dict.fromkeys([*named, *(name for names in written for name in names)]))


def distinguishing_settings(runs: Sequence[FinishedRun]) -> list[str]:
    """The `differing_settings` in the names of the folders, and those that differ between runs with equal names.

    A recipe sets many settings; where runs are named after their recipes, the name of the recipe suffices.
    """
    names = differing_settings(runs)
    named = [name for name in names if any(name in run.settings_in_name for run in runs)]
    groups: dict[str, list[FinishedRun]] = {}
    for run in runs:
        groups.setdefault(settings_key(run, named), []).append(run)
    unexplained = {name for group in groups.values() for name in differing_settings(group)}
    return [name for name in names if name in named or name in unexplained]


def settings_key(run: FinishedRun, names: Iterable[str]) -> str:
    """A text that is the same for runs with the same values of these settings."""
    return json.dumps([run.all_settings.get(name) for name in names], sort_keys=True)


def setting_in_table(run: FinishedRun, name: str) -> str:
    """The value as written on the command line; empty if it is not known."""
    value = run.all_settings.get(name, "")
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def _differing(parts: Sequence[Mapping[str, Any]]) -> list[str]:
    names = dict.fromkeys(name for part in parts for name in part)
    return [name for name in names if len({json.dumps(part.get(name), sort_keys=True) for part in parts}) > 1]
