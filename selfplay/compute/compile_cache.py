"""Compiled code on disk, in files that only this user can write and that are checked before they are loaded.

numba's own cache unpickles its files and runs the machine code in them unchecked: a truncated file raises EOFError
until the folder is deleted, and a changed bit crashes the process. Here each file begins with the SHA-256 of the rest,
and a file that does not match is compiled again and replaced.

The files are pickles, because numba can store compiled functions in no other form. Loading a pickle runs code, and so
does the machine code in it. The SHA-256 finds damage; it does not stop somebody who can write to the folder. The
permissions of the folder do: only the user and root can write there, and they could change the sources of this program
as well. So a folder that anybody else owns or has access to is not used, and no file of a run is loaded in this way.
"""

import hashlib
import logging
import os
import pickle
import stat
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import FunctionType
from typing import Any, cast

import numba
from numba import types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, InTreeCacheLocator
from numba.core.compiler_lock import global_compiler_lock
from numba.core.serialize import dumps

from selfplay.code_identity import Identity, identity_of
from selfplay.code_identity.descriptions import Extent
from selfplay.compute.bit_algebra import COMPILED
from selfplay.compute.compile_lock import in_one_process
from selfplay.compute.compiled_word_type import REPLACED
from selfplay.compute.versions import compiler_digest
from selfplay.errors import InvalidFileError
from selfplay.files import read_bytes

log = logging.getLogger(__name__)

COMPILER_SETTINGS = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK", "DEBUGINFO_DEFAULT")
"""The settings of numba, such as NUMBA_OPT in the environment, that change the machine code of a function."""

DIGEST_SIZE = 32
DAYS_KEPT = 30
"""Files that have not been used for so many days are removed."""


@cache
def cache_folder() -> Path | None:
    """The folder for compiled code, in $XDG_CACHE_HOME or ~/.cache; None if it is not safe to use.

    Its name contains a hash of what all compiled functions depend on; `CheckedCache` knows what one depends on.
    """
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "selfplay"
        base.parent.mkdir(parents=True, exist_ok=True)
        _make_private(base, forbidden=0o022)
        folder = base / f"numba-{compiler_digest()[:16]}"
        _make_private(folder, forbidden=0o077)
    except (OSError, RuntimeError) as error:
        _without_cache(str(error))
        return None
    return folder


def _make_private(folder: Path, *, forbidden: int) -> None:
    """Make `folder` if it does not exist. Raises PermissionError if another user owns it or has `forbidden` rights."""
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.stat()
    if status.st_uid != os.geteuid():
        raise PermissionError(f"{folder} belongs to another user; set XDG_CACHE_HOME to a folder of your own")
    if stat.S_IMODE(status.st_mode) & forbidden:
        raise PermissionError(f"other users have access to {folder}; delete it, or run chmod -R go= {folder}")


@cache
def _without_cache(reason: str) -> None:
    """Log, once for each reason, that code is compiled but not cached."""
    log.info("compiled code is not cached, so programs start more slowly: %s", reason)


@cache
def remove_unused(base: Path) -> None:
    """Remove the files of compiled code that have not been used for long, once in a process."""
    oldest = time.time() - DAYS_KEPT * 24 * 3600
    for path in base.glob("numba-*/*"):
        with suppress(OSError):
            if path.stat().st_mtime < oldest:
                path.unlink()
    for folder in base.glob("numba-*"):
        with suppress(OSError):  # it is not empty
            folder.rmdir()


class CodeFiles:
    """The compiled versions of one function, a file for each key, instead of numba's index and data files.

    Args:
        folder: where the files are.
        name: begins the names of the files.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name

    def load(self, key: Any) -> Any:
        """The data saved for this key; None if there are none, or they are damaged."""
        path = self._path(key)
        try:
            content = read_bytes(path)
        except InvalidFileError:
            return None
        pickled = memoryview(content)[DIGEST_SIZE:]
        if _digest(path.name, pickled) == content[:DIGEST_SIZE]:
            # The contents are our own, but may refer to a class that has been moved since.
            with suppress(pickle.PickleError, AttributeError, ImportError, ValueError, TypeError):
                saved_key, data = pickle.loads(pickled)
                if saved_key == key:
                    os.utime(path)
                    return data
        return None

    def has(self, key: Any) -> bool:
        """Whether there is a file for this key."""
        return self._path(key).exists()

    def save(self, key: Any, data: Any) -> None:
        """Save `data` for this key. Raises OSError."""
        remove_unused(self._folder.parent)
        path = self._path(key)
        pickled = dumps((key, data))
        with NamedTemporaryFile(dir=self._folder, prefix=".", suffix=".partial", delete=False) as file:
            try:
                file.write(_digest(path.name, memoryview(pickled)) + pickled)
                file.close()
                Path(file.name).replace(path)
            except BaseException:
                with suppress(OSError):
                    Path(file.name).unlink()
                raise

    def _path(self, key: Any) -> Path:
        digest = hashlib.sha256(repr(key).encode()).hexdigest()
        return self._folder / f"{self._name}-{digest[:16]}.code"


def _digest(name: str, pickled: memoryview) -> bytes:
    """The SHA-256 of a file's name and contents, so that a file with the contents of another file is noticed too."""
    digest = hashlib.sha256(name.encode() + b"\0")
    digest.update(pickled)
    return digest.digest()


