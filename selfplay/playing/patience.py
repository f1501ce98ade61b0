"""A notice where a person waits, so that the program does not seem to hang."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

QUIET_SECONDS = 1.0
"""How long work takes before a notice is written."""
PREPARING = "Preparing (once)..."
THINKING = "Thinking..."


class Patience:
    """Writes a notice when work takes long: at first PREPARING, because searches are compiled once, later THINKING.

    Args:
        write: shows a line; called in another thread.
    """

    def __init__(self, write: Callable[[str], None], seconds: float = QUIET_SECONDS) -> None:
        self._write, self._seconds, self._notice = write, seconds, PREPARING

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """The block is the work."""
        timer = threading.Timer(self._seconds, self._write, [self._notice])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            # What is compiled stays compiled.
            self._notice = THINKING
