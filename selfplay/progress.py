"""Progress bars of long-running work."""

from collections.abc import Callable
from threading import Thread
from time import sleep
from typing import Any

from tqdm import tqdm

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


BAR = "{desc}: {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}{postfix}]"
"""Without matches per second, so that results beside the bar fit a terminal of 80 columns."""


SECONDS = 1.0
"""How often the time beside a bar goes on while nothing else does, such as during the only shard of a level."""


def progress_bar(*, total: int, desc: str) -> Any:
    """A tqdm bar on a terminal; nothing elsewhere, where the lines of the log are enough."""
    bar = tqdm(total=total, desc=desc, leave=False, disable=None, bar_format=BAR)
    if not bar.disable:
        Thread(target=_keep_time, args=(bar,), daemon=True).start()
    return bar


def _keep_time(bar: Any) -> None:
    """Show a bar again each second until it is closed."""
    while not bar.disable:
        sleep(SECONDS)
        with bar.get_lock():
            # Closing disables it, and then clears it with this lock.
            if not bar.disable:
                bar.refresh(nolock=True)
