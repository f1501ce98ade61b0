"""Registries of objects by name: what a setting such as `game.name` or `targets` chooses from.

An object is named in one of three ways:

- by its name in this package, defined by one line in a registry;
- by the name of an entry point, in the registry's group, of another installed package;
- as `module:attribute`, without packaging anything; the module may be a file in the current folder.

A file can also name an object, such as the game of an agent. It must not import code that the user has not asked for,
so `check_recorded` accepts `module:attribute` from a file only if the user has named the module in this process: in a
setting (see `name_modules`), or by looking up one of its objects here.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from selfplay.errors import SettingError, shortened

Thing = TypeVar("Thing")

_named_modules: set[str] = set()
"""The modules outside this package that the user has named in this process."""


def name_modules(modules: Iterable[str]) -> None:
    """Let files name objects in these modules, because the user has named the modules."""
    _named_modules.update(modules)


def named_modules() -> tuple[str, ...]:
    """The modules that the user has named, for passing them on to worker processes."""
    return tuple(sorted(_named_modules))


def is_module(name: str) -> bool:
    """Whether a module with this dotted name can be found, in the current folder too."""
    search_current_folder()
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


SPIEL_NAMES = {"tic_tac_toe": "tictactoe"}
"""OpenSpiel's names of games that have another name here."""


def base_and_size(name: str) -> tuple[str, int | None]:
    """The name of a game without the size of its board, and that size: othello and 6 for othello_6x6."""
    found = re.fullmatch(r"(.+)_([1-9][0-9]?)x\2", name)
    return (name, None) if found is None else (found[1], int(found[2]))


def search_current_folder() -> None:
    """Let modules be found in the current folder, after all others. Python itself searches there only at times."""
    if not {"", folder := str(Path.cwd())} & set(sys.path):
        sys.path.append(folder)


def offers(group: str, name: str) -> bool:
    """Whether an installed package offers an entry point with this name in the group."""
    return bool(entry_points(group=group, name=name))


class Registry(Mapping[str, Thing], Generic[Thing]):
    """Objects of one kind by name, imported when they are first looked up.

    Args:
        kind: what the objects are called in error messages: "game", "player".
        import_paths: where each object is defined, as `module:attribute`, by name.
        group: the group of entry points with which other packages add objects.
    """

    def __init__(self, kind: str, import_paths: Mapping[str, str], group: str | None = None) -> None:
        self.kind, self.group = kind, group
        self._import_paths = dict(import_paths)
        self._found: dict[str, Thing] = {}

    def register(self, name: str, thing: Thing) -> None:
        """Add `thing` under `name` for this process. Raises ValueError if the name is taken."""
        if name in self:
            raise ValueError(f"the {self.kind} {name!r} already exists; choose another name")
        self._found[name] = thing

    def __getitem__(self, name: str) -> Thing:
        """The object with this name. Raises SettingError, listing the names, if it is unknown or cannot be imported."""
        if name not in self._found:
            self._found[name] = self._imported(name)
        return self._found[name]

    def check_recorded(self, name: str) -> None:
        """Raise SettingError if a name that stands in a file would import a module that the user has not named."""
        module, colon, _ = name.partition(":")
        if colon and module not in _named_modules:
            raise SettingError(
                f"{self.kind} {shortened(name)!r} is code outside this program, named by a file; if you trust it, set "
                f"modules=[{shortened(module)}]"
            )

    def __iter__(self) -> Iterator[str]:
        """The names, those of this package first; without any `module:attribute` that was looked up."""
        names = [*self._import_paths, *self._offered(), *(name for name in self._found if ":" not in name)]
        return iter(dict.fromkeys(names))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        # Entry points are read only for names from outside this package, because reading them takes 10 ms.
        return name in self._import_paths or name in self._found or name in self._offered()

    def _offered(self) -> dict[str, Any]:
        points = entry_points(group=self.group) if self.group else ()
        return {point.name: point for point in points if point.name not in self._import_paths}

    def _import_path(self, name: str) -> str:
        """Where the object with this name is defined; the name itself if it says so, or is unknown."""
        if name in self._import_paths or ":" in name:
            return self._import_paths.get(name, name)
        offered = self._offered()
        return str(offered[name].value) if name in offered else name

    def _imported(self, name: str) -> Thing:
        import_path = self._import_path(name)
        module, colon, attribute = import_path.partition(":")
        if not colon:
            raise SettingError(f"unknown {self.kind} {shortened(name)!r}; choose from {', '.join(sorted(self))}")
        if import_path == name:
            name_modules([module])
        cannot = f"{self.kind} {shortened(name)!r} cannot be imported"
        if not is_module(module):
            raise SettingError(f"{cannot}: no module named {shortened(module)!r}")
        try:
            return cast(Thing, getattr(import_module(module), attribute))
        except (ImportError, AttributeError, SyntaxError) as error:
            raise SettingError(f"{cannot}: {shortened(error)}") from error


def is_outside(module: str) -> bool:
    """Whether a module is not one of this package."""
    return module.partition(".")[0] != "selfplay"
