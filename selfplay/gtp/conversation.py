"""The form of the protocol: lines to commands, and answers to text and back."""

from collections.abc import Iterable
from typing import NamedTuple

KEPT = "\t\n"
"""The control characters that mean something."""


class Command(NamedTuple):
    """A line that a controller has written."""

    number: str
    """The id that its answer repeats; empty if it has none."""
    name: str
    """Empty if the line holds nothing but an id."""
    arguments: tuple[str, ...]


class Answer(NamedTuple):
    """What an engine answers."""

    is_success: bool
    text: str
    """Several lines if there is a board in it, none of them empty; at a failure the reason."""

    def written(self, number: str = "") -> str:
        """The answer as it is sent: with its sign, the id of its command, and the empty line that ends it."""
        lines = [line.rstrip() for line in self.text.split("\n") if line.strip()]
        # A board begins on a line of its own, so that its columns stay in line.
        gap = "" if not lines else "\n" if len(lines) > 1 else " "
        return "".join(["=" if self.is_success else "?", number, gap, "\n".join(lines), "\n\n"])


def read_command(line: str) -> Command | None:
    """The command of a line; None if nothing is left of it without comments and control characters."""
    kept = "".join(sign for sign in line if sign in KEPT or (sign >= " " and sign != "\x7f"))
    words = kept.partition("#")[0].split()
    if not words:
        return None
    number = words.pop(0) if words[0].isascii() and words[0].isdigit() else ""
    return Command(number, words[0] if words else "", tuple(words[1:]))


def read_answer(lines: Iterable[str]) -> Answer:
    """The answer whose lines these are, without the empty line at its end. Raises ValueError if it is none."""
    first, *others = lines
    sign, rest = first[:1], first[1:].lstrip("0123456789")
    if sign not in ("=", "?") or (rest and not rest[0].isspace()):
        raise ValueError(f"{first!r} is no answer of the protocol")
    return Answer(sign == "=", "\n".join([rest.strip(), *others]).strip("\n"))
