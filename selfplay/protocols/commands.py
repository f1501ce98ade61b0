"""The lines that a controller sends, and their arguments as values."""

import math
from collections.abc import Iterator
from typing import TextIO

SIZE_LIMIT = 1 << 20
"""The most bytes of an answer, and characters of a command line."""

LONGEST_NUMBER = 9
"""The most digits of a whole number, which may begin with zeros: Python refuses to convert those of 4,300 digits."""


class CommandError(Exception):
    """A command that cannot be carried out; its message is the answer."""


def command_lines(stream: TextIO) -> Iterator[str]:
    """The lines of `stream`; of a line longer than SIZE_LIMIT only the first SIZE_LIMIT + 1 characters."""
    while line := stream.readline(SIZE_LIMIT + 1):
        rest = line
        while len(rest) > SIZE_LIMIT and not rest.endswith("\n"):
            rest = stream.readline(SIZE_LIMIT + 1)
        yield line


def is_whole_number(text: str) -> bool:
    """Whether `text` writes a whole number with at most nine digits."""
    return text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER


def clock_number(text: str) -> int | None:
    """What `text` says of a clock, such as milliseconds or moves: 0 for an overdrawn clock (-50); None if it is not a
    whole number with at most nine digits."""
    digits = text.removeprefix("-")
    return max(0, int(text)) if is_whole_number(digits) else None


def whole_numbers(*texts: str) -> list[int]:
    """The whole numbers that `texts` write. Raises CommandError if one is not a number of at most nine digits."""
    if not all(map(is_whole_number, texts)):
        raise CommandError("syntax error")
    return list(map(int, texts))


def numbers_of(*texts: str) -> list[float]:
    """The numbers that `texts` write. Raises CommandError if one is not a number, or not finite."""
    try:
        numbers = [float(text) for text in texts]
    except ValueError:
        raise CommandError("syntax error") from None
    if not all(map(math.isfinite, numbers)):
        raise CommandError("syntax error")
    return numbers
