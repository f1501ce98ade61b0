"""Registries of objects by name: what a setting such as `game.name` or `targets` chooses from.

An object is named in one of three ways:

- by its name in this package, defined by one line in a registry;
- by the name of an entry point, in the registry's group, of another installed package;
- as `module:attribute`, without packaging anything.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar, cast

from selfplay.errors import SettingError

Thing = TypeVar("Thing")


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

    def _imported(self, name: str) -> Thing:
        import_path = self._import_paths.get(name)
        if import_path is None and name in (offered := self._offered()):
            import_path = offered[name].value
        if import_path is None and ":" in name:
            import_path = name
        if import_path is None:
            raise SettingError(f"unknown {self.kind} {name!r}; choose from {', '.join(sorted(self))}")
        module, _, attribute = import_path.partition(":")
        try:
            return cast(Thing, getattr(import_module(module), attribute))
        except (ImportError, AttributeError, ValueError) as error:
            raise SettingError(f"{self.kind} {name!r} cannot be imported: {error}") from error
