"""Registries of objects by name: what a setting such as `game.name` or `targets` chooses from.

An object is named in one of three ways:

- by its name in this package, defined by one line in a registry;
- by the name of an entry point, in the registry's group, of another installed package;
- as `module:attribute`, without packaging anything; the module may be a file in the current folder.

A file can also name an object, such as the game of an agent. It must not import code that the user has not asked for,
so `check_recorded` accepts `module:attribute` from a file only if the user has named the module in this process: in a
setting (see `name_modules`), or by looking up one of its objects here.
"""

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache, wraps
from importlib import import_module
from importlib.metadata import EntryPoints, entry_points
from importlib.util import find_spec
from inspect import isbuiltin, isclass, signature
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from selfplay.code_identity import outside_identity
from selfplay.code_identity.packages import describe_in_full
from selfplay.error_places import is_outside
from selfplay.errors import SettingError, shortened
from selfplay.names_of_games import parts_of_game_name
from selfplay.outside_errors import described_module, errors_of_outside, hidden_file

Thing = TypeVar("Thing")

_named_modules: set[str] = set()
"""The modules outside this package that the user has named in this process."""


def name_modules(modules: Iterable[str]) -> None:
    """Let the files of runs name objects in these modules, whose code is then imported and executed.

    Looking up an object by name, as in `make_game("my_module:MyGame")`, names its module too.
    """
    _named_modules.update([modules] if isinstance(modules, str) else modules)


def named_modules() -> tuple[str, ...]:
    """The modules that the user has named, for passing them on to worker processes."""
    return tuple(sorted(_named_modules))


_outside_parts = dict[str, Any]()
"""The objects from outside this package that have been looked up, by the names that they were looked up by."""


_by_import_path = dict[str, Any]()
"""The same objects, by `module:attribute`."""


def _note_outside(name: str, import_path: str, found: Any) -> None:
    describe_in_full(import_path.partition(":")[0])
    # Described now, its values are those that the module begins with.
    outside_identity(found)
    _outside_parts[name] = _by_import_path[import_path] = found


def _is_replaced(import_path: str) -> bool:
    """Whether the module of an object from outside has been imported anew since it was looked up, as by
    `importlib.reload` in a notebook, and has another object now."""
    module, _, attribute = import_path.partition(":")
    known = _by_import_path.get(import_path)
    present = vars(sys.modules[module]).get(attribute, known) if module in sys.modules else known
    return known is not None and present is not known


def outside_part(import_path: str) -> Any:
    """The object from outside at `module:attribute`. Raises what importing its module raises."""
    if import_path not in _outside_parts or _is_replaced(import_path):
        module, _, attribute = import_path.partition(":")
        with current_folder_searched():
            _note_outside(import_path, import_path, getattr(import_module(module), attribute))
    return _outside_parts[import_path]


def all_outside_parts() -> dict[str, Any]:
    """The objects from outside that have been looked up, by `module:attribute`."""
    return dict(_by_import_path)


def outside_parts(texts: Iterable[str]) -> dict[str, Any]:
    """The objects from outside this package that texts name, such as recorded settings, by their names.

    Only those in modules that the user has named (see `name_modules`) are found.
    """
    found = dict[str, Any]()
    for text in texts:
        for module, attribute in PART_OF_MODULE.findall(text):
            if is_outside(module) and module in _named_modules:
                name = f"{module}:{parts_of_game_name(attribute).base}"
                # Where it is used, the error is reported.
                with suppress(Exception):
                    outside_part(name)
        found |= {
            name: part
            for name, part in _outside_parts.items()
            if re.search(rf"(?<![\w.]){re.escape(name)}{END_OF_NAME}", text)
        }
    return found


def is_module(name: str) -> bool:
    """Whether a module with this dotted name can be found, in the current folder too."""
    with current_folder_searched():
        try:
            return find_spec(name) is not None
        except (ImportError, ValueError):
            return False


def own_name(name: str) -> str:
    """The end of an error about an unknown name: how to write what is in this module or file; empty without one."""
    parts = name.removeprefix("./").removesuffix(".py").replace("/", ".").split(".")
    files = (number for number in range(len(parts), 0, -1) if os.path.isfile("/".join(parts[:number]) + ".py"))  # noqa: PTH113
    number = next(files, int(name.isidentifier() and is_module(name)))
    return f"; what is in {(module := '.'.join(parts[:number]))} is named {module}:NAME" if number else ""


MODULE_NAME = r"[^\W\d][\w.]*"
"""The dotted name of a module, whose letters may be those of any language."""
PART_OF_MODULE = re.compile(rf"(?=(?<![\w.])({MODULE_NAME}):([^\W\d][\w=.-]*))")
"""`module:attribute` in a text, wherever it is."""
FILE_NAME = re.compile(r"\.py$|[/\\]")
"""Found in a file that is named in the place of a module."""
END_OF_NAME = r"(?=\W|$|_[1-9][0-9]?x[1-9]|_[a-z]+=)"
"""Follows the name of a game without its board."""


