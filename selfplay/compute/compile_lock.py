"""Several processes that need the same compiled function at once: one compiles it, the others wait and load it."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import FileIO
from pathlib import Path

LONGEST_WAIT, POLL_SECONDS = 60, 0.02
"""How long a process waits for another one, and how often it looks whether that has ended; in seconds."""


@contextmanager
def in_one_process(path: Path) -> Iterator[None]:
    """A block in which this process may compile. If another process is in a block with the same `path`, the block
    begins when that one has left it, after LONGEST_WAIT, or at once if that one has lower priority.

    The lock is a flock, which the system releases however a process ends, on a file that holds the niceness of the
    process. Processes that have waited do not lock: they find the code, or cannot, and then all compile it at once.
    """
    niceness = os.getpriority(os.PRIO_PROCESS, 0)
    with ExitStack() as stack:
        # Without a lock, several processes compile the function.
        with suppress(OSError):
            file = stack.enter_context(path.open("a+b", buffering=0))
            if _is_locked(file, fcntl.LOCK_EX):
                stack.callback(_release, file, path)
                file.truncate(0)
                file.write(str(niceness).encode())
            else:
                _wait(file, niceness)
        yield


def _is_locked(file: FileIO, kind: int) -> bool:
    """Lock a file, unless another process has locked it; whether this process has the lock."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _wait(file: FileIO, niceness: int) -> None:
    """Wait for the process that has locked this file, unless its niceness is greater."""
    end = time.monotonic() + LONGEST_WAIT
    while not _is_locked(file, fcntl.LOCK_SH) and time.monotonic() < end:
        file.seek(0)
        if int(file.read() or niceness) > niceness:
            return
        time.sleep(POLL_SECONDS)


def _release(file: FileIO, path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)
        # Closing is not enough: a process that has been forked off meanwhile has the file open too.
        fcntl.flock(file, fcntl.LOCK_UN)
