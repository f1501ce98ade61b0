"""Progress bars of long-running work."""

from collections.abc import Callable
from typing import Any

ProgressBar = Callable[..., Any]
"""Makes a progress bar as tqdm does: called with total= and desc=, it returns an object with update(n), close(),
set_postfix_str(text) for a text beside the bar, and `disable`: whether it shows nothing."""


class NoProgress:
    """A progress bar that shows nothing."""

    disable = True

    def __init__(self, *, total: int, desc: str) -> None:
        pass

    def update(self, count: int) -> None:
        """Do nothing."""

    def set_postfix_str(self, text: str) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""
