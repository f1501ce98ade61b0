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


# Written out for speed: the checks of games spend most of their time here.


def _keeping(name: str) -> Any:
    """The operator with this name, `&`, `|` or `^`: lost bits are those of both sides, and of & if both have them."""
    plain, is_and = getattr(WordInt, name), "and" in name

    def trace(self: TracedWord, other: Any) -> Any:
        word = plain(self, other)
        if word is NotImplemented:
            return word
        lost, place = self.lost, self.place
        if isinstance(other, TracedWord):
            others, place = other.lost, place or other.place
        else:
            # A number with a sign has all higher bits.
            others = -1 if other < 0 else 0
        return _traced(word, lost & others if is_and else lost | others, place)

    return trace


def _forgetting(name: str) -> Any:
    """The operator with this name, after which no bits are lost."""
    plain = getattr(WordInt, name)

    def trace(self: TracedWord, *others: Any) -> Any:
        word = plain(self, *others)
        return word if word is NotImplemented else _traced(word, 0, None)

    return trace


for name in ("and", "or", "xor"):
    for method in (f"__{name}__", f"__r{name}__"):
        setattr(TracedWord, method, _keeping(method))
for name in ("add", "sub", "mul"):
    for method in (f"__{name}__", f"__r{name}__"):
        setattr(TracedWord, method, _forgetting(method))
for method in ("__rshift__", "__invert__", "__neg__"):
    setattr(TracedWord, method, _forgetting(method))
