"""What an engine writes, read with a time limit and a size limit."""

import os
import selectors
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from time import monotonic
from typing import IO, cast

from selfplay.errors import EngineError, one_line
from selfplay.gtp.conversation import SIZE_LIMIT

CHUNK = 65536
"""Bytes read at once."""

STDERR_SHOWN = 200
"""Number of characters of an engine's stderr that are shown after a failure."""


class EngineOutput:
    """The answers that an engine writes to stdout, and the end of its messages on stderr.

    The time to read is proportional to the number of bytes, however they arrive.
    """

    def __init__(self, stdout: IO[bytes], stderr: IO[bytes]) -> None:
        self._stdout, self._stderr = stdout, stderr
        os.set_blocking(stderr.fileno(), False)
        self._unread: deque[bytes] = deque()
        """Whole lines that were read and not returned yet."""
        self._begun = bytearray()
        """The beginning of the next line."""
        self._errors = b""
        """The end of stderr."""

    def lines(self, deadline: float) -> Iterator[str]:
        """The lines on stdout until the deadline or the end of the output.

        Raises EngineError after more than 1 MB on stdout or on stderr.
        """
        room = {self._stdout: SIZE_LIMIT, self._stderr: SIZE_LIMIT}
        with selectors.DefaultSelector() as selector:
            for stream in room:
                selector.register(stream, selectors.EVENT_READ)
            while True:
                while self._unread:
                    yield self._unread.popleft().decode(errors="replace").rstrip("\r")
                remaining = deadline - monotonic()
                is_open = self._stdout in selector.get_map()
                if not is_open or remaining <= 0 or not (ready := selector.select(remaining)):
                    return
                for key, _ in ready:
                    if not self._receive(cast(IO[bytes], key.fileobj), room):
                        selector.unregister(key.fileobj)

    def end_of_errors(self) -> str:
        """The last words on stderr so far, on one line."""
        with suppress(BlockingIOError):
            for _ in range(SIZE_LIMIT // CHUNK):
                self._keep(self._stderr, os.read(self._stderr.fileno(), CHUNK))
        return one_line(self._errors.decode(errors="replace"))[-STDERR_SHOWN:]

    def close_errors(self) -> None:
        """Stop reading stderr, so that an engine does not wait for it to be read."""
        self._stderr.close()

    def close(self) -> None:
        """Close both streams."""
        self._stdout.close()
        self._stderr.close()

    def _receive(self, stream: IO[bytes], room: dict[IO[bytes], int]) -> bool:
        """Read once from a stream that has something to read; False at its end."""
        chunk = os.read(stream.fileno(), CHUNK)
        room[stream] -= len(chunk)
        if room[stream] < 0:
            raise EngineError(f"it wrote more than 1 MB to {'stdout' if stream is self._stdout else 'stderr'}")
        self._keep(stream, chunk)
        return bool(chunk)

    def _keep(self, stream: IO[bytes], chunk: bytes) -> None:
        if stream is self._stderr:
            self._errors = (self._errors + chunk)[-CHUNK:]
            return
        first, *others = chunk.split(b"\n")
        self._begun += first
        for line in others:
            self._unread.append(bytes(self._begun))
            self._begun = bytearray(line)
