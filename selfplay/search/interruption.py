"""Compiled searches that can be stopped: by Ctrl-C, and when their time is up.

Python handles signals between its own instructions only, so a long compiled search runs beside the main thread, which
waits and sets the word that the search looks at now and then.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from selfplay.errors import TimeLimitError

Result = TypeVar("Result")


def run_interruptibly(function: Callable[[NDArray[np.int64]], Result], time_limit: float | None = None) -> Result:
    """The result of `function(stop)`, which runs in another thread and must end soon once `stop` (int64[1]) is not 0.

    Args:
        time_limit: seconds; None: no limit.

    Raises:
        TimeLimitError: the time was up before it came to its end.
        KeyboardInterrupt: Ctrl-C, after it has ended.
    """
    stop = np.zeros(1, dtype=np.int64)
    future: Future[Result] = Future()

    def work() -> None:
        try:
            future.set_result(function(stop))
        except BaseException as error:
            future.set_exception(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        thread.join(time_limit)
        if not thread.is_alive():
            return future.result()
        raise TimeLimitError(f"no result within {time_limit:g} seconds; give more time, or look less far ahead")
    finally:
        stop[0] = 1
        thread.join()
