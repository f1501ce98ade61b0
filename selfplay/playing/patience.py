"""A notice where a person waits, so that the program does not seem to hang."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any, cast

from numba.core import event

QUIET_SECONDS = 1.0
"""How long work takes before a notice is written."""
PREPARING = "Preparing..."
THINKING = "Thinking..."
COMPILING = "Compiling, once for this version of the program; this can take a minute..."


class Patience:
    """Writes a notice when work takes long, and COMPILING if it is then compiling.

    Args:
        write: shows a line; called in another thread.
        seconds: how long to wait before a notice.
    """

    def __init__(self, write: Callable[[str], None], seconds: float = QUIET_SECONDS) -> None:
        self._write, self._seconds = write, seconds

    @contextmanager
    def waiting(self, notice: str = THINKING) -> Iterator[None]:
        """The block is the work, and `notice` says what it is."""
        done = Event()
        Thread(target=self._watch, args=(done, notice), daemon=True).start()
        try:
            yield
        finally:
            done.set()

    def _watch(self, done: Event, notice: str) -> None:
        written: set[str] = set()
        while not done.wait(self._seconds):
            current = COMPILING if is_compiling() else notice
            if current not in written:
                self._write(current)
            written.add(current)


class _Compilations(event.Listener):
    """Counts the functions that numba is compiling; it compiles in one thread at a time."""

    running = 0

    def on_start(self, event: object) -> None:
        self.running += 1

    def on_end(self, event: object) -> None:
        self.running -= 1


_compilations = _Compilations()
cast(Any, event).register("numba:compile", _compilations)


def is_compiling() -> bool:
    """Whether a function is being compiled, in any thread."""
    return _compilations.running > 0
