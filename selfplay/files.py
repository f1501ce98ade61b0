"""Read files that may be damaged or hostile (JSON and YAML with checked types), write files whole, digest them.

    MANIFEST = FileFormat("a manifest of this format", cs.typed_dict_schema(...), limit=MEGABYTE)
    content = MANIFEST.read_json(path)

Every file that the program reads by itself is opened here. A file that a library opens (safetensors, Arrow, pandas) is
checked first with `require_regular_file`. All errors of reading are InvalidFileErrors.

The types of a format are declared as schemas of pydantic-core, which a finished stage imports in about 12 ms; building
models of pydantic itself takes five times as long.
"""

import hashlib
import io
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

import yaml
from pydantic_core import CoreSchema, SchemaValidator, ValidationError, from_json

from selfplay.errors import InvalidFileError, StageError, shortened

Function = TypeVar("Function", bound=Callable[..., Any])

MEGABYTE = 1 << 20
YAML_LIMIT = MEGABYTE // 4
"""Bytes of a YAML file: its parser reads about 100 KB in a second."""
WEIGHTS_LIMIT = 16 << 30
"""Bytes of a .safetensors file."""


def require_regular_file(path: Path, limit: int | None = None) -> None:
    """Raise InvalidFileError unless `path` is a regular file of at most `limit` bytes that can be read."""
    open_regular_file(path, limit).close()


def open_regular_file(path: Path, limit: int | None = None) -> "io.BufferedReader[Any]":
    """Open a regular file of at most `limit` bytes; raises InvalidFileError, also for pipes and devices."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise InvalidFileError(path, "cannot be read: it is not a regular file")
        if limit is not None and status.st_size > limit:
            raise InvalidFileError(path, f"cannot be read: it has {status.st_size:,} bytes, more than {limit:,}")
        return path.open("rb")
    except FileNotFoundError as error:
        raise InvalidFileError(path, "does not exist") from error
    except OSError as error:
        raise InvalidFileError(path, f"cannot be read: {error.strerror or error}") from error


def read_bytes(path: Path, limit: int) -> bytes:
    """The content of a regular file of at most `limit` bytes. Raises InvalidFileError."""
    with open_regular_file(path, limit) as file:
        return file.read(limit)


def read_text(path: Path, limit: int) -> str:
    """The UTF-8 text in a regular file of at most `limit` bytes. Raises InvalidFileError."""
    try:
        return read_bytes(path, limit).decode()
    except UnicodeDecodeError as error:
        raise InvalidFileError(path, "is not a text file") from error


def read_once(size: int) -> Callable[[Function], Function]:
    """Keep the last `size` results of a function of a file and other arguments, each until the file changes.

    The function then raises OSError if there is no such file.
    """

    def decorate(read: Function) -> Function:
        @lru_cache(maxsize=size)
        def of_version(path: Path, _version: tuple[int, ...], *rest: Any) -> Any:
            return read(path, *rest)

        @wraps(read)
        def of_present(path: Path, *rest: Any) -> Any:
            status = path.stat()
            return of_version(path, (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns), *rest)

        return cast(Function, of_present)

    return decorate


class FileFormat:
    """A kind of JSON or YAML files, with the types of its contents.

    Args:
        name: completes the error message "is not ...": "a manifest of this format".
        schema: the types; integers, booleans and texts are not converted into each other.
        remedy: what the user can do, as the end of the message.
        limit: the most bytes of a file.
    """

    def __init__(self, name: str, schema: CoreSchema, remedy: str = "", limit: int = 16 * MEGABYTE) -> None:
        self.name, self.remedy, self.limit = name, remedy, limit
        self._validator = SchemaValidator(schema)

    def read_json(self, path: Path) -> Any:
        """The checked content of the JSON file at `path`. Raises InvalidFileError."""
        return self.parse_json(path, read_bytes(path, self.limit))

    def parse_json(self, path: Path, text: str | bytes) -> Any:
        """The checked content of JSON text, which stands in the file at `path`. Raises InvalidFileError.

        Nesting deeper than 200 levels and numbers of more than 4,300 digits are rejected.
        """
        if len(text) > self.limit:
            raise self._error(path, f"it has more than {self.limit:,} bytes")
        try:
            content = from_json(text, allow_inf_nan=False)
        except ValueError as error:
            raise self._error(path, str(error)) from error
        return self._checked(path, content)

    def read_yaml(self, path: Path) -> Any:
        """The checked content of the YAML file at `path`; interpolations are texts. Raises InvalidFileError."""
        text = read_text(path, min(self.limit, YAML_LIMIT))
        # Imported here, because most programs read no YAML of their own.
        from omegaconf import OmegaConf
        from omegaconf.errors import OmegaConfBaseException

        try:
            content = OmegaConf.to_container(OmegaConf.load(io.StringIO(text)), resolve=False)
        # The parser also lets errors of int() and datetime pass; without nodes OmegaConf raises OSError.
        except (OmegaConfBaseException, yaml.YAMLError, ValueError, OSError, RecursionError) as error:
            raise InvalidFileError(path, f"is not valid YAML: {' '.join(str(error).split())}") from error
        return self._checked(path, content)

    def _checked(self, path: Path, content: object) -> Any:
        try:
            return self._validator.validate_python(content, strict=True)
        except ValidationError as error:
            raise self._error(path, _first_problem(error)) from error

    def _error(self, path: Path, reason: str) -> InvalidFileError:
        return InvalidFileError(path, f"is not {self.name} ({reason}){self.remedy}")


@contextmanager
def errors_of_archive(path: Path, remedy: str = "") -> Iterator[None]:
    """Turn whatever zipfile and numpy raise for a damaged file, about ten types of errors, into an InvalidFileError."""
    try:
        yield
    except InvalidFileError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InvalidFileError(path, f"cannot be read: {reason}{remedy}") from error


MESSAGES = {
    "missing": "is missing",
    "extra_forbidden": "is not a known entry",
    "string_pattern_mismatch": "does not have the expected form",
}
"""Of the library's messages those that would not be clear."""


def _first_problem(error: ValidationError) -> str:
    """The first problem of a content, such as "weights.mobility must be a valid number"."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    message = MESSAGES.get(first["type"])
    place = shortened(".".join(map(str, first["loc"])).removesuffix(".[key]")) or "it"
    return f"{place} {message or first['msg'].replace('Input should', 'must')}"


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
    beside = path.parent / f".{path.name}.partial"
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
    if _is_special(path):
        raise _not_a_file(path)
    return path.open("ab")


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

    Raises OSError, and InvalidFileError for anything but a regular file or a folder of regular files, and for a
    .safetensors file that is larger than any that is read.
    """
    if path.is_dir():
        lines = [f"{_sha256_of_file(file)}  {file.name}\n" for file in sorted(path.iterdir())]
        return hashlib.sha256("".join(lines).encode()).hexdigest()
    return _sha256_of_file(path)


@read_once(4096)
def _sha256_of_file(path: Path) -> str:
    """The digest of a file, kept while it does not change, because a stage's output is the next one's input."""
    with open_regular_file(path, WEIGHTS_LIMIT if path.suffix == ".safetensors" else None) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
