"""Ends a program early with one line on stderr and an exit code, also on Ctrl-C.

Importing this module is enough to handle Ctrl-C while the slower imports still run. Only scripts import it, through
`selfplay.cli.command`.
"""

import _thread
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

from selfplay.process_rank import process_rank, wait_to_be_ended

INTERRUPTED = 130
INTERRUPTED_MESSAGE = "interrupted; run the same command again to resume"

_last_duties: list[Callable[[], None]] = []


def before_exit(duty: Callable[[], None]) -> None:
    """Call `duty` before the program ends, to clean up what must not outlive it; it must not print."""
    _last_duties.append(duty)


def exit_with_line(message: str, code: int) -> None:
    """End the program at once, so that no thread or exit handler prints anything after the line.

    Of several processes started by torchrun, the first prints the line; another one only if it is not ended meanwhile.
    """
    for duty in _last_duties:
        duty()
    if process_rank() > 0:
        wait_to_be_ended()
    write_error_line(message)
    os._exit(code)


def write_error_line(message: str) -> None:
    """Write `error: message` to stderr, after everything that was written to stdout."""
    with suppress(OSError):
        sys.stdout.flush()
    with suppress(OSError):
        sys.stderr.write(f"error: {message}\n")
        sys.stderr.flush()


def _report_interrupt(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        exit_with_line(INTERRUPTED_MESSAGE, INTERRUPTED)
    sys.__excepthook__(kind, error, traceback)


def _interrupt_again(dropped: "sys.UnraisableHookArgs") -> None:
    """Repeat a Ctrl-C that Python dropped, as it does in callbacks of compiled code."""
    if not issubclass(dropped.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(dropped)
        return
    # With a delay, or it would be dropped together with this call.
    again = threading.Timer(0.01, _thread.interrupt_main)
    again.daemon = True
    with suppress(RuntimeError):
        again.start()


sys.excepthook = _report_interrupt
sys.unraisablehook = _interrupt_again
