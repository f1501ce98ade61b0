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
import sys
from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple, NotRequired
from weakref import WeakKeyDictionary

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from selfplay.code_identity.descriptions import Description, Extent
from selfplay.code_identity.packages import PACKAGE, installed_version, package_of


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
    """What a part from outside this package does, such as a game. What is in this package and in others counts by its
    name, whatever its version."""
    return identity_of(value, _extent_outside, with_versions=False)


def _extent_outside(thing: Any) -> Extent:
    return "name" if package_of(str(thing.__module__)) == PACKAGE else "all"


def identity_of(value: object, extent_of: Callable[[Any], Extent], *, with_versions: bool = True) -> Identity:
    """The identity of any value.

    Args:
        extent_of: how much of a function or class that belongs to no installed package counts.
        with_versions: whether another version of an installed package makes a difference.
    """
    first = Description()
    first.texts.append(first.text_of(value))
    pending, numbers = [first], dict[int, int]()
    digest, unknown, described, plain = hashlib.sha256(), list[str](), list[Any](), dict[int, Any]()
    installed = set[str]()
    # The list grows while it is read.
    for description in pending:
        unknown += description.unknown
        plain |= description.plain
        installed |= description.installed if with_versions else set()
        for thing in description.things:
            if id(thing) not in numbers:
                numbers[id(thing)] = len(numbers)
                is_installed = installed_version(str(thing.__module__)) is not None
                extent: Extent = "name" if is_installed else extent_of(thing)
                pending.append(_description_of(thing, extent))
                described += [] if extent == "name" else [thing]
        digest.update(repr((description.texts, [numbers[id(thing)] for thing in description.things])).encode())
    digest.update(repr(sorted({(package_of(name), installed_version(name)) for name in installed})).encode())
    return Identity(
        digest.hexdigest(), tuple(unknown), tuple(described), tuple(thing for thing in described if id(thing) in plain)
    )


def digests_by_module(identity: Identity) -> dict[str, str]:
    """Of each module, a digest of what of it is described, without what it refers to."""
    texts = dict[str, list[str]]()
    for thing in identity.described:
        texts.setdefault(str(thing.__module__), []).append(repr(_description_of(thing, "all").texts))
    return {module: hashlib.sha256(repr(sorted(of)).encode()).hexdigest() for module, of in sorted(texts.items())}


Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


@with_config(ConfigDict(strict=True, extra="allow"))
class RecordedCode(TypedDict):
    """What is recorded of code from outside."""

    python: str
    """The version of Python, such as 3.11: what another one makes of the same source differs."""
    sha256: Sha256
    """The digest of all of it together."""
    modules: dict[str, Sha256]
    """The digests of what it uses of each module."""
    games: NotRequired[Sha256]
    """The digest of what classes of games from outside give to their games, such as rules that they read from files."""


def recorded_code(parts: Mapping[str, object], games: Mapping[str, str]) -> RecordedCode:
    """What is recorded of parts from outside, by their names, and of games, whose classes give them attributes.

    `games`: the digests of these attributes, by the names of the games.
    """
    identity = outside_identity([part for _, part in sorted(parts.items())])
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    code: RecordedCode = {"python": version, "sha256": identity.digest, "modules": digests_by_module(identity)}
    return code | {"games": outside_identity(dict(sorted(games.items()))).digest} if games else code


def changes_of_code(was: RecordedCode | None, now: RecordedCode) -> str:
    """What has changed in code from outside since it was recorded, as text; empty if nothing has.

    `was`: None: nothing was recorded of it, so that it counts as the same.
    """
    if was is None or was["python"] != now["python"]:
        return ""
    if was["sha256"] == now["sha256"]:
        is_same = was.get("games", now.get("games")) == now.get("games")
        return "" if is_same else "a file or another value that the class of the game reads has changed"
    before, after = was["modules"], now["modules"]
    names = [name for name in after if before.get(name) != after[name]] or list(after)
    files = [file for name in names if (file := getattr(sys.modules.get(name), "__file__", None))]
    return f"the code of {', '.join(files or names)} has changed, or a value that it uses"


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
