"""A limit of what strangers can make the server write into its log."""

import logging
import traceback
from collections import OrderedDict
from collections.abc import Callable
from time import monotonic

LOG_SECONDS = 60.0
"""A kind of line is written once in this time."""
MOST_KINDS = 1000


class LogLimit(logging.Filter):
    """Passes the first record of each kind in LOG_SECONDS. A kind is a message without its arguments, and the place of
    its error.

    Args:
        clock: the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._passed = OrderedDict[object, tuple[float, int]]()
        """When the last record of a kind has passed, and how many have not passed since then."""

    def filter(self, record: logging.LogRecord) -> bool:
        kind, now = (record.name, record.msg, _place(record)), self._clock()
        when, left_out = self._passed.get(kind, (-LOG_SECONDS, 0))
        if now - when < LOG_SECONDS:
            self._passed[kind] = when, left_out + 1
            return False
        self._passed[kind] = now, 0
        self._passed.move_to_end(kind)
        if len(self._passed) > MOST_KINDS:
            self._passed.popitem(last=False)
        if left_out:
            record.msg = f"{record.msg.rstrip()} ({left_out} more of this kind since the last one)"
        return True


def _place(record: logging.LogRecord) -> object:
    """The kind of the error of a record, and the line that raised it."""
    if not record.exc_info or record.exc_info[0] is None:
        return None
    frames = traceback.extract_tb(record.exc_info[2])
    return record.exc_info[0], frames and (frames[-1].filename, frames[-1].lineno)
