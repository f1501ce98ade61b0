"""When searches must end: after a time, or at once because nobody waits for their results any more.

    deadline = Deadline(2.0)
    with deadline.applied():
        action = player.act(state, draws)  # every search in here ends in time, or when another thread calls cancel()

A deadline belongs to the context, as players have no argument for it. A search that has its own time limit ends at
the earlier of the two.
"""

import math
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, InvalidStateError, wait
from contextlib import contextmanager, suppress
from contextvars import Context, ContextVar, copy_context
from time import monotonic
from typing import Any

POLL_SECONDS = 0.1
"""The longest time before a signal is noticed."""

LEAST_SECONDS = 0.001


class StoppedError(Exception):
    """Raised by work that was stopped."""


class Deadline:
    """When the searches of its context must end. It can be cancelled from another thread.

    Args:
        seconds: from now; None for no limit, so that they end only if it is cancelled.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self.end = math.inf if seconds is None else monotonic() + seconds
        self._cancelled: Future[None] = Future()

    def cancel(self) -> None:
        """Stop the searches at once; they raise StoppedError."""
        with suppress(InvalidStateError):
            self._cancelled.set_result(None)

    def allow(self, seconds: float) -> None:
        """End after this number of seconds from now."""
        self.end = monotonic() + seconds

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Do not count the time of the block."""
        start = monotonic()
        try:
            yield
        finally:
            self.end += monotonic() - start

    @property
    def is_cancelled(self) -> bool:
        return self._cancelled.done()

    @property
    def left(self) -> float:
        """The number of seconds left, 0 or more; infinite without a limit."""
        return max(0.0, self.end - monotonic())

    @property
    def is_over(self) -> bool:
        """Whether no time is left."""
        return self.left == 0.0

    def part(self, share: float) -> float | None:
        """This share of the time left, as a time limit; None without a limit."""
        return None if self.end == math.inf else max(LEAST_SECONDS, self.left * share)

    def check(self) -> None:
        """Raise StoppedError if it was cancelled."""
        if self.is_cancelled:
            raise StoppedError("nobody waits for the result of this search any more")

    def wait(self, work: Future[Any], seconds: float) -> None:
        """Wait for `work`, for at most this number of seconds, and no longer than until this is cancelled."""
        wait([work, self._cancelled], seconds, FIRST_COMPLETED)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Let the searches of the block end in time."""
        before = _deadline.set(self)
        try:
            yield
        finally:
            _deadline.reset(before)


_deadline: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


def current_deadline() -> Deadline:
    """That of the context, or one without a limit."""
    return _deadline.get() or Deadline()


def context_without_deadline() -> Context:
    """A copy of the context for work that is not only for those who wait now."""
    context = copy_context()
    context.run(_deadline.set, None)
    return context
