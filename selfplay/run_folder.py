"""The files of a run: where each stands, how it is written whole or not at all, and what its manifest says.

    RUN_DIR/level_03/dataset.csv (or dataset.parquet/), agent.safetensors, epoch_loss.csv, manifest.json
    RUN_DIR/manifest.json
    RUN_DIR/comparison/levels.csv, matches.csv, references.csv, endgames.csv
    RUN_DIR/tabular/*.npz, manifest.json
    RUN_DIR/tournament/*.csv, scores.png
    RUN_DIR/figures/*.png
    RUN_DIR/tensorboard/*/events.out.tfevents.*

    python -m selfplay.run_folder RUN_DIR

holds the run for the shell whose open file SELFPLAY_LOCK_FD names, or says that another run holds it.
"""

import fcntl
import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from selfplay.errors import InvalidFileError, RunLockedError, StageError

LOCK_DESCRIPTOR = "SELFPLAY_LOCK_FD"
"""Environment variable: the number of an open file that already holds the run's lock, inherited from a shell."""

MANIFEST_FORMAT = 1


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A path beside `path` to write to; it takes the place of `path` when the block ends, or goes when it fails."""
    beside = path.with_name(f".{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield beside
        with beside.open("rb") as file:
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException as error:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        if isinstance(error, OSError):
            reason = error.strerror or " ".join(str(error).split())
            raise StageError(f"cannot write {path}: {reason}") from error
        raise


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits; of a folder, that of its files' names and digests.

    Raises OSError.
    """
    if path.is_dir():
        lines = [f"{sha256(file)}  {file.name}\n" for file in sorted(path.iterdir())]
        return hashlib.sha256("".join(lines).encode()).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _inherited_descriptor(own: int) -> int | None:
    """The descriptor of the shell's lock file, if it is the same file as descriptor `own`."""
    number = os.environ.get(LOCK_DESCRIPTOR, "")
    try:
        return int(number) if os.path.samestat(os.fstat(int(number)), os.fstat(own)) else None
    except (ValueError, OSError):
        return None


