"""The code from outside this program that the files of a run depend on, such as a game of one's own.

A record of settings names it as `module:attribute`, or by the name under which an installed package offers it.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from selfplay.code_identity import digests_by_module, outside_identity
from selfplay.registry import outside_parts

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]

CODE = "code"
"""The entry with the code in a record."""


@with_config(ConfigDict(strict=True, extra="allow"))
class RecordedCode(TypedDict):
    """What is recorded of code from outside."""

    python: str
    """The version of Python, such as 3.11: what another one makes of the same source differs."""
    sha256: Sha256
    """The digest of all of it together."""
    modules: dict[str, Sha256]
    """The digests of what it uses of each module."""


def code_of(record: object) -> dict[str, RecordedCode]:
    """The code from outside that a record names, as an entry for the record; empty if there is none."""
    parts = outside_parts(texts_in(record))
    if not parts:
        return {}
    identity = outside_identity([part for _, part in sorted(parts.items())])
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return {CODE: {"python": version, "sha256": identity.digest, "modules": digests_by_module(identity)}}


def changed_code(was: RecordedCode | None, record: object) -> str:
    """What has changed in the code from outside that a record names, as text; empty if nothing has.

    Args:
        was: what was recorded of it; None: nothing, so that it counts as the same.
    """
    now = code_of(record).get(CODE)
    if was is None or now is None or was["python"] != now["python"] or was["sha256"] == now["sha256"]:
        return ""
    before, after = was["modules"], now["modules"]
    names = [name for name in after if before.get(name) != after[name]] or list(after)
    files = [file for name in names if (file := getattr(sys.modules.get(name), "__file__", None))]
    return f"the code of {', '.join(files or names)} has changed, or a value that it uses"


def texts_in(value: object) -> Iterator[str]:
    """All texts in nested lists and mappings."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from texts_in(inner)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from texts_in(inner)
