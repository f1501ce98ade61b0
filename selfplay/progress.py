"""Progress bars of long-running work."""

from collections.abc import Callable
from typing import Any

ProgressBar = Callable[..., Any]
"""Makes a progress bar as tqdm does: called with total= and desc=, it returns an object with update(n) and close()."""


class NoProgress:
    """A progress bar that shows nothing."""

    def __init__(self, *, total: int, desc: str) -> None:
        pass

    def update(self, count: int) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""