class RunFolder:
    """The folder of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def level(self, level: int) -> Path:
        """The folder of a level."""
        return self.path / f"level_{level:02d}"

    def dataset(self, level: int, form: str = "csv") -> Path:
        """The matches that this level played: a file of the form csv, a folder of the form parquet."""
        return self.level(level) / f"dataset.{form}"

    def agent(self, level: int) -> Path:
        """The weights of this level."""
        return self.level(level) / "agent.safetensors"

    def epoch_loss(self, level: int) -> Path:
        """The losses by epoch of the training that made this level."""
        return self.level(level) / "epoch_loss.csv"

    def evaluation(self, level: int) -> Path:
        """What this level has learned as an evaluation for searches, if it was asked for."""
        return self.level(level) / "evaluation.yaml"

    @property
    def comparison(self) -> Path:
        """The table of all levels."""
        return self.path / "comparison" / "levels.csv"

    @property
    def matches(self) -> Path:
        """Who has met whom when the levels were compared, in a game too large to enumerate."""
        return self.path / "comparison" / "matches.csv"

    @property
    def references(self) -> Path:
        """The players that the levels have met there."""
        return self.path / "comparison" / "references.csv"

    @property
    def endgames(self) -> Path:
        """The late positions in which players are tried there, with the exact value of every action."""
        return self.path / "comparison" / "endgames.csv"

    @property
    def tabular(self) -> Path:
        """The folder of the tables of values that were learned."""
        return self.path / "tabular"

    @property
    def tournament(self) -> Path:
        """The folder of the results of a tournament."""
        return self.path / "tournament"

    @property
    def figures(self) -> Path:
        return self.path / "figures"

    @property
    def events(self) -> Path:
        """The folder of what TensorBoard shows, if it was asked for."""
        return self.path / "tensorboard"

    def player_files(self) -> list[Path]:
        """What the players of this run are made from, as far as it is there."""
        patterns = "level_*/agent.safetensors", "level_*/evaluation.yaml", "tabular/*", "experience.sqlite"
        return sorted(path for pattern in patterns for path in self.path.glob(pattern) if path.is_file())

    def trained_levels(self) -> list[int]:
        """The levels that have an agent, in order."""
        found = (path.parent.name.removeprefix("level_") for path in self.path.glob("level_*/agent.safetensors"))
        return sorted(int(number) for number in found if number.isdigit())

    def is_at_work(self) -> bool:
        """Whether a process holds the run's lock now; False also where the system does not say so.

        Trying the lock would tell too, but could refuse a run that begins at that moment.
        """
        try:
            inode = (self.path / ".lock").stat().st_ino
            lines = Path("/proc/locks").read_text().splitlines()
        except OSError:
            return False
        return any(" FLOCK " in line and f":{inode} " in line for line in lines)

    def check_level(self, level: int) -> None:
        """Raise StageError, naming the levels that are there, unless `level` has an agent."""
        levels = self.trained_levels()
        if level not in levels:
            raise StageError(f"{self.path} has no level {level}; it has {_levels_text(levels)}")

    @contextmanager
    def lock(self, *, create: bool = True) -> Iterator[None]:
        """Hold the run for this process; the system frees it on exit.

        Args:
            create: make the folder if it is not there.

        Raises:
            RunLockedError: another run holds it.
            StageError: it is not there, or cannot be written to.
        """
        if not (create or self.path.is_dir()):
            raise StageError(f"{self.path} is not there; give the run_dir of a run")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            file = (self.path / ".lock").open("ab")
        except OSError as error:
            raise StageError(f"cannot write in {self.path}: {error.strerror}") from error
        with file:
            inherited = _inherited_descriptor(file.fileno())
            try:
                # A lock belongs to the open file, so locking the shell's file again changes nothing if it holds it.
                fcntl.flock(file if inherited is None else inherited, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise RunLockedError(
                    f"another run is at work in {self.path}; wait for it, or give another run_dir"
                ) from error
            yield


class Manifest:
    """manifest.json of a level or a run: for each stage its settings, inputs, counts and the SHA-256 of its files.

    Raises InvalidFileError if the file is there but is not a manifest.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "manifest.json"
        self.sections: dict[str, Any] = {}
        if self.path.exists():
            try:
                content = json.loads(self.path.read_text())
                if content["format"] != MANIFEST_FORMAT:
                    raise ValueError
                self.sections = {name: content[name] for name in content if name != "format"}
                if not all({"settings", "files"} <= section.keys() for section in self.sections.values()):
                    raise ValueError
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise InvalidFileError(self.path, "is no manifest of this format; delete it and run again") from error

    def is_done(self, stage: str, settings: Mapping[str, Any], *, force: bool) -> bool:
        """Whether the stage's files are there and were made with these settings.

        Raises StageError, naming what differs, if they were made with others or were changed since; with `force`
        the answer is then False.
        """
        section = self.sections.get(stage)
        if section is None:
            return False
        was, now = flat_settings(section["settings"]), flat_settings(settings)
        differing = [name for name in {**was, **now} if was.get(name) != now.get(name)]
        there = {name: digest for name, digest in section["files"].items() if (self.folder / name).exists()}
        changed = [name for name, digest in there.items() if sha256(self.folder / name) != digest]
        if (differing or changed) and not force:
            what = ", ".join(f"{name} was {_brief(was.get(name))}, is {_brief(now.get(name))}" for name in differing)
            raise StageError(
                f"{self.folder}: {what or f'{changed[0]} is not the file that was made'}; "
                "give another run_dir, or force=true to make it again"
            )
        return not (differing or changed) and len(there) == len(section["files"])

    def forget(self, stage: str) -> None:
        """Take the stage's section out, so that a kill while its files are replaced leaves no wrong word."""
        if self.sections.pop(stage, None) is not None:
            self._write()

    def record(self, stage: str, settings: Mapping[str, Any], counts: Mapping[str, int], files: list[str]) -> None:
        """Say that the stage is done."""
        self.sections[stage] = {
            "settings": dict(settings),
            "counts": dict(counts),
            "files": {name: sha256(self.folder / name) for name in files},
            "versions": {name: version(name) for name in ("selfplay", "torch", "numpy")},
        }
        self._write()

    def _write(self) -> None:
        with written_whole(self.path) as beside:
            beside.write_text(json.dumps({"format": MANIFEST_FORMAT, **self.sections}, indent=2, sort_keys=True) + "\n")


def _levels_text(levels: list[int]) -> str:
    if len(levels) < 2:
        return f"level {levels[0]}" if levels else "no trained level yet"
    if levels == list(range(levels[0], levels[-1] + 1)):
        return f"levels {levels[0]} to {levels[-1]}"
    return f"levels {', '.join(map(str, levels))}"


def flat_settings(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings by their dotted names, as they are written on the command line."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        flat |= flat_settings(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {f"{prefix}{name}": value}
    return flat


def _brief(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


if __name__ == "__main__":
    from selfplay.command_line import run_reporting_errors

    def _hold() -> None:
        with RunFolder(Path(sys.argv[1])).lock():
            pass

    run_reporting_errors(_hold)