@contextmanager
def current_folder_searched() -> Iterator[None]:
    """Let modules be found in the current folder, after all other folders. Python does not always search there."""
    if {"", folder := str(Path.cwd())} & set(sys.path):
        yield
        return
    sys.path.append(folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def offers(group: str, name: str) -> bool:
    """Whether an installed package offers an entry point with this name in the group."""
    return bool(entry_points(group=group, name=name))


@cache
def _entry_points(group: str, path: tuple[str, ...]) -> EntryPoints:
    """The entry points of this group in the packages on `path`, which is sys.path: reading them takes 10 ms."""
    return entry_points(group=group)


class Registry(Mapping[str, Thing], Generic[Thing]):
    """Objects of one kind by name, imported when they are first looked up.

    Args:
        kind: the name of the objects in error messages: "game", "player".
        import_paths: where each object is defined, as `module:attribute`, by name.
        group: the group of entry points with which other packages add objects.
        attributes: the names of attributes that every object has; an object without them is refused.
        arguments: the names of the arguments of every object, if they are functions; None: they are not. An object from
            outside that cannot be called with this number of arguments, or is not written in Python, is refused.
        result: the types of what every object returns, if they are functions; one from outside that returns another
            is refused.
        check: called with the name of an object from outside, and the object; raises SettingError to refuse it.
    """

    def __init__(
        self,
        kind: str,
        import_paths: Mapping[str, str],
        group: str | None = None,
        attributes: Sequence[str] = (),
        arguments: Sequence[str] | None = None,
        result: tuple[type, ...] = (object,),
        check: Callable[[str, Any], object] = lambda name, found: None,
    ) -> None:
        self.kind, self.group, self.attributes, self.arguments = kind, group, attributes, arguments
        self.result, self.check = result, check
        self._import_paths = dict(import_paths)
        self._found: dict[str, Thing] = {}

    def __getitem__(self, name: str) -> Thing:
        """The object with this name. Raises SettingError, listing the names, if it is unknown or cannot be imported."""
        if name not in self._found or _is_replaced(self._import_path(name)):
            self._found[name] = self._imported(name)
        return self._found[name]

    def unknown(self, name: str) -> SettingError:
        """The error for a name without an object; it lists the names."""
        known = ", ".join(sorted(self)) + own_name(name)
        return SettingError(f"unknown {self.kind} {shortened(name)!r}; choose from {known}")

    def check_recorded(self, name: str) -> None:
        """Raise SettingError if a name from a file would import a module that the user has not named."""
        module, colon, _ = name.partition(":")
        if colon and module not in _named_modules:
            raise SettingError(
                f"{self.kind} {shortened(name)!r} is code outside this program, named by a file; if you trust it, set "
                f"modules=[{shortened(module)}], or in Python call selfplay.name_modules([{shortened(module)!r}])"
            )

    def __iter__(self) -> Iterator[str]:
        """The names, those of this package first."""
        return iter([*self._import_paths, *self._offered()])

    @property
    def included(self) -> tuple[str, ...]:
        """The names of those of this package."""
        return tuple(self._import_paths)

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        return name in self._import_paths or name in self._offered()

    def _offered(self) -> dict[str, Any]:
        points = _entry_points(self.group, tuple(sys.path)) if self.group else ()
        return {point.name: point for point in points if point.name not in self._import_paths}

    def module_of(self, name: str) -> str:
        """The module that defines the object with this name."""
        return self._import_path(name).partition(":")[0]

    def _import_path(self, name: str) -> str:
        """Where the object with this name is defined. If the name is itself a `module:attribute`, or unknown: the
        name."""
        if name in self._import_paths or ":" in name:
            return self._import_paths.get(name, name)
        offered = self._offered()
        return str(offered[name].value) if name in offered else name

    def _imported(self, name: str) -> Thing:
        import_path = self._import_path(name)
        module, colon, attribute = import_path.partition(":")
        if not colon:
            raise self.unknown(name)
        if FILE_NAME.search(module):
            written = f"{FILE_NAME.sub('', Path(module).name)}:{attribute}"
            raise SettingError(
                f"{self.kind} {shortened(name)!r}: write {shortened(written)} in the folder of the file, without .py"
            )
        if import_path == name:
            name_modules([module])
        with current_folder_searched(), errors_of_outside(self.kind, name, module, " cannot be imported"):
            imported = import_module(module)
            if not hasattr(imported, attribute) and (file := hidden_file(imported)) is not None:
                raise SettingError(
                    f"{self.kind} {shortened(name)!r} cannot be imported: Python finds {described_module(imported)} "
                    f"before {file} in the current folder; rename this file"
                )
            found = getattr(imported, attribute)
            if is_outside(module):
                _note_outside(name, import_path, found)
        if missing := [wanted for wanted in self.attributes if not hasattr(found, wanted)]:
            raise SettingError(
                f"{self.kind} {shortened(name)!r} has no attribute {missing[0]}, which every {self.kind} has"
            )
        if is_outside(module):
            self.check(name, found)
        if self.arguments is not None and is_outside(module):
            if not _takes(found, len(self.arguments)):
                form = f"a Python function of ({', '.join(self.arguments)})"
                raise SettingError(f"{self.kind} {shortened(name)!r} is not {form}, as every {self.kind} is")
            found = _reporting_errors(found, self.kind, name, module, self.result)
        return cast(Thing, found)


def _takes(function: Any, number: int) -> bool:
    """Whether a function written in Python can be called with this number of arguments."""
    try:
        signature(function).bind(*range(number))
    except (TypeError, ValueError):
        return False
    return not isbuiltin(function) and not isclass(function)


def _reporting_errors(
    function: Callable[..., Any], kind: str, name: str, module: str, result: tuple[type, ...]
) -> Callable[..., Any]:
    """The function, with its errors in one line, among them a result of another type than these."""

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        with errors_of_outside(kind, name, module):
            given = function(*args, **kwargs)
        if not isinstance(given, result):
            wanted = " or ".join(one.__name__ for one in result)
            raise SettingError(f"{kind} {shortened(name)!r} must return {wanted}, not {shortened(repr(given))}")
        return given

    return called
