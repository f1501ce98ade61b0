"""Logging of the library's messages to the screen and to run.log while a script runs."""

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

from selfplay.runs.written_files import opened_to_append


@contextmanager
def logging_to_screen(stream: TextIO) -> Iterator[None]:
    """Write the messages of the library to `stream`."""
    # A log that cannot be written, on a full disk or into a closed pipe, should not print a traceback.
    logging.raiseExceptions = False
    logging.getLogger("selfplay").setLevel(logging.INFO)
    with _handled_by(logging.StreamHandler(stream), "%(message)s"):
        yield


@contextmanager
def logging_to_file(path: Path) -> Iterator[None]:
    """Append the messages of the library to the file at `path`, with their times."""
    with _handled_by(_LogFile(path, delay=True), "%(asctime)s %(message)s"):
        yield


class _LogFile(logging.FileHandler):
    """A log file that is opened as `opened_to_append` does, with the first message."""

    def _open(self) -> TextIOWrapper:
        return TextIOWrapper(opened_to_append(Path(self.baseFilename)), encoding="utf-8")


@contextmanager
def _handled_by(handler: logging.Handler, form: str) -> Iterator[None]:
    handler.setFormatter(logging.Formatter(form))
    logger = logging.getLogger("selfplay")
    with ExitStack() as stack:
        stack.callback(handler.close)
        stack.callback(logger.removeHandler, handler)
        logger.addHandler(handler)
        yield
