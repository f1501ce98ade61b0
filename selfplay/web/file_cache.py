"""A cache of the contents of files, which are read again only after they have changed."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from selfplay.errors import InvalidFileError

Read = TypeVar("Read")


class FileCache:
    """The contents of files, because a long run has hundreds. Methods may be called from several threads."""

    def __init__(self) -> None:
        self._kept: dict[Path, tuple[tuple[int, int, int], Any]] = {}

    def of(self, read: Callable[[Path], Read], path: Path, notes: list[str]) -> Read | None:
        """The result of `read` for a file, from the cache if the file has not changed.

        None if the file does not exist or is broken; the latter is added to `notes`. A file must always be read by the
        same function.
        """
        try:
            stat = path.stat()
            mark = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
            kept_mark, kept = self._kept.get(path, (None, None))
            if kept_mark != mark:
                kept = read(path)
                self._kept[path] = (mark, kept)
            found: Read | None = kept
            return found
        except FileNotFoundError:
            return None
        except InvalidFileError as error:
            notes.append(f"{error}.")
        except (OSError, ValueError, KeyError, TypeError, csv.Error):
            notes.append(f"{path.name} cannot be read; delete it and run the stage that writes it again.")
        return None
