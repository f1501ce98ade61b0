"""Words as numbers (`WordInt`) and on torch tensors (`WordBatch`), with the operators of rules.

In compiled code they are of `selfplay.compute.compiled_word_type.WordType`. Everywhere, results wrap around at 64 K
bits, `>>` fills with zeros, and no word is negative.
"""

import operator
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import Any

import torch
from torch import Tensor

PART_BITS = 64
"""Words are stored in parts of this many bits."""


def parts_of_bits(bits: int) -> int:
    """K, the number of parts of a word of this many bits."""
    return -(-bits // PART_BITS)


LARGEST = (1 << (PART_BITS - 1)) - 1
DIGIT_BITS = PART_BITS // 2
DIGIT = (1 << DIGIT_BITS) - 1


def parts_of(number: int, parts: int) -> list[int]:
    """The K parts of a word as signed integers, the lowest first."""
    unsigned = ((int(number) >> (PART_BITS * k)) & ((1 << PART_BITS) - 1) for k in range(parts))
    return [part - (1 << PART_BITS) if part > LARGEST else part for part in unsigned]


def fitting(number: int, num_parts: int) -> int:
    """The same number. Raises OverflowError if it has more bits than a word of K parts."""
    if number.bit_length() > PART_BITS * num_parts:
        raise OverflowError(f"{number} has more than {PART_BITS * num_parts} bits")
    return number


def _wrapping(name: str) -> Any:
    """The operator of int with this name, whose result is a word."""
    operation = getattr(int, name)

    def method(self: "WordInt", *others: Any) -> Any:
        if not all(isinstance(other, int) for other in others):
            return NotImplemented
        num_parts = max(getattr(word, "num_parts", 1) for word in (self, *others))
        return WordInt(operation(self, *(fitting(other, num_parts) for other in others)), num_parts)

    return method


def _comparing(name: str) -> Any:
    operation = getattr(int, name)

    def method(self: "WordInt", other: Any) -> Any:
        if not isinstance(other, int):
            return NotImplemented
        is_word = isinstance(other, WordInt)
        return operation(self, other if is_word else WordInt(fitting(other, self.num_parts), self.num_parts))

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
        word = super().__new__(cls, int(value) & ((1 << PART_BITS * num_parts) - 1))
        word.num_parts = num_parts
        return word

    __and__, __or__, __xor__, __add__, __sub__, __mul__, __lshift__, __rshift__, __invert__, __neg__ = (
        _wrapping(f"__{name}__")
        for name in ["and", "or", "xor", "add", "sub", "mul", "lshift", "rshift", "invert", "neg"]
    )
    __rand__, __ror__, __rxor__, __radd__, __rsub__, __rmul__, __rlshift__ = (
        _wrapping(f"__{name}__") for name in ["rand", "ror", "rxor", "radd", "rsub", "rmul", "rlshift"]
    )
    __eq__, __ne__, __lt__, __le__, __gt__, __ge__ = (
        _comparing(f"__{name}__") for name in ["eq", "ne", "lt", "le", "gt", "ge"]
    )
    __hash__ = int.__hash__

    def __repr__(self) -> str:
        return f"WordInt({int(self)}, {self.num_parts})"

    def __getnewargs__(self) -> Any:
        return int(self), self.num_parts

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, arguments: Any = (), options: Any = None) -> Any:
        """The result of an operator whose other operand is a tensor of numbers."""
        return combined(function, arguments)


def word_of_parts(parts: Iterable[int]) -> WordInt:
    """The word with these parts, the lowest first."""
    unsigned = [int(part) & ((1 << PART_BITS) - 1) for part in parts]
    return WordInt(sum(part << (PART_BITS * k) for k, part in enumerate(unsigned)), len(unsigned))


