"""Words as numbers, with the operators of rules.

In compiled code they are of `selfplay.compute.compiled_word_type.WordType`. Everywhere, results wrap around at 64 K
bits, `>>` fills with zeros, and no word is negative.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np

PART_BITS = 64
"""Words are stored in parts of this many bits."""


def parts_of_bits(bits: int) -> int:
    """K, the number of parts of a word of this many bits."""
    return -(-bits // PART_BITS)


LARGEST = (1 << (PART_BITS - 1)) - 1

NUMBERS = (int, np.integer)


@cache
def largest_word(num_parts: int) -> int:
    """The word of K parts in which every bit is set."""
    return (1 << PART_BITS * num_parts) - 1


def word_parts(number: int, parts: int) -> list[int]:
    """The K parts of a word as signed integers, the lowest first."""
    unsigned = ((int(number) >> (PART_BITS * k)) & largest_word(1) for k in range(parts))
    return [part - (1 << PART_BITS) if part > LARGEST else part for part in unsigned]


def fitting(number: int, num_parts: int) -> int:
    """The same number. Raises OverflowError for one that cannot meet a word of K parts in compiled code.

    Numbers have 64 bits there, and words of more parts take them with their sign.
    """
    most = LARGEST if num_parts > 1 else 2 * LARGEST + 1
    if isinstance(number, WordInt) or -LARGEST - 1 <= number <= most:
        return number
    raise OverflowError(f"{number:#x} has more than the 64 bits of a number; shift a word: word_of([0], squares) << n")


def _wrapping(name: str) -> Callable[[Any, Any], "WordInt"]:
    """The operator of int with this name and two operands, whose result is a word."""
    operation, new = getattr(int, name), int.__new__

    # Written out for speed: rules in plain Python spend most of their time here.
    def method(self: "WordInt", other: Any) -> Any:
        num_parts = self.num_parts
        if isinstance(other, WordInt):
            if other.num_parts > num_parts:
                num_parts = other.num_parts
        elif type(other) is not int or not -LARGEST <= other <= LARGEST:
            if not isinstance(other, NUMBERS):
                return NotImplemented
            other = fitting(int(other), num_parts)
        word = new(WordInt, operation(self, other) & largest_word(num_parts))
        word.num_parts = num_parts
        return word

    return method


def _comparing(name: str) -> Callable[[Any, Any], bool]:
    operation = getattr(int, name)

    def method(self: "WordInt", other: Any) -> Any:
        if type(other) is WordInt or (type(other) is int and 0 <= other <= LARGEST):
            return operation(self, other)
        if not isinstance(other, NUMBERS):
            return NotImplemented
        if not isinstance(other, WordInt) and int(other).bit_length() <= PART_BITS * self.num_parts:
            other = WordInt(int(other), self.num_parts)
        return operation(self, other)

    return method


class WordInt(int):
    """A word as a number: a constant of rules, or the word of a single match.

    Results wrap around at its width, `>>` fills with zeros, and comparisons are without a sign.

    Args:
        value: any integer; its lowest bits count.
        num_parts: K, the number of parts of 64 bits.
    """

    num_parts: int

    def __new__(cls, value: int, num_parts: int) -> "WordInt":
        word = int.__new__(cls, int(value) & largest_word(num_parts))
        word.num_parts = num_parts
        return word

    __and__, __or__, __xor__, __add__, __sub__, __mul__, __lshift__, __rshift__ = (
        _wrapping(f"__{name}__") for name in ["and", "or", "xor", "add", "sub", "mul", "lshift", "rshift"]
    )
    __rand__, __ror__, __rxor__, __radd__, __rsub__, __rmul__, __rlshift__ = (
        _wrapping(f"__{name}__") for name in ["rand", "ror", "rxor", "radd", "rsub", "rmul", "rlshift"]
    )
    __eq__, __ne__, __lt__, __le__, __gt__, __ge__ = (
        _comparing(f"__{name}__") for name in ["eq", "ne", "lt", "le", "gt", "ge"]
    )
    __hash__ = int.__hash__

    def __invert__(self) -> "WordInt":
        return WordInt(int.__invert__(self), self.num_parts)

    def __neg__(self) -> "WordInt":
        return WordInt(int.__neg__(self), self.num_parts)

    def __repr__(self) -> str:
        return f"WordInt({int(self)}, {self.num_parts})"

    def __getnewargs__(self) -> Any:
        return int(self), self.num_parts


def word_of_parts(parts: Iterable[int]) -> WordInt:
    """The word with these parts, the lowest first."""
    unsigned = [int(part) & largest_word(1) for part in parts]
    return WordInt(sum(part << (PART_BITS * k) for k, part in enumerate(unsigned)), len(unsigned))
