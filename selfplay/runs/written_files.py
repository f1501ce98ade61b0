"""Write files atomically, and compute their digests."""

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from selfplay.errors import StageError
from selfplay.input_files import open_regular_file, read_once

_unfinished: set[Path] = set()
"""The temporary files of this process that are being written."""


def delete_unfinished() -> None:
    """Delete the temporary files that are being written, for a program that ends inside blocks of `written_whole`."""
    for path in list(_unfinished):
        with suppress(OSError):
            path.unlink(missing_ok=True)


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` to write to: renamed to `path` when the block ends, deleted when it fails.

    Raises StageError if the file cannot be written, or `path` is something else than a regular file.
    """
    if _is_special(path):
        raise _not_a_file(path)
    beside = path.with_name(f".{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # What a killed process left is not written to: it could be a link to another file.
        beside.unlink(missing_ok=True)
        _unfinished.add(beside)
        yield beside
        with beside.open("rb") as file:
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException as error:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        if isinstance(error, OSError):
            reason = error.strerror or " ".join(str(error).split())
            raise StageError(f"cannot write {path}: {reason}") from error
        raise
    finally:
        _unfinished.discard(beside)


def opened_to_append(path: Path) -> BinaryIO:
    """Open a file for appending, and make it if it does not exist. Raises OSError.

    Raises StageError for a link, which could lead to a file outside the run, and for a pipe or device, where opening
    could wait forever.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        file = os.fdopen(os.open(path, flags, 0o666), "ab")
    except OSError:
        if _is_special(path):
            raise _not_a_file(path) from None
        raise
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise _not_a_file(path)
    return file


def _is_special(path: Path) -> bool:
    """Whether there is a link, a pipe or a device."""
    return path.is_symlink() or (path.exists() and not path.is_file() and not path.is_dir())


def _not_a_file(path: Path) -> StageError:
    return StageError(f"cannot write {path}: it is a link or not a regular file; delete it")


def remove_folder(folder: Path) -> None:
    """Delete a folder with its files, or a file or link in its place, if there is one. Raises OSError."""
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder)
    else:
        folder.unlink(missing_ok=True)


def sha256(path: Path) -> str:
    """The SHA-256 of a file in hexadecimal digits; for a folder, that of the names and digests of its files.

    Raises OSError, and InvalidFileError for anything but a regular file or a folder of regular files.
    """
    if path.is_dir():
        lines = [f"{_sha256_of_file(file)}  {file.name}\n" for file in sorted(path.iterdir())]
        return hashlib.sha256("".join(lines).encode()).hexdigest()
    return _sha256_of_file(path)


@read_once(4096)
def _sha256_of_file(path: Path) -> str:
    """The digest of a file, kept while it does not change, because a stage's output is the next one's input."""
    with open_regular_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
