"""Words that remember the set bits that a shift has moved beyond their width, for the checks of games."""

import sys
from types import CodeType
from typing import Any

from selfplay.compute.words import PART_BITS, WordInt


class TracedWord(WordInt):
    """A word, and the bits that a shift has lost and no mask has taken away since."""

    lost: int
    """The lost bits in their places, which are beyond the width; 0: none."""
    place: tuple[CodeType, int] | None
    """The code and the line of the shift."""

    def __lshift__(self, other: Any) -> "TracedWord":
        moved = (int(self) | self.lost) << int(other)
        beyond = moved >> PART_BITS * self.num_parts << PART_BITS * self.num_parts
        frame = sys._getframe(1)
        place = self.place or ((frame.f_code, frame.f_lineno) if beyond else None)
        return _traced(WordInt(moved, self.num_parts), beyond, place)


def traced(position: Any) -> Any:
    """A position whose boards are traced words."""
    values = (_traced(value, 0, None) if isinstance(value, WordInt) else value for value in position)
    return tuple.__new__(type(position), values)


def _traced(word: WordInt, lost: int, place: tuple[CodeType, int] | None) -> TracedWord:
    found = int.__new__(TracedWord, word)
    found.num_parts, found.lost, found.place = word.num_parts, lost, place if lost else None
    return found


def _kept(name: str, one: int, other: int) -> int:
    """The lost bits of what an operator gives: those of both sides of | and ^, and of & if both have them."""
    if name in ("or", "xor"):
        return one | other
    return one & other if name == "and" else 0


def _tracing(name: str, method: str) -> Any:
    plain = getattr(WordInt, method)

    def trace(self: TracedWord, *others: Any) -> Any:
        word = plain(self, *others)
        if not isinstance(word, WordInt):
            return word
        # A number with a sign has all higher bits.
        lost = [one.lost if isinstance(one, TracedWord) else -1 if one < 0 else 0 for one in others]
        place = next((one.place for one in (self, *others) if isinstance(one, TracedWord) and one.place), None)
        return _traced(word, _kept(name, self.lost, lost[0]) if lost else 0, place)

    return trace


for name in ("and", "or", "xor", "add", "sub", "mul"):
    for method in (f"__{name}__", f"__r{name}__"):
        setattr(TracedWord, method, _tracing(name, method))
for method in ("__rshift__", "__invert__", "__neg__"):
    setattr(TracedWord, method, _tracing(method, method))
