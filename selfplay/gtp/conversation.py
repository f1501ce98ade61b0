"""The form of the protocol: parsing commands, and writing and parsing answers."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TextIO

from selfplay.errors import shortened

SIZE_LIMIT = 1 << 20
"""The most bytes of an answer, and characters of a command line."""

LONGEST_NUMBER = 10
"""The most digits of an id, which has 31 bits."""

KEPT = "\t\n"
"""The control characters that are not removed from commands."""


class Command(NamedTuple):
    """A command line from the controller."""

    number: str
    """The id that the answer repeats; empty if there is none."""
    name: str
    """Empty if the line contains only an id."""
    arguments: tuple[str, ...]


class Answer(NamedTuple):
    """The answer of an engine."""

    is_success: bool
    text: str
    """The text, with several lines if it contains a board, none of them empty; the reason after a failure."""

    def written(self, number: str = "") -> str:
        """The answer as text: its status sign, the id of its command, the text and a final empty line."""
        lines = [line.rstrip() for line in self.text.split("\n") if line.strip()]
        # A board starts on a new line, so that its columns stay aligned.
        gap = "" if not lines else "\n" if len(lines) > 1 else " "
        return "".join(["=" if self.is_success else "?", number, gap, "\n".join(lines), "\n\n"])


def command_lines(stream: TextIO) -> Iterator[str]:
    """The lines of `stream`; of a line longer than SIZE_LIMIT only the first SIZE_LIMIT + 1 characters."""
    while line := stream.readline(SIZE_LIMIT + 1):
        rest = line
        while len(rest) > SIZE_LIMIT and not rest.endswith("\n"):
            rest = stream.readline(SIZE_LIMIT + 1)
        yield line


def read_command(line: str) -> Command | None:
    """The command of a line; None if it has only comments and control characters.

    Raises ValueError if the line is longer than SIZE_LIMIT, or its id has more digits than 31 bits.
    """
    if len(line) > SIZE_LIMIT:
        raise ValueError("line too long")
    kept = "".join(sign for sign in line if sign in KEPT or (sign >= " " and sign != "\x7f"))
    words = kept.partition("#")[0].split()
    if not words:
        return None
    number = words.pop(0) if words[0].isascii() and words[0].isdigit() else ""
    if len(number) > LONGEST_NUMBER:
        raise ValueError("syntax error")
    return Command(number, words[0] if words else "", tuple(words[1:]))


def read_answer(lines: Iterable[str]) -> Answer:
    """The answer with these lines, without the final empty line. Raises ValueError if they are not an answer."""
    first, *others = lines
    sign, rest = first[:1], first[1:].lstrip("0123456789")
    if sign not in ("=", "?") or (rest and not rest[0].isspace()):
        raise ValueError(f"{shortened(first)!r} is not an answer of the protocol")
    return Answer(sign == "=", "\n".join([rest.strip(), *others]).strip("\n"))
