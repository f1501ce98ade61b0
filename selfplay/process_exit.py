"""How a script ends early: one line on stderr and an exit code, Ctrl-C included.

Importing this module is enough for Ctrl-C to end the program with a line while the slower imports still run; scripts
only do so, through `selfplay.cli.command`.
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
INTERRUPTED_MESSAGE = "interrupted; start the same command again to go on"

_last_duties: list[Callable[[], None]] = []


def before_exit(duty: Callable[[], None]) -> None:
    """Have `duty` done before a program ends with a line, for what must not outlive it; it writes nothing."""
    _last_duties.append(duty)


def exit_with_line(message: str, code: int) -> None:
    """End the program at once, so that no thread or exit handler adds to the line.

    Of several processes that torchrun started the first speaks; another one only if that does not end it meanwhile.
    """
    for duty in _last_duties:
        duty()
    if process_rank() > 0:
        wait_to_be_ended()
    write_error_line(message)
    os._exit(code)


def write_error_line(message: str) -> None:
    """Say on stderr what went wrong, after all that was said on stdout before."""
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
    """Let a Ctrl-C come once more that came where Python drops exceptions, such as in a callback of compiled code."""
    if not issubclass(dropped.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(dropped)
        return
    # Not at once, or it would be dropped with this call.
    again = threading.Timer(0.01, _thread.interrupt_main)
    again.daemon = True
    with suppress(RuntimeError):
        again.start()


sys.excepthook = _report_interrupt
sys.unraisablehook = _interrupt_again