class WordBatch:
    """A batch of words as K int64 tensors, the lowest part first. Results wrap around at 64 K bits."""

    def __init__(self, parts: Iterable[Tensor]) -> None:
        self.parts = list(parts)
        self.num_parts = len(self.parts)

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, arguments: Any = (), options: Any = None) -> Any:
        """The result of an operator whose first operand is a tensor of numbers."""
        return combined(function, arguments)

    def _parts_of(self, other: Any) -> Sequence[Any]:
        """The parts of another operand, tensors or ints; numbers keep their sign."""
        if isinstance(other, WordBatch):
            return other.parts
        if isinstance(other, Tensor):
            return extended(other, self.num_parts).parts
        if isinstance(other, int):
            return parts_of(fitting(other, self.num_parts), self.num_parts)
        raise TypeError(f"a word and a {type(other).__name__} have no common operators")

    def _each(self, other: Any, operation: Callable[[Tensor, Any], Tensor]) -> "WordBatch":
        return WordBatch(map(operation, self.parts, self._parts_of(other)))

    def __and__(self, other: Any) -> "WordBatch":
        return self._each(other, torch.bitwise_and)

    def __or__(self, other: Any) -> "WordBatch":
        return self._each(other, torch.bitwise_or)

    def __xor__(self, other: Any) -> "WordBatch":
        return self._each(other, torch.bitwise_xor)

    def __invert__(self) -> "WordBatch":
        return WordBatch(~part for part in self.parts)

    def __add__(self, other: Any) -> "WordBatch":
        return self._with_carry(other, torch.add, lambda one, other, total: (one & other) | ((one | other) & ~total))

    def __sub__(self, other: Any) -> "WordBatch":
        return self._with_carry(other, torch.sub, lambda one, other, total: (~one & other) | ((~one | other) & total))

    def _with_carry(self, other: Any, operation: Any, carry_of: Any) -> "WordBatch":
        """`carry_of` gives it in the highest bit (Warren, Hacker's Delight, section 2-16)."""
        one, others = self.parts[0], self._parts_of(other)
        totals = [operation(one, others[0])]
        for k in range(1, self.num_parts):
            carry = logical_shift(carry_of(one, others[k - 1], totals[-1]), PART_BITS - 1)
            one = self.parts[k]
            totals.append(operation(operation(one, others[k]), carry))
        return WordBatch(totals)

    def __neg__(self) -> "WordBatch":
        return ~self + 1

    def __rsub__(self, other: Any) -> "WordBatch":
        return (-self).__add__(other)

    def __mul__(self, other: Any) -> "WordBatch":
        is_flag = isinstance(other, Tensor) and other.dtype == torch.bool  # whether the words count, as often in rules
        if is_flag or self.num_parts == 1:
            return WordBatch(part * other for part in self.parts) if is_flag else self._each(other, torch.mul)
        columns: list[Any] = [0] * (2 * self.num_parts + 1)
        others = digits_of(self._parts_of(other))
        for place, digit in enumerate(digits_of(self.parts)):
            for other_place, other_digit in enumerate(others[: len(others) - place], start=place):
                product = digit * other_digit
                columns[other_place] = columns[other_place] + (product & DIGIT)
                columns[other_place + 1] = columns[other_place + 1] + logical_shift(product, DIGIT_BITS)
        for place in range(len(others)):
            columns[place + 1] = columns[place + 1] + (columns[place] >> DIGIT_BITS)
        digits = [column & DIGIT for column in columns[:-1]]
        return WordBatch(low | (high << DIGIT_BITS) for low, high in zip(digits[::2], digits[1::2], strict=True))

    __rand__, __ror__, __rxor__, __radd__, __rmul__ = __and__, __or__, __xor__, __add__, __mul__

    def __rshift__(self, by: Any) -> "WordBatch":
        """With zeros from the left."""
        return self._shifted(by, 1, logical_shift, left_shift)

    def __lshift__(self, by: Any) -> "WordBatch":
        return self._shifted(by, -1, left_shift, logical_shift)

    def __rlshift__(self, other: Any) -> "WordBatch":
        return self._each(other, lambda part, value: torch.zeros_like(part) | value) << self

    def _shifted(self, by: Any, step: int, shift: Any, shift_back: Any) -> "WordBatch":
        """Each part is made of the bits of two others: those `whole` and `whole + 1` steps away."""
        by = by.parts[0] if isinstance(by, WordBatch) else by
        if self.num_parts == 1:
            return WordBatch([shift(self.parts[0], by)])
        whole, rest = by // PART_BITS, by % PART_BITS

        def part_at(place: Any) -> Tensor:
            if isinstance(place, int):
                return self.parts[place] if 0 <= place < self.num_parts else torch.zeros_like(self.parts[0])
            found = torch.zeros_like(self.parts[0] + place)
            for number, part in enumerate(self.parts):
                found = torch.where(place == number, part, found)
            return found

        # The bits that come from the farther part are shifted in two steps, because a shift by 64 is undefined.
        return WordBatch(
            shift(part_at(k + step * whole), rest)
            | shift_back(shift_back(part_at(k + step * (whole + 1)), PART_BITS - 1 - rest), 1)
            for k in range(self.num_parts)
        )

    def __eq__(self, other: object) -> Tensor:  # type: ignore[override]
        are_equal: Tensor = reduce(torch.bitwise_and, map(operator.eq, self.parts, self._parts_of(other)))
        return are_equal

    def __ne__(self, other: object) -> Tensor:  # type: ignore[override]
        differ: Tensor = reduce(torch.bitwise_or, map(operator.ne, self.parts, self._parts_of(other)))
        return differ

    def __lt__(self, other: Any) -> Tensor:
        return _is_less(self.parts, self._parts_of(other))

    def __ge__(self, other: Any) -> Tensor:
        return torch.bitwise_not(self < other)

    def __gt__(self, other: Any) -> Tensor:
        return _is_less(self._parts_of(other), self.parts)

    def __le__(self, other: Any) -> Tensor:
        return torch.bitwise_not(self > other)

    def sum_of_parts(self, function: Callable[[Tensor], Tensor]) -> Tensor:
        """The sum of what `function` gives for the parts."""
        return reduce(torch.add, map(function, self.parts))


