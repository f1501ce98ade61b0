"""Read files that may be damaged (JSON and YAML with checked types), write files whole, digest them.

    @with_config(CHECKED)
    class Metadata(TypedDict):
        level: Annotated[int, Field(ge=0)]

    METADATA = FileFormat("a checkpoint of this program", Metadata)
    level = METADATA.read_json(path)["level"]

All errors of reading are InvalidFileErrors.
"""

import hashlib
import io
import json
import os
import shutil
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

import yaml
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pydantic import ConfigDict, TypeAdapter, ValidationError

from selfplay.cleanup import before_exit
from selfplay.errors import InvalidFileError, SettingError, StageError, shortened, system_reason

Function = TypeVar("Function", bound=Callable[..., Any])
Content = TypeVar("Content")

NOT_REGULAR = "is not a regular file"


def is_special(path: Path) -> bool:
    """Whether there is a device, a pipe or a socket. Opening it could wait forever, and a rename would replace it."""
    return path.exists() and not (path.is_file() or path.is_dir())


def user_path(path: str | os.PathLike[str]) -> Path:
    """A path as a user gives it, where it enters the library: `~` at its start is the home folder; `./~` is not.

    Libraries that read files treat `~` differently, so they never get a relative path that begins with it. Raises
    SettingError if it begins with `~` and there is no such home folder.
    """
    # Not Path.expanduser, for which ./~ is ~.
    expanded = os.path.expanduser(path)  # noqa: PTH111
    if (text := os.fspath(expanded)).startswith("~"):
        home = text.partition("/")[0]
        raise SettingError(f"{shortened(text)}: there is no home folder {home}; ./{home} is a folder of that name here")
    relative = Path(expanded)
    return relative.absolute() if str(relative).startswith("~") else relative


def resolved(path: Path) -> Path:
    """An absolute path without symbolic links, except those that lead in a circle, for which Path.resolve raises
    RuntimeError."""
    return Path(os.path.realpath(path))


def open_file(path: Path) -> "io.BufferedReader[Any]":
    """Open a file for reading. Raises InvalidFileError if there is none, or it cannot be read."""
    try:
        if is_special(path):
            raise InvalidFileError(path, NOT_REGULAR)
        return path.open("rb")
    except FileNotFoundError as error:
        reason = "is a link to a file that does not exist" if path.is_symlink() else "does not exist"
        raise InvalidFileError(path, reason) from error
    except OSError as error:
        raise InvalidFileError(path, f"cannot be read: {system_reason(error)}") from error


def read_bytes(path: Path) -> bytes:
    """The content of a file. Raises InvalidFileError."""
    with open_file(path) as file:
        return file.read()


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, without a byte-order mark. Raises InvalidFileError."""
    try:
        return read_bytes(path).decode("utf-8-sig")
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


CHECKED = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
"""For classes of contents, as `@with_config(CHECKED)`: no further entries, and only finite numbers."""


class FileFormat(Generic[Content]):
    """A kind of JSON or YAML files, with the class of its contents.

    Args:
        name: completes the error message "is not ...": "a manifest of this format".
        content: the class; integers, booleans and texts are not converted into each other.
        remedy: what the user can do, as the end of the message.
    """

    def __init__(self, name: str, content: type[Content], remedy: str = "") -> None:
        self.name, self.remedy = name, remedy
        self._content = TypeAdapter(content)

    def read_json(self, path: Path) -> Content:
        """The checked content of the JSON file at `path`. Raises InvalidFileError."""
        # Some editors put a byte-order mark before the text.
        return self.parse_json(path, read_bytes(path).removeprefix(BOM_UTF8))

    def parse_json(self, path: Path, text: str | bytes) -> Content:
        """The checked content of JSON text, which stands in the file at `path`. Raises InvalidFileError.

        Nesting deeper than 200 levels and numbers of more than 4,300 digits are rejected.
        """
        try:
            return self._content.validate_json(text, strict=True)
        except ValidationError as error:
            raise InvalidFileError(path, f"is not {self.name} ({_first_problem(error)}){self.remedy}") from error
        except SettingError as error:
            raise InvalidFileError(path, f"is not {self.name} ({error}){self.remedy}") from error

    def read_yaml(self, path: Path) -> Content:
        """The checked content of the YAML file at `path`; interpolations are texts. Raises InvalidFileError."""
        text = read_text(path)
        try:
            content = json.dumps(OmegaConf.to_container(OmegaConf.load(io.StringIO(text)), resolve=False))
        # The parser also lets errors of int() and datetime pass; without nodes OmegaConf raises OSError. JSON has no
        # binary data, which are a TypeError.
        except (OmegaConfBaseException, yaml.YAMLError, ValueError, TypeError, OSError, RecursionError) as error:
            raise InvalidFileError(path, f"is not valid YAML: {' '.join(str(error).split())}") from error
        return self.parse_json(path, content)


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
    "unexpected_keyword_argument": "is not a known entry",
    "too_short": "is too short",
    "string_pattern_mismatch": "does not have the expected form",
}
"""Replacements for messages of the library that are not clear."""


def _first_problem(error: ValidationError) -> str:
    """The first problem of a content, such as "weights.mobility must be a valid number"."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    message = first["msg"].removeprefix("Value error, ").replace("Input should", "must")
    if first["type"] == "json_invalid":
        return message
    place = shortened(".".join(map(str, first["loc"])).removesuffix(".[key]")) or "it"
    return f"{place} {MESSAGES.get(first['type'], message)}"


