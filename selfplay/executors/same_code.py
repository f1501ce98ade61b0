"""Whether a worker has the code from outside that its tasks were made with: it imports files that may have been edited
since the program that sends the tasks began."""

import sys
from collections.abc import Mapping
from typing import NamedTuple

from selfplay.code_identity import outside_identity
from selfplay.errors import StageError
from selfplay.games import digest_of_given, digests_of_outside_games
from selfplay.registry import all_outside_parts, outside_part


class OutsideCode(NamedTuple):
    """The digests of the code from outside that a process uses."""

    parts: Mapping[str, str]
    """Of each object, by `module:attribute`."""
    games: Mapping[str, str]
    """Of what the class of each game has given to it, by the name of the game."""


def outside_code() -> OutsideCode:
    """That of this process, to be sent with its tasks."""
    parts = {name: outside_identity(part).digest for name, part in all_outside_parts().items()}
    return OutsideCode(parts, digests_of_outside_games())


def check_same_code(sent: OutsideCode) -> None:
    """Raise StageError if what this process has imported of the code that was sent is not the same."""
    for name, digest in sent.parts.items():
        if _is_imported(name) and (name, digest) not in _same:
            _require(name, outside_identity(outside_part(name)).digest == digest)
            _same.add((name, digest))
    for name, digest in sent.games.items():
        if _is_imported(name):
            _require(name, digest_of_given(name) == digest)


_same: set[tuple[str, str]] = set()
"""The objects that were found to be the same, with their digests."""


def _is_imported(name: str) -> bool:
    """Whether a worker has imported the module that `module:attribute` names; the program itself has another there."""
    module = name.partition(":")[0]
    return module in sys.modules and module != "__main__"


def _require(name: str, is_same: bool) -> None:
    if not is_same:
        raise StageError(
            f"the code of {name}, or a file or value that it uses, is another one in a worker: it was edited while the "
            "program ran, or is different in each process; start the program again, or use executor=serial"
        )