class _Locator(InTreeCacheLocator):
    """Tells numba's cache that the files are in `cache_folder`."""

    def get_cache_path(self) -> str:
        return str(cache_folder())

    def get_source_stamp(self) -> None:
        """None: the key has everything that the machine code depends on."""

    def ensure_cache_path(self) -> None:
        """Do nothing: `cache_folder` has made the folder."""


class _Impl(CompileResultCacheImpl):
    def __init__(self, function: Any) -> None:
        self._locator_classes = [_Locator]
        super().__init__(function)


class CheckedCache(FunctionCache):
    """numba's cache of one function, with `CodeFiles` as its files; a file that cannot be written is left out."""

    _impl_class = _Impl

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file = cast(Any, CodeFiles(Path(self._cache_path), function.__name__))

    def _index_key(self, sig: Any, codegen: Any) -> tuple[object, ...]:
        """Everything that the machine code depends on, apart from the folder."""
        settings = tuple(getattr(numba.config, name) for name in COMPILER_SETTINGS)
        return sig, tuple(_named_tuples(sig)), codegen.magic_tuple(), settings, compiled_identity(self._py_func).digest

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        if unknown := compiled_identity(self._py_func).unknown:
            name = self._py_func.__name__
            log.debug("%s is compiled in each process, because it depends on %s", name, ", ".join(unknown))
            self.disable()
        found = super().load_overload(sig, target_context)
        if found is None:
            _name_by_identity(self._py_func)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        # Between versions of a recursive function, numba calls by an address that it does not save.
        if ".numba.unresolved" in data.library.get_llvm_str():
            return
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _without_cache(f"{self._cache_path}: {error.strerror or error}")
            self.disable()

    def has(self, sig: Any, codegen: Any) -> bool:
        """Whether the machine code for these types is on disk."""
        found: bool = cast(Any, self._cache_file).has(self._index_key(sig, codegen))
        return found

    def compiling(self) -> AbstractContextManager[None]:
        """A block in which this process may compile the function, see `compile_lock.in_one_process`."""
        name = f"{self._py_func.__name__}-{compiled_identity(self._py_func).digest[:16]}.lock"
        return in_one_process(Path(self._cache_path, name))


def _named_tuples(kind: Any) -> Iterator[tuple[str, ...]]:
    """The fields of the named tuples in a type, or in a tuple of types; their names are not in its text."""
    if isinstance(kind, (tuple, types.BaseTuple)):
        yield getattr(kind, "fields", ())
        for member in cast(Any, kind):
            yield from _named_tuples(member)


def compiled_identity(value: object) -> Identity:
    """What the machine code of a function, or of those in another value, depends on.

    Code that something else than these modules defines for the compiler (`numba.extending.overload`) is unknown.
    """
    found = identity_of(value, _extent_in_machine_code)
    functions = [one for one in found.plain if isinstance(one, FunctionType) and one is not value]
    foreign = [one.__name__ for one in functions if not (one in COMPILED or one in REPLACED or _extends(one))]
    return found._replace(unknown=(*found.unknown, *foreign))


def _extends(function: FunctionType) -> bool:
    """Whether a function may be a part of what extends the compiler, on which the name of the folder depends."""
    return function.__module__.rpartition(".")[0] == __package__


def _extent_in_machine_code(thing: Any) -> Extent:
    """Compiled code can use only the values of a class. Of a function that is replaced there, its name says by what."""
    if isinstance(thing, type):
        return "values"
    return "name" if thing in REPLACED else "all"


def _name_by_identity(function: Any) -> None:
    """Add a hash to the names of a function and of all functions that it calls, before it is compiled.

    numba names machine code after the function and its number among those compiled in the process. If two functions
    agreed in both but were compiled and cached by two processes, a third process could run one instead of the other.
    """
    for one in compiled_identity(function).described:
        if isinstance(one, FunctionType) and one not in _own_names:
            _own_names[one] = one.__qualname__
            one.__qualname__ = f"{one.__code__.co_qualname}_{compiled_identity(one).digest[:16]}"


_own_names = dict[FunctionType, str]()
"""The names of the functions that have others while they are compiled. The compiler's lock protects it."""


@contextmanager
def _names_restored() -> Iterator[None]:
    """Functions that are named by their identity in this block have their own names after it, by which they are
    pickled."""
    before = set(_own_names)
    try:
        yield
    finally:
        for one in set(_own_names) - before:
            one.__qualname__ = _own_names.pop(one)


def keep_on_disk(dispatcher: Any) -> None:
    """Let one of numba's dispatchers keep its machine code in `CodeFiles`. If several processes need it at once, one
    compiles it and the others load it."""
    cache = dispatcher._cache = CheckedCache(dispatcher.py_func)
    compile_signature = dispatcher.compile

    def compile_once(signature: Any) -> Any:
        # The compiler's lock is taken first: another thread may hold it and need the file.
        with global_compiler_lock, cache.compiling(), _names_restored():
            return compile_signature(signature)

    dispatcher.compile = compile_once


def is_kept(dispatcher: Any, signature: Any) -> bool:
    """Whether the machine code of one of numba's dispatchers for these types is on disk."""
    kept = dispatcher._cache
    return isinstance(kept, CheckedCache) and kept.has(signature, dispatcher.targetctx.codegen())
