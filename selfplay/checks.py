"""Checks of arguments, and declarations of the values that the fields of parameters may have.

    learning_rate: float = field(default=0.003, metadata=within(above=0))

Checks raise SettingError in one line that names the argument.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import Field, field, fields, is_dataclass
from math import inf
from numbers import Real
from operator import index
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from selfplay.errors import SettingError, shortened
from selfplay.files import user_path
from selfplay.registry import Registry

SEEDS = -(2**63), 2**63 - 1
"""The smallest and the largest seed."""
LARGEST_COUNT = 10**9
"""The largest number of levels, matches, epochs and so on; larger numbers would never finish."""


class Range(NamedTuple):
    """The range of finite numbers that a field, or each entry of its list, may have; None: no such bound."""

    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None

    def check(self, name: str, value: Any) -> None:
        """Raise SettingError unless the value of the argument with this name is allowed."""
        numbers = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        are_numbers = len(numbers) > 0 and all(isinstance(one, Real) for one in numbers)
        valid = are_numbers and all(map(self._holds, numbers))
        require(name, value, valid, f"{'one or more numbers ' if numbers is value else ''}{self}")

    def _holds(self, number: float) -> bool:
        return (
            abs(number) < inf
            and (self.least is None or number >= self.least)
            and (self.most is None or number <= self.most)
            and (self.above is None or number > self.above)
            and (self.below is None or number < self.below)
        )

    def __str__(self) -> str:
        if self.least is not None:
            return f"{self.least} or more" if self.most is None else f"from {self.least} to {self.most:,}"
        bounds = {"above": self.above, "below": self.below, "at most": self.most}
        return " and ".join(f"{words} {bound}" for words, bound in bounds.items() if bound is not None)


def changed(kind: type, name: str, default: Any) -> Any:
    """The field of a base class, a dataclass, with another default."""
    return field(default=default, metadata=dict(kind.__dataclass_fields__[name].metadata))  # type: ignore[attr-defined]


IN_MATCHES: dict[str, Any] = {"stages": frozenset({"generation"})}
"""Metadata of a parameter of a learner on which only the rows of its matches depend."""

IN_TRAINING: dict[str, Any] = {"stages": frozenset({"training"})}
"""Metadata of a parameter of a learner on which only the training on these rows depends."""


def within(*bounds: float, **named: float) -> dict[str, Any]:
    """Metadata of a field that holds a finite number in the `Range` with these bounds, or a list of one or more."""
    return {"range": Range(*bounds, **named)}


def count(least: int) -> dict[str, Any]:
    """Metadata of a field that holds a count, from `least` to LARGEST_COUNT."""
    return within(least, LARGEST_COUNT)


def one_of(*choices: str) -> dict[str, Any]:
    """Metadata of a field that holds one of these texts."""
    return {"choices": choices}


def one_in(registry: Registry[Any]) -> dict[str, Any]:
    """Metadata of a field that holds a name in this registry, or a `module:attribute` that can be imported."""
    return {"registry": registry}


PLAYER_NAME = {"is_player_name": True}
"""Metadata of a field that holds the names of players; `--help-all` then lists the possible names."""


def require(name: str, value: object, valid: bool, allowed: str) -> None:
    """Raise SettingError, naming the argument and what is allowed, unless its value is valid."""
    if not valid:
        raise SettingError(f"{name}={shortened(value)}: must be {allowed}")


@contextmanager
def fields_of(argument: str, *names: str) -> Iterator[None]:
    """Messages about arguments with these names call them fields of `argument`: "size=9: ..." is "game.size=9: ...".

    So does the advice in a message: "...; set size=8" is "...; set game.size=8". A message that begins with
    another setting, such as learner.self_play=search:negascout?depth=0, is not about these arguments.
    """
    try:
        yield
    except SettingError as error:
        known = "|".join(map(re.escape, names))
        if re.match(rf"(?!(?:{argument}|{known})\.)\w+\.\w+=", str(error)):
            raise
        mentioned = rf"^(?:{known})(?=[=:.])|(?<=[ (])(?:{known})(?==)"
        text = re.sub(mentioned, rf"{argument}.\g<0>", str(error)) if names else str(error)
        if text == str(error):
            raise
        raise SettingError(text) from error


def whole_number(name: str, value: Any, bounds: Range | None = None) -> int:
    """An argument as an int, such as a number of numpy. Raises SettingError if it is not whole or out of range."""
    try:
        number = index(value)
    except TypeError as error:
        raise SettingError(f"{name}={shortened(repr(value))}: must be a whole number") from error
    if bounds is not None:
        bounds.check(name, number)
    return number


def folder_of(name: str, value: Any) -> Path:
    """An argument as the path of a folder. Raises SettingError if it is not a path."""
    require(name, value, isinstance(value, str | PathLike), "the path of a folder")
    return user_path(value)


def part_of(kind: type, whole: Any) -> dict[str, Any]:
    """The values that an object of a subclass has in the fields of the dataclass `kind`, by their names."""
    return {one.name: getattr(whole, one.name) for one in fields(kind)}


def check_parameters(parameters: Any, name: str = "") -> None:
    """Raise SettingError for the first field of a dataclass, or of one inside it, whose value is not allowed.

    `name`: what precedes the names of its fields in messages, such as "training.".
    """
    for one in fields(parameters):
        value = getattr(parameters, one.name)
        if is_dataclass(value):
            check_parameters(value, f"{name}{one.name}.")
        else:
            check_field(f"{name}{one.name}", one, value)


def check_field(name: str, field: Field[Any], value: Any) -> None:
    """Raise SettingError unless `field` allows the value, under this name in the message."""
    declared = field.metadata
    if field.type is bool:
        require(name, value, isinstance(value, bool), "true or false")
    if field.type is int:
        whole_number(name, value)
    # Only a field of an optional type holds None.
    if (allowed := declared.get("range")) is not None and value is not None:
        allowed.check(name, value)
    if (choices := declared.get("choices")) is not None:
        require(name, value, value in choices, " or ".join(choices))
    if (registry := declared.get("registry")) is not None:
        if ":" in str(value):
            registry[value]  # raises if it cannot be imported
        elif value not in registry:
            # Not listed before it is needed, because listing reads the entry points of all installed packages.
            require(name, value, False, " or ".join(registry))
