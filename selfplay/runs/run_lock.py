"""The lock of a run: one process at a time writes into a run's folder.

The lock is a flock on RUN_DIR/.lock, which the system releases when the process exits, however it ends. A shell script
holds it for all its stages: it opens the file and passes the descriptor's number in SELFPLAY_LOCK_FD.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from selfplay.errors import RunLockedError, StageError
from selfplay.runs.written_files import opened_to_append

LOCK_DESCRIPTOR = "SELFPLAY_LOCK_FD"
"""Environment variable: the number of an open file that already holds the run's lock, inherited from a shell."""


@contextmanager
def hold_lock(folder: Path, *, create: bool = True) -> Iterator[None]:
    """Hold the lock of the run in `folder` for this process.

    Args:
        create: make the folder if it does not exist.

    Raises:
        RunLockedError: another process holds the lock.
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
        yield


def _locked_file(path: Path) -> BinaryIO:
    """Open and lock the file at `path`. Raises BlockingIOError if another process holds the lock."""
    while True:
        file = opened_to_append(path)
        try:
            inherited = _inherited_descriptor(file.fileno())
            # A lock belongs to the open file: if the shell's open file holds it, taking it again has no effect.
            fcntl.flock(file if inherited is None else inherited, fcntl.LOCK_EX | fcntl.LOCK_NB)
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


def _inherited_descriptor(own: int) -> int | None:
    """The descriptor of the lock file opened by the shell, if it is the same file as descriptor `own`."""
    number = os.environ.get(LOCK_DESCRIPTOR, "")
    try:
        return int(number) if os.path.samestat(os.fstat(int(number)), os.fstat(own)) else None
    except (ValueError, OverflowError, OSError):
        return None