def extended(numbers: Tensor, num_parts: int) -> WordBatch:
    """Numbers as words of K parts; -1 is the word with all bits set."""
    low = numbers.to(torch.int64)
    return WordBatch([low, *[low >> (PART_BITS - 1)] * (num_parts - 1)])


def digits_of(parts: Sequence[Any]) -> list[Any]:
    """The 2 K halves of parts, from 0 to 2**32 - 1."""
    return [half for part in parts for half in (part & DIGIT, (part >> DIGIT_BITS) & DIGIT)]


def _is_less(ones: Sequence[Any], others: Sequence[Any]) -> Tensor:
    """The order without a sign is that of numbers whose sign bits are exchanged."""
    found: Any = False
    for one, other in zip(ones, others, strict=True):
        is_less = (one ^ ~LARGEST) < (other ^ ~LARGEST)
        found = is_less if found is False else is_less | ((one == other) & found)
    return found  # type: ignore[no-any-return]


OPERATORS = {name: getattr(operator, name) for name in ("add", "sub", "mul", "eq", "ne", "lt", "le", "gt", "ge")}
OPERATORS |= {
    name: getattr(operator, f"__{operation}__")
    for operation in ("and", "or", "xor")
    for name in (f"bitwise_{operation}", f"__{operation}__", f"__r{operation}__")
}
OPERATORS |= {name: lambda one, other: other - one for name in ("rsub", "__rsub__")}
"""The operators on words by the names of torch's functions."""


def combined(function: Any, operands: Sequence[Any]) -> Any:
    """The operator that is torch's `function` on a tensor of numbers and a word, in either order."""
    operation = OPERATORS.get(function.__name__)
    if operation is None:
        raise TypeError(f"words have no {function.__name__}")
    parts = next(operand.num_parts for operand in operands if isinstance(operand, WordInt | WordBatch))
    one, other = (extended(operand, parts) if isinstance(operand, Tensor) else operand for operand in operands)
    return operation(one, other)


def logical_shift(part: Tensor, by: int | Tensor) -> Tensor:
    """`part >> by` with zeros from the left; `by` in [0, 63]."""
    if isinstance(by, int):
        return (part >> by) & (LARGEST >> (by - 1)) if by else part
    return (part >> by) & ~((-1 << (PART_BITS - 1 - by)) << 1)


def left_shift(part: Tensor, by: int | Tensor) -> Tensor:
    return part << by
