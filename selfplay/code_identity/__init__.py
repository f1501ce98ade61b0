"""What functions and classes do, as a digest that is the same in every process: compiled code, finished stages and
proofs are known by it.

Two functions have the same identity if they have the same instructions, names and constants, and if everything that
they refer to is the same: their defaults, what they enclose, and recursively the functions, classes and values with the
global names that they use. Comments, docstrings and line numbers make no difference. What belongs to Python or to an
installed package is known by its name and version, unless the package is named to `describe_in_full`.

A function or a class is described once, when its identity is first needed: a global value is what it was then, as in
compiled code.
"""

import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from selfplay.code_identity.descriptions import PACKAGE, Description, Extent, installed_version, package_of


class Identity(NamedTuple):
    """What a value depends on."""

    digest: str
    """64 hexadecimal digits."""
    unknown: tuple[str, ...]
    """What it refers to that cannot be described, and counts by its type only."""
    described: tuple[Any, ...]
    """The functions and classes of which more than the name counts."""
    plain: tuple[Any, ...]
    """Those of these functions that numba has not been asked to compile by themselves."""


def outside_identity(value: object) -> Identity:
    """What a part from outside this package does, such as a game. What is in this package counts by its name."""
    return identity_of(value, lambda thing: "name" if package_of(str(thing.__module__)) == PACKAGE else "all")


def identity_of(value: object, extent_of: Callable[[Any], Extent]) -> Identity:
    """The identity of any value.

    Args:
        extent_of: how much of a function or class that belongs to no installed package counts.
    """
    first = Description()
    first.texts.append(first.text_of(value))
    pending, numbers = [first], dict[int, int]()
    digest, unknown, described, plain = hashlib.sha256(), list[str](), list[Any](), dict[int, Any]()
    # The list grows while it is read.
    for description in pending:
        unknown += description.unknown
        plain |= description.plain
        for thing in description.things:
            if id(thing) not in numbers:
                numbers[id(thing)] = len(numbers)
                installed = installed_version(str(thing.__module__))
                extent = extent_of(thing) if installed is None else "name"
                pending.append(_description_of(thing, extent))
                described += [] if extent == "name" else [thing]
        digest.update(repr((description.texts, [numbers[id(thing)] for thing in description.things])).encode())
    return Identity(
        digest.hexdigest(), tuple(unknown), tuple(described), tuple(thing for thing in described if id(thing) in plain)
    )


_descriptions = dict[Extent, WeakKeyDictionary[Any, Description]]()


def _description_of(thing: Any, extent: Extent) -> Description:
    known = _descriptions.setdefault(extent, WeakKeyDictionary())
    if (found := known.get(thing)) is None:
        found = Description()
        found.describe(thing, extent)
        # A name that is not defined yet may be defined later.
        if not found.is_unfinished:
            known[thing] = found
    return found
