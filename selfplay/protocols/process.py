"""An engine in another process: starting it, sending commands with a time limit, and ending it reliably."""

import atexit
import os
import selectors
import shlex
import shutil
import signal
import subprocess
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from time import monotonic
from typing import IO, cast

from selfplay.cleanup import before_exit
from selfplay.errors import EngineError, SettingError, one_line
from selfplay.protocols.commands import SIZE_LIMIT
from selfplay.search.deadline import POLL_SECONDS, current_deadline

CHUNK = 65536
"""Bytes read at once."""

STDERR_SHOWN = 200
"""Number of characters of an engine's stderr that are shown after a failure."""


FOLDERS = ("/usr/games", "/usr/local/games")
"""Folders searched in addition to PATH: Debian installs games there, and not every PATH contains them."""

PATIENCE_AT_END = 1.0
"""Seconds to wait for an engine to quit, and again after each signal."""

_running: "weakref.WeakSet[EngineProcess]" = weakref.WeakSet()


def command_words(command: str, name: str) -> list[str]:
    """The words of a command, with the path of the program.

    Raises SettingError, for the player with this name, if there is no such program.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise SettingError(f"{name}: {error}") from error
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *FOLDERS])
    program = shutil.which(words[0], path=path) if words else None
    if program is None:
        raise SettingError(
            f"{name}: no program {words[0] if words else ''!r} on PATH or in {FOLDERS[0]}; install it or write its path"
        )
    return [program, *words[1:]]


class EngineProcess:
    """A running engine. Raises EngineError if it cannot be started.

    Args:
        words: the program with its path, and its arguments.
        farewell: the command that asks it to quit.
    """

    def __init__(self, words: list[str], farewell: str = "quit") -> None:
        try:
            # In its own session: Ctrl-C is handled here, and processes started by the engine can be ended with it.
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            raise EngineError(f"it cannot be started: {error.strerror}") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._stdin, self._stdout, self._stderr = self._process.stdin, self._process.stdout, self._process.stderr
        os.set_blocking(self._stderr.fileno(), False)
        self._unread: deque[bytes] = deque()
        """Whole lines that were read and not returned yet."""
        self._begun = bytearray()
        """The beginning of the next line."""
        self._errors = b""
        """The end of stderr."""
        self._owner, self._farewell = os.getpid(), farewell
        _running.add(self)
        # Once, with the first engine.
        atexit.unregister(end_all)
        atexit.register(end_all)

    def send(self, command: str) -> None:
        """Send a command. Raises EngineError if the engine has ended."""
        try:
            self._stdin.write(f"{command}\n".encode())
        except OSError as error:
            raise EngineError(self._end_message()) from error

    def lines(self, command: str, time_limit: float) -> Iterator[str]:
        """Send a command and give the lines that the engine writes, until the caller has enough of them.

        Raises EngineError if the engine has ended, takes longer than `time_limit` seconds or writes more than 1 MB, and
        StoppedError if the deadline of the context (`selfplay.search.deadline`) is cancelled. The engine must then be
        ended.
        """
        deadline = monotonic() + time_limit
        self.send(command)
        yield from self._lines(deadline)
        if monotonic() < deadline:
            raise EngineError(self._end_message())
        first = command.partition("\n")[0]
        raise EngineError(f"it did not answer {first!r} within {time_limit:g} seconds")

    def end(self) -> None:
        """Ask the engine to quit; if it does not, end it and its child processes. May be called repeatedly."""
        _running.discard(self)
        if self._owner != os.getpid() or self._stdin.closed:
            return
        with suppress(OSError):
            self._stdin.write(f"{self._farewell}\n".encode())
        with suppress(OSError):
            self._stdin.close()
        # Read, so that the engine never waits for its messages to be read.
        self._stderr.close()
        for number in (None, signal.SIGTERM, signal.SIGKILL):
            if number is not None:
                with suppress(OSError):
                    os.killpg(self._process.pid, number)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(PATIENCE_AT_END)
                break
        # Child processes of the engine may outlive it.
        with suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._stdout.close()

    def _lines(self, deadline: float) -> Iterator[str]:
        """The lines on stdout until the deadline or the end of the output.

        The time to read is proportional to the number of bytes, however they arrive. Raises EngineError after more than
        1 MB on stdout or on stderr.
        """
        room, waiting = {self._stdout: SIZE_LIMIT, self._stderr: SIZE_LIMIT}, current_deadline()
        with selectors.DefaultSelector() as selector:
            for stream in room:
                selector.register(stream, selectors.EVENT_READ)
            while True:
                while self._unread:
                    yield self._unread.popleft().decode(errors="replace").rstrip("\r")
                remaining = deadline - monotonic()
                is_open = self._stdout in selector.get_map()
                if not is_open or remaining <= 0:
                    return
                ready = selector.select(min(remaining, POLL_SECONDS))
                waiting.check()
                for stream in (cast(IO[bytes], key.fileobj) for key, _ in ready):
                    chunk = os.read(stream.fileno(), CHUNK)
                    room[stream] -= len(chunk)
                    if room[stream] < 0:
                        name = "stdout" if stream is self._stdout else "stderr"
                        raise EngineError(f"it wrote more than 1 MB to {name}")
                    if not chunk:
                        selector.unregister(stream)
                    elif stream is self._stderr:
                        self._errors = (self._errors + chunk)[-CHUNK:]
                    else:
                        first, *others = chunk.split(b"\n")
                        self._begun += first
                        for line in others:
                            self._unread.append(bytes(self._begun))
                            self._begun = bytearray(line)

    def _end_message(self) -> str:
        """How the engine ended, with the end of its stderr."""
        code: int | None = None
        with suppress(subprocess.TimeoutExpired):
            code = self._process.wait(PATIENCE_AT_END)
        with suppress(BlockingIOError):
            for _ in range(SIZE_LIMIT // CHUNK):
                self._errors = (self._errors + os.read(self._stderr.fileno(), CHUNK))[-CHUNK:]
        words = one_line(self._errors.decode(errors="replace"))[-STDERR_SHOWN:]
        ending = "it closed its output" if code is None else f"it ended with exit code {code}"
        return f"{ending}: {words}" if words else ending


def end_all() -> None:
    """End all running engines of this process."""
    for engine in list(_running):
        engine.end()


before_exit(end_all)