def check_writable(path: Path) -> None:
    """Raise StageError if there is a device, a pipe or a socket, which is neither replaced nor appended to."""
    # As root, a rename would replace even /dev/null.
    if is_special(path):
        raise StageError(f"cannot write {path}: it {NOT_REGULAR}")


_unfinished: set[Path] = set()
"""The files that `written_whole` is writing."""


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` to write to: renamed to `path` when the block ends, deleted when it fails.

    Raises StageError if the file cannot be written, or there is a device or a pipe. Other errors of the block pass.
    """
    check_writable(path)
    beside = path.parent / f".{path.name}.partial"
    _unfinished.add(beside)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A file that a killed process left is not written to: it could be a link to another file.
        beside.unlink(missing_ok=True)
        yield beside
        with beside.open("rb") as file:
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException as error:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        if isinstance(error, OSError) and _may_be_of(error, beside):
            raise StageError(f"cannot write {path}: {system_reason(error)}") from error
        raise
    finally:
        _unfinished.discard(beside)


def _may_be_of(error: OSError, beside: Path) -> bool:
    """Whether an error can be from writing this file. It is not if it names another file, or is about a pipe or a
    socket."""
    is_named = error.filename is None or beside.is_relative_to(str(error.filename))
    return is_named and not isinstance(error, ConnectionError)


def _delete_unfinished() -> None:
    """Delete the unfinished files of `written_whole`, because a program that ends at once does not leave its blocks."""
    for beside in list(_unfinished):
        with suppress(OSError):
            beside.unlink()


before_exit(_delete_unfinished)


def remove_folder(folder: Path) -> None:
    """Delete a folder with its files, or a file or link in its place, if there is one. Raises OSError."""
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder)
    else:
        folder.unlink(missing_ok=True)


def sha256(path: Path) -> str:
    """The SHA-256 of a file in hexadecimal digits; for a folder, that of the names and digests of its files.

    Raises OSError, and InvalidFileError for a file that cannot be read.
    """
    if path.is_dir():
        lines = [f"{_sha256_of_file(file)}  {file.name}\n" for file in sorted(path.iterdir()) if not file.is_dir()]
        return hashlib.sha256("".join(lines).encode()).hexdigest()
    return _sha256_of_file(path)


def digests_of(files: Sequence[Path], *, newest: str, others: str) -> dict[str, Any]:
    """The SHA-256 of the last of these files as `newest`, and those of the files before it as `others`, if any."""
    if not files:
        return {}
    *before, last = [sha256(path) for path in files]
    return {newest: last} | ({others: before} if before else {})


@read_once(4096)
def _sha256_of_file(path: Path) -> str:
    """The digest of a file, kept while it does not change, because a stage's output is the next one's input."""
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
