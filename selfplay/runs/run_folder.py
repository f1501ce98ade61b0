"""The files of a run: where each is and the lock with which one process at a time writes them."""

import errno
import fcntl
import logging
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import get_ident

from selfplay.compute.process import process_rank
from selfplay.dataset.formats import DATASET_FORMATS
from selfplay.errors import RunLockedError, StageError, system_reason
from selfplay.files import check_writable, resolved
from selfplay.runs.command_lines import command_for
from selfplay.runs.folders import PROJECT_FOLDER
from selfplay.runs.manifest import RUN, Manifest

LEVEL_FOLDER = re.compile(r"level_([0-9]{2}|[1-9][0-9]{2,8})")
"""The name of the folder of a level, with the number in at least two digits."""
PROBCUT_FILE = "probcut.yaml"
LEARNER_FILE = "learner.safetensors"
"""The file from which temporal-difference learning of the next level continues, in addition to the weights."""

NOT_WRITABLE = (errno.EROFS, errno.EACCES, errno.EPERM)
WITHOUT_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)

_holders: dict[tuple[int, int], int] = {}
"""The threads that hold the locks of runs, by device and inode of the .lock files."""
os.register_at_fork(after_in_child=_holders.clear)


class RunFolder:
    """The paths of the files of one run; docs/files.md and docs/tables.md describe them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tabular, self.tournament = path / "tabular", path / "tournament"
        self.corrected = path / "corrected"
        self.figures, self.events = path / "figures", path / "tensorboard"
        comparison = path / "comparison"
        self.comparison, self.report = comparison / "levels.csv", comparison / "report.txt"
        self.matches, self.references = comparison / "matches.csv", comparison / "references.csv"
        self.mistakes = comparison / "mistakes.csv"
        self.endgames, self.judged_positions = comparison / "endgames.csv", comparison / "judged_positions.csv"
        self.proofs = comparison / "proofs"

    def level(self, level: int) -> Path:
        return self.path / f"level_{level:02d}"

    def dataset(self, level: int, form: str = "csv") -> Path:
        """The matches that this level played, in this format: a file for csv, a folder for parquet."""
        return self.level(level) / f"dataset{DATASET_FORMATS[form].suffix}"

    def agent(self, level: int) -> Path:
        """The weights of this level."""
        return self.level(level) / "agent.safetensors"

    def epoch_loss(self, level: int) -> Path:
        return self.level(level) / "epoch_loss.csv"

    def strength(self, level: int) -> Path:
        """How strong this level is, a row of the table of the comparison, measured as soon as it was trained."""
        return self.level(level) / "strength.csv"

    def versus_rollouts(self, level: int) -> Path:
        """Its matches against tree search with random matches at equal work, if it learned a policy."""
        return self.level(level) / "versus_rollouts.csv"

    def temperatures(self, level: int) -> Path:
        """The temperatures of the strengths below the strongest, if they were found when this was the newest level."""
        return self.level(level) / "temperatures.csv"

    def evaluation(self, level: int) -> Path:
        """The weights of this level as an evaluation for searches, if they were exported."""
        return self.level(level) / "evaluation.yaml"

    def probcut(self, level: int) -> Path:
        """How well shallow searches with this level predict deep ones, if this was fitted."""
        return self.level(level) / PROBCUT_FILE

    def level_events(self, level: int) -> Path:
        return self.events / self.level(level).name

    def player_files(self) -> list[Path]:
        """The existing files that players of this run are made from."""
        patterns = "level_*/agent.safetensors", "level_*/evaluation.yaml", "tabular/*", "experience.sqlite"
        return sorted(path for pattern in patterns for path in self.path.glob(pattern) if path.is_file())

    def trained_levels(self) -> list[int]:
        """The levels that have an agent, in order."""
        return self.levels_with("agent.safetensors")

    def levels_with(self, name: str) -> list[int]:
        """The levels whose folder has a file with this name, in order."""
        found = (LEVEL_FOLDER.fullmatch(path.parent.name) for path in self.path.glob(f"level_*/{name}"))
        return sorted(int(match[1]) for match in found if match)

    def newest_level(self) -> int:
        """The newest level that has an agent; 0 if there is none."""
        return max(self.trained_levels(), default=0)

    def is_at_work(self) -> bool:
        """Whether a process holds the run's lock now; always False on systems without /proc/locks.

        Trying to take the lock would answer this too, but a run that starts at the same moment could fail.
        """
        try:
            inode = (self.path / ".lock").stat().st_ino
            lines = Path("/proc/locks").read_text().splitlines()
        except OSError:
            return False
        return any(" FLOCK " in line and f":{inode} " in line for line in lines)

    def check_level(self, level: int) -> None:
        """Raise StageError, naming the existing levels, unless `level` has an agent."""
        levels = self.trained_levels()
        if not self.path.is_dir():
            raise StageError(f"{self.path} does not exist; set run_dir to the folder of a run")
        if level not in levels:
            raise StageError(f"{self.path} has no level {level}; it has {_levels_text(levels)}")

    def existing_agent(self, level: int) -> Path:
        """The weights of this level. Raises StageError as `check_level`."""
        self.check_level(level)
        return self.agent(level)

    def delete_levels(self) -> None:
        """Delete the levels, what was measured of them, their figures and the recorded settings.

        Other files in the folder stay. Raises StageError if one cannot be deleted, InvalidFileError if the manifest is
        broken.
        """
        levels = [path for path in self.path.glob("level_*") if LEVEL_FOLDER.fullmatch(path.name)]
        manifest = Manifest(self.path)
        try:
            for folder in (*sorted(levels, reverse=True), self.comparison.parent, self.figures, self.events):
                if folder.exists():
                    shutil.rmtree(folder)
        except OSError as error:
            raise StageError(f"cannot delete {error.filename}: {error.strerror}") from error
        # Last, so that a command that was killed before this point deletes the rest when it is run again.
        for section in ("comparison", RUN):
            manifest.forget(section)

    @contextmanager
    def lock(self, *, create: bool = True) -> Iterator[None]:
        """Hold the run's lock in this thread: a flock on .lock, which the system releases however the process ends.

        Within the block the same thread may enter it again, which does nothing. If the folder did not exist before, and
        the block fails without making a file, the folder is deleted.

        Args:
            create: make the folder if it does not exist.

        Raises:
            RunLockedError: another process holds the lock, or another thread of this one.
            StageError: the folder does not exist or cannot be made, or its file system has no locks.

        Of a folder that cannot be written to, the lock is held if it can be: commands whose work is done write nothing.
        """
        is_new, path = not self.path.exists(), self.path / ".lock"
        if is_new and not create:
            raise StageError(f"{self.path} does not exist; set run_dir to the folder of a run")
        if any(one.exists() and _holders.get(_key(one.stat())) == get_ident() for one in (path, self.path)):
            yield
            return
        with ExitStack() as stack:
            try:
                self.path.mkdir(parents=True, exist_ok=True)
                check_writable(path)
                file, locked = _opened_to_lock(path)
                stack.callback(os.close, file)
                key = _key(os.fstat(file))
                holder = _holders.get(key)
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _holders[key] = get_ident()
                stack.callback(_holders.pop, key)
            except BlockingIOError as error:
                who = "process" if holder is None else "thread of this program"
                raise RunLockedError(
                    f"another {who} is using {self.path}; wait for it, or set another run_dir"
                ) from error
            except OSError as error:
                if error.errno in WITHOUT_LOCKS:
                    raise StageError(
                        f"cannot lock {path}: {error.strerror}; set run_dir to a folder of a file system with locks, "
                        "such as a local disk"
                    ) from error
                raise StageError(f"cannot write in {self.path}: {system_reason(error)}") from error
            try:
                yield
            except BaseException:
                if is_new:
                    path.unlink(missing_ok=True)
                    # Only folders without files are removed.
                    for folder in (*self.path.glob("*"), self.path):
                        with suppress(OSError):
                            folder.rmdir()
                raise
            if not (locked.exists() and _key(locked.stat()) == key):
                raise StageError(f"{self.path} was deleted or replaced meanwhile; run the same command again")


def _opened_to_lock(path: Path) -> tuple[int, Path]:
    """The descriptor of a .lock file, and what is locked: the folder itself if it cannot be written to and has no such
    file.

    Raises OSError.
    """
    try:
        return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666), path
    except OSError as error:
        if error.errno not in NOT_WRITABLE:
            raise
    locked = path if path.exists() else path.parent
    return os.open(locked, os.O_RDONLY), locked


def _key(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


@contextmanager
def logging_with(handler: logging.Handler, form: str) -> Iterator[None]:
    """In the block, the messages of the library also go to this handler, in this format."""
    handler.setFormatter(logging.Formatter(form))
    logger = logging.getLogger("selfplay")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        handler.close()


@contextmanager
def writing_run(run: RunFolder, *, create: bool) -> Iterator[None]:
    """Hold the lock of the run in the block, as `RunFolder.lock` does.

    The outermost such block in a thread appends the messages of the library to the run's run.log. Of several processes
    that torchrun started, only the first locks and logs.
    """
    with ExitStack() as stack:
        if process_rank() == 0:
            is_outermost = get_ident() not in _holders.values()
            stack.enter_context(run.lock(create=create))
            if is_outermost:
                path = run.path / "run.log"
                check_writable(path)
                # What is done already is said on the screen only.
                if not os.access(path if path.exists() else run.path, os.W_OK):
                    yield
                    return
                file = logging.FileHandler(path, encoding="utf-8", delay=True)
                stack.enter_context(logging_with(file, "%(asctime)s %(message)s"))
        yield


def _levels_text(levels: list[int]) -> str:
    if len(levels) < 2:
        return f"level {levels[0]}" if levels else "no trained level yet"
    if levels == list(range(levels[0], levels[-1] + 1)):
        return f"levels {levels[0]} to {levels[-1]}"
    return f"levels {', '.join(map(str, levels))}"


def path_text(path: Path) -> str:
    """A path as text, relative to the project if it is inside."""
    real = resolved(path)
    return str(real.relative_to(PROJECT_FOLDER)) if real.is_relative_to(PROJECT_FOLDER) else str(path)


def no_levels_text(run: RunFolder, game: str) -> str:
    """A note that the run has no trained level, with the command that trains some unless it is at work."""
    rest = "the first is being made" if run.is_at_work() else f"train some with {command_for('learn', game, run.path)}"
    return f"{path_text(run.path)} has no trained level yet; {rest}."
