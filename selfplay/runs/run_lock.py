"""The lock of a run: one process at a time writes into a run's folder.

The lock is a flock on RUN_DIR/.lock, which the system releases when the process exits, however it ends.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from selfplay.errors import RunLockedError, StageError
from selfplay.runs.written_files import opened_to_append

_held: set[tuple[int, int]] = set()
"""The device and inode of each lock file that this process holds and may take again."""


@contextmanager
def hold_lock(folder: Path, *, create: bool = True, reentrant: bool = False) -> Iterator[None]:
    """Hold the lock of the run in `folder` for this process.

    Args:
        create: make the folder if it does not exist.
        reentrant: whether this process may take the lock again while it is held.

    Raises:
        RunLockedError: the lock is held already.
        StageError: the folder does not exist, or cannot be written to.
    """
    if not (create or folder.is_dir()):
        raise StageError(f"{folder} does not exist; set run_dir to the folder of a run")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = _locked_file(folder / ".lock")
    except BlockingIOError as error:
        raise RunLockedError(f"another process is using {folder}; wait for it, or set another run_dir") from error
    except OSError as error:
        raise StageError(f"cannot write in {folder}: {error.strerror}") from error
    with file:
        if not reentrant:
            yield
            return
        _held.add(_identity(file))
        try:
            yield
        finally:
            _held.remove(_identity(file))


def _identity(file: BinaryIO) -> tuple[int, int]:
    found = os.fstat(file.fileno())
    return found.st_dev, found.st_ino


def _locked_file(path: Path) -> BinaryIO:
    """Open the file at `path`, and lock it unless this process may take its lock again.

    Raises BlockingIOError if the lock is held.
    """
    while True:
        file = opened_to_append(path)
        try:
            if _identity(file) not in _held:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Another process may have deleted the file since it was opened, and locked a new one.
            if path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat()):
                return file
        except BaseException:
            file.close()
            raise
        file.close()


def is_locked(folder: Path) -> bool:
    """Whether a process holds the lock of the run in `folder`; always False on systems without /proc/locks.

    Trying to take the lock would also answer this, but could make a run fail that starts at the same moment.
    """
    try:
        inode = (folder / ".lock").stat().st_ino
        lines = Path("/proc/locks").read_text().splitlines()
    except OSError:
        return False
    return any(" FLOCK " in line and f":{inode} " in line for line in lines)
