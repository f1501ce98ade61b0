"""Descriptions of functions, classes and values: texts that are the same in every process."""

import sys
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from types import CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any, Literal

from selfplay.code_identity.instructions import NOT_IN_BODY, instructions_of
from selfplay.code_identity.objects import PARTS, array_of, holds_code, made_of
from selfplay.code_identity.packages import PACKAGE, digest_of_module, installed_version, package_of

PLAIN = (bool, int, float, complex, str, bytes, range, slice, type(None), type(...), type(NotImplemented))
"""Types of values that their text describes."""
BASES: tuple[Any, ...] = (int, float, complex, str, bytes)
CONTAINERS = (tuple, list, dict, set, frozenset, MappingProxyType)

NOT_OF_CLASS = frozenset(
    (
        *NOT_IN_BODY,
        *("__module__", "__dict__", "__weakref__", "__slotnames__", "__annotations__", "__annotations_cache__"),
        *("__annotate__", "__annotate_func__", "__parameters__", "__orig_bases__", "_abc_impl"),
    )
)
"""Attributes of a class that do not say what it does."""

Extent = Literal["all", "values", "name"]
"""How much of a function or class counts: everything, the values that a class has, or only its name. What a function
encloses always counts."""


class Description:
    """What one function or class does, as texts, and the functions and classes that it refers to."""

    def __init__(self) -> None:
        self.texts = list[str]()
        self.things = list[Any]()
        self.unknown = list[str]()
        self.plain = dict[int, Any]()
        """Functions that are referred to as such, by their ids."""
        self.installed = set[str]()
        """The modules of installed packages that it names."""
        self.is_unfinished = False
        self._numbers = dict[int, int]()
        self._inside = list[int]()
        """The ids of the objects whose contents are being described."""

    def describe(self, thing: Any, extent: Extent) -> None:
        """Describe a function or a class."""
        self.texts.append(thing.__qualname__ if isinstance(thing, type) else thing.__code__.co_qualname)
        if extent == "name":
            self.texts.append(self._module(str(thing.__module__)))
        elif (digest := digest_of_module(str(thing.__module__))) != "":
            self.texts.append(digest)
        if isinstance(thing, FunctionType):
            self._function(thing, in_full=extent == "all")
        elif extent == "values":
            self._values_of_class(thing)
        elif extent == "all":
            self._class(thing)

    def _module(self, name: str) -> str:
        if installed_version(name) is not None:
            self.installed.add(name)
        return name

    def _refer(self, thing: Any) -> str:
        if id(thing) not in self._numbers:
            self._numbers[id(thing)] = len(self.things)
            self.things.append(thing)
        return f"@{self._numbers[id(thing)]}"

    # ------------------------------------------------------------------ functions

    def _function(self, function: FunctionType, *, in_full: bool) -> None:
        code = function.__code__
        used = instructions_of(code)
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            try:
                self._named(name, cell.cell_contents, used.names)
            except ValueError:
                self._undefined(name)
        if in_full:
            self.texts.append(self.text_of([function.__defaults__, function.__kwdefaults__, vars(function)]))
            self.texts.append(self._code(code))
            for name in used.global_names:
                self._global(name, function.__globals__, used.names)
            for name in used.imported:
                for module in _imported(name, function.__globals__.get("__package__")):
                    self._named(name, module, used.names)

    def _global(self, name: str, scope: dict[str, Any], names: frozenset[str]) -> None:
        if name.startswith("__") and name.endswith("__"):  # such as __file__, the place of the code
            self.texts.append(name)
        elif name in scope:
            self._named(name, scope[name], names)
        elif hasattr(sys.modules["builtins"], name):
            self.texts.append(name)
        else:
            self._undefined(name)

    def _undefined(self, name: str) -> None:
        self.unknown.append(name)
        self.is_unfinished = True

    def _named(self, name: str, value: Any, names: frozenset[str]) -> None:
        """Describe the value of a name in code. Of a module, what the code can use of it is described: its attributes
        with one of these names."""
        if not isinstance(value, ModuleType):
            self.texts.append(f"{name} = {self.text_of(value)}")
            return
        module = self._module(value.__name__)
        self.texts.append(f"{name} = module {module} {digest_of_module(module)}".rstrip())
        if installed_version(value.__name__) is None and id(value) not in self._inside:
            self._inside.append(id(value))
            for used in sorted(names):
                if (attribute := getattr(value, used, self)) is not self:
                    self._named(f"{name}.{used}", attribute, names)
            self._inside.pop()

    def _code(self, code: CodeType) -> str:
        found = instructions_of(code)
        return repr((found.head, found.steps, [self.text_of(constant) for constant in found.constants]))

    # ------------------------------------------------------------------ classes

    def _class(self, of: type) -> None:
        self.texts.append(self.text_of((type(of), of.__bases__)))
        for name, value in sorted(vars(of).items()):
            if not (name in NOT_OF_CLASS or name.startswith("__pydantic_")):
                self.texts.append(f"{name} = {self.text_of(value)}")

    def _values_of_class(self, of: type) -> None:
        """The values that compiled code can use: the fields of a named tuple, the members of an enumeration."""
        for base in of.__mro__:
            for name, value in sorted(vars(base).items()):
                if not (name.startswith("__") or callable(value) or hasattr(value, "__get__")):
                    self.texts.append(f"{name} = {self.text_of(value)}")
        # What cannot be described cannot be compiled either.
        self.unknown.clear()

    # ------------------------------------------------------------------ values

    def text_of(self, value: Any) -> str:
        """The text of any value, in which functions and classes are numbers."""
        kind = type(value)
        if kind in PLAIN:
            return f"{kind.__name__} {value!r}"
        if isinstance(value, (FunctionType, type)):
            self.plain[id(value)] = value
            return self._refer(value)
        if isinstance(value, CodeType):
            return self._code(value)
        if id(value) in self._inside:
            return f"inside {len(self._inside) - self._inside.index(id(value))}"
        self._inside.append(id(value))
        try:
            return self._text_of_object(kind, value)
        except Exception:  # objects can raise anything
            self.unknown.append(kind.__name__)
            return kind.__name__
        finally:
            self._inside.pop()

    def _text_of_object(self, kind: type, value: Any) -> str:
        for types, parts in PARTS:
            if isinstance(value, types):
                return f"{kind.__name__} {self.text_of(parts(value))}"
        if isinstance(value, Enum):
            return f"{self._refer(kind)} {value.name} {self.text_of(value.value)}"
        contents = list(self._contents(kind, value))
        if kind in CONTAINERS:
            return f"{kind.__name__} {contents}"
        if (wrapped := getattr(value, "__wrapped__", None)) is not None:
            is_function = isinstance(wrapped, FunctionType)
            return f"{kind.__name__} {self._refer(wrapped) if is_function else self.text_of(wrapped)}"
        if (text := self._text_of_machine_code(kind, value)) is not None:
            return text
        with suppress(Exception):  # such as a sparse tensor
            if hasattr(kind, "__array__"):
                return f"{kind.__name__} {self.text_of(array_of(value))}"
        return f"{self._refer(kind)} {contents} {self._state(kind, value, has_contents=bool(contents))}"

    def _text_of_machine_code(self, kind: type, value: Any) -> str | None:
        """That of a function compiled by numba, of a type of numba, and of a function that is not written in Python."""
        if kind.__module__.startswith("numba.core.types"):
            return f"{kind.__name__} {value}"
        if kind.__module__.startswith("numba.core.") and hasattr(value, "py_func"):
            return f"{kind.__name__} {self.text_of(value.targetoptions)} {self._refer(value.py_func)}"
        if kind.__module__ in ("builtins", "numpy") and hasattr(value, "__name__"):
            module = str(getattr(value, "__module__", None) or kind.__module__)
            return f"{kind.__name__} {self._module(module)} {value.__name__} {digest_of_module(module)}".rstrip()
        return None

    def _contents(self, kind: type, value: Any) -> Iterator[str]:
        """The texts of what a container holds, or of the number or text that an object of a subclass is.

        Fields that have their defaults are left out: a later version may have more of them.
        """
        if hasattr(kind, "_field_defaults"):
            given = {
                name: held for name, held in value._asdict().items() if held is not kind._field_defaults.get(name, self)
            }
            yield from (f"{name} = {self.text_of(held)}" for name, held in given.items())
        elif isinstance(value, (dict, MappingProxyType)):
            yield from (f"{self.text_of(key)}: {self.text_of(held)}" for key, held in value.items())
            if (factory := getattr(value, "default_factory", None)) is not None:
                yield f"default_factory = {self.text_of(factory)}"
        elif isinstance(value, (set, frozenset)):
            yield from map(self.text_of, sorted(value, key=_order_in_set))
        elif isinstance(value, (tuple, list, deque)):
            yield from map(self.text_of, value)
        elif (base := next((base for base in BASES if isinstance(value, base)), None)) is not None:
            yield repr(base(value))

    def _state(self, kind: type, value: Any, *, has_contents: bool) -> list[str]:
        """The attributes of an object of a class that is described, or of data. Others are unknown, also where what
        they are made of can be described."""
        is_own = package_of(kind.__module__) == PACKAGE
        if not has_contents and (is_own or installed_version(kind.__module__) is not None) and not is_dataclass(kind):
            self.unknown.append(kind.__name__)
            text = repr(value)
            found = [] if text.startswith("<") or "0x" in text else [text]
            if holds_code(kind):
                with suppress(Exception):
                    found.append(self.text_of(made_of(value)))
            return found
        slots = [name for base in kind.__mro__ for name in _slots(base)]
        state = {name: getattr(value, name) for name in slots if hasattr(value, name)} | getattr(value, "__dict__", {})
        left_out = {name for name in state if isinstance(getattr(kind, name, None), cached_property)}
        if is_dataclass(kind):
            left_out |= {field.name for field in fields(kind) if state.get(field.name) is field.default}
        return [f"{name} = {self.text_of(state[name])}" for name in sorted(state.keys() - left_out)]


def _slots(base: type) -> tuple[str, ...]:
    slots = vars(base).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _order_in_set(value: object) -> tuple[object, ...]:
    alone = Description()
    return alone.text_of(value), [(thing.__module__, thing.__qualname__) for thing in alone.things]


def _imported(name: str, package: str | None) -> Iterator[ModuleType]:
    """The modules that a function may import by this name, which may be relative; those of packages are not needed."""
    parents = [""]
    if package:
        parts = package.split(".")
        parents += [".".join(parts[: end + 1]) for end in range(len(parts))]
    for parent in parents:
        full = f"{parent}.{name}".strip(".")
        # Importing code can raise anything.
        with suppress(Exception):
            if installed_version(full) is None and find_spec(full) is not None:
                yield import_module(full)
