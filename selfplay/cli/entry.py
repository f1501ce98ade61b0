"""A program as a process: it runs with the arguments of the command line, and ends with an exit code.

Errors that the user can fix, Ctrl-C and SIGTERM end it with one line on stderr. Only programs call `handle_signals`, at
the start of `project_environment`, before the slower imports. So a process that imports the library ends as it would
without the library.

Of several processes that torchrun started, the first reports errors.
"""

import _thread
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EDQUOT, EFBIG, EIO, ENOSPC
from importlib import import_module
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from selfplay.cleanup import clean_up
from selfplay.cli import programs
from selfplay.compute.process import process_count, process_rank, tune_process, wait_to_be_ended
from selfplay.errors import SelfPlayError, line_of, one_line, system_reason

if TYPE_CHECKING:
    from selfplay.cli.command import Program

INTERRUPTED = 130
INTERRUPTED_MESSAGE = "interrupted"
TERMINATED = 143
READER_HAS_LEFT = 141
"""The code with which SIGPIPE would end the program."""
TERMINATED_MESSAGE = "terminated by SIGTERM"
RESUMED = "; run the same command again to resume"
"""What both messages end with, unless `resumes_nothing` was called."""

IMPORTING = "<frozen importlib._bootstrap>"
"""The file name of Python's frames while a module is loaded."""

_is_terminated = threading.Event()
_resumes_nothing = threading.Event()


def resumes_nothing() -> None:
    """Leave out of the line after a signal that the same command would resume."""
    _resumes_nothing.set()


def run(name: str) -> None:
    """Run a program with the arguments in sys.argv; errors that the user can fix become one line and an exit code."""
    if name not in programs.RESUMED:
        resumes_nothing()
    with reporting_errors():
        program = program_named(name)
        # Imported here, so that the list of programs is shown quickly.
        from selfplay.cli import command

        command.check_signs(sys.argv[1:])
        overrides, flags = command.overrides_first(sys.argv[1:], program.kind)
        if flags and command.SWEEP_FLAGS.issuperset(flags):
            from selfplay.cli.sweep import run_sweep

            run_sweep(program, overrides, write_error_line)
        elif flags:
            from selfplay.cli.help_text import print_instead

            print_instead(program, overrides, flags)
        else:
            settings, taken = command.settings_of(program, overrides)
            with command.logging_to_screen(program.log_to or sys.stdout):
                command.run_program(program, settings, taken)
            if program.ends_at_once:
                sys.stdout.flush()
                exit_at_once(0)


def program_named(name: str) -> "Program[Any]":
    """The program that `selfplay NAME` runs; imports its module."""
    module = import_module(f"selfplay.cli.programs.{programs.MODULES[name]}")
    program: Program[Any] = getattr(module, f"{name.replace('-', '_')}_program")
    return program


@contextmanager
def reporting_errors() -> Iterator[None]:
    """An error in the block that the user can fix becomes one line and an exit code.

    Ctrl-C ends the program with code 130, SIGTERM with code 143, and a closed output with code 141.
    """
    handle_signals()
    tune_process()
    open_standard_streams()
    # Figures are only written to files.
    os.environ["MPLBACKEND"] = "agg"
    try:
        yield
        sys.stdout.flush()
        ignore_signals()
    except KeyboardInterrupt:
        exit_interrupted()
    except BrokenPipeError:
        # The reader of the output, such as `head`, has ended.
        exit_at_once(READER_HAS_LEFT)
    except Exception as error:
        if (line := _line_of_stdout(error) or line_of(error)) is None:
            raise
        exit_at_once(getattr(error, "exit_code", SelfPlayError.exit_code), line)


def _line_of_stdout(error: Exception) -> str | None:
    """The line that reports an error of writing to stdout, such as a full device behind it; None for other errors."""
    if isinstance(error, OSError) and error.filename is None and error.errno in (ENOSPC, EDQUOT, EFBIG, EIO):
        try:
            # Python does not say which file it could not write to.
            os.write(1, b"\n")
        except OSError as again:
            return f"cannot write to stdout: {system_reason(again)}"
    return None


def exit_at_once(code: int, message: str | None = None) -> None:
    """End the program with a line on stderr, if there is a message, so that no thread or exit handler prints after it.

    Before that, `selfplay.cleanup.clean_up` is called.

    Of several processes started by torchrun, rank 0 prints its line at once. The others wait first, and print theirs
    only if torchrun has not ended them by then.
    """
    clean_up()
    if message is not None:
        if process_rank() > 0:
            wait_to_be_ended()
        write_error_line(message)
    os._exit(code)


def exit_interrupted() -> None:
    advice = "" if _resumes_nothing.is_set() else RESUMED
    if _is_terminated.is_set():
        exit_at_once(TERMINATED, TERMINATED_MESSAGE + advice)
    exit_at_once(INTERRUPTED, INTERRUPTED_MESSAGE + advice)


def handle_signals() -> None:
    """Make Ctrl-C end this program with one line at any moment, and SIGTERM with another line.

    Both raise KeyboardInterrupt in the main thread, so that partial files are deleted.

    While a module is imported, both end the program at once, because libraries drop a KeyboardInterrupt during imports,
    or turn it into another error. If a library drops it elsewhere, the program continues until the next signal.

    Processes that torchrun started still end at once: it terminates all of them when one fails.
    """
    sys.excepthook, sys.unraisablehook = _report_interrupt, _interrupt_again
    if process_count() > 1 or threading.current_thread() is not threading.main_thread():
        return
    # Shells let programs in the background ignore Ctrl-C.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _interrupt)


def ignore_signals() -> None:
    """Let a program that has finished end as it would without a signal, which Python's end answers without a line.

    Only where `handle_signals` has set handlers.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is _interrupt:
            signal.signal(number, signal.SIG_IGN)


def _interrupt(number: int, frame: FrameType | None) -> None:
    if number == signal.SIGTERM:
        _is_terminated.set()
    while frame is not None and frame.f_code.co_filename != IMPORTING:
        frame = frame.f_back
    if frame is not None:
        exit_interrupted()
    raise KeyboardInterrupt


def open_standard_streams() -> None:
    """Open /dev/null in place of each standard stream that the parent process has closed, as `>&-` does in a shell.

    Python has None for such a stream, and the next file that is opened would take its descriptor: what a library prints
    would be written into it.
    """
    for descriptor, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest free descriptor is this one.
            os.open(os.devnull, os.O_RDWR)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(descriptor, mode, closefd=False))


def write_error_line(message: str) -> None:
    """Write `error: message` to stderr, after everything that was written to stdout."""
    with suppress(OSError):
        sys.stdout.flush()
    with suppress(OSError):
        sys.stderr.write(f"error: {one_line(message)}\n")
        sys.stderr.flush()


def _report_interrupt(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    cause: BaseException | None = error
    while cause is not None:
        # An interrupt while Python holds an internal lock can become an error of that lock.
        if isinstance(cause, KeyboardInterrupt):
            exit_interrupted()
        cause = cause.__context__
    sys.__excepthook__(kind, error, traceback)


def _interrupt_again(dropped: "sys.UnraisableHookArgs") -> None:
    """Raise again a KeyboardInterrupt that Python dropped, as it does in callbacks of compiled code."""
    if not issubclass(dropped.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(dropped)
        return
    # Delayed, because an interrupt raised during this call would be dropped too.
    again = threading.Timer(0.01, _thread.interrupt_main)
    again.daemon = True
    with suppress(RuntimeError):
        again.start()
