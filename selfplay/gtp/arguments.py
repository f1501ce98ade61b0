"""The arguments of commands as values."""

import math

from selfplay.gtp.protocol import COLOURS, LONGEST_ROW


class CommandError(Exception):
    """A command that cannot be carried out; its message is the answer."""


def seat_of(colour: str) -> int:
    """The seat of a colour. Raises CommandError if it is not a colour."""
    if colour.lower() not in COLOURS:
        raise CommandError("syntax error")
    return COLOURS[colour.lower()]


def whole_numbers(*texts: str) -> list[int]:
    """The whole numbers that `texts` write. Raises CommandError if one is not a number of at most nine digits."""
    if not all(text.isascii() and text.isdigit() and len(text) <= LONGEST_ROW for text in texts):
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
