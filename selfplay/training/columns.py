"""Columns of many rows, in memory, or in temporary files that are mapped into it."""

from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from selfplay.errors import StageError

LARGE = 1 << 28
"""The size in bytes from which a column is kept in a file."""


class Column:
    """Rows that are added in parts. If they are many, a temporary file has them, which needs no memory.

    Args:
        folder: where the file is; None: the folder of the system for such files.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._parts: list[NDArray[Any]] = []
        self._num_rows = self._waiting = 0
        self._file: IO[bytes] | None = None

    def add(self, part: NDArray[Any]) -> None:
        """Add N rows: an array whose first dimension is N. Raises StageError if they cannot be written."""
        self._parts.append(part)
        self._num_rows += len(part)
        self._waiting += part.nbytes
        if self._waiting >= LARGE:
            self._write()

    def whole(self) -> NDArray[Any]:
        """All rows, in the order in which they were added. At least one part must have been added."""
        if self._file is None:
            return self._parts[0] if len(self._parts) == 1 else np.concatenate(self._parts)
        self._write()
        first = self._parts[0]
        return np.memmap(self._file, dtype=first.dtype, mode="r+", shape=(self._num_rows, *first.shape[1:]))

    def _write(self) -> None:
        try:
            if self._file is None:
                self._file = TemporaryFile(dir=self._folder)  # noqa: SIM115 (it is open as long as its rows are used)
            for part in self._parts:
                self._file.write(np.ascontiguousarray(part).data)
            self._file.flush()
        except OSError as error:
            where = self._folder or "the folder for temporary files"
            raise StageError(f"cannot write a temporary file in {where}: {error.strerror or error}") from error
        self._parts, self._waiting = [self._parts[0][:0]], 0
