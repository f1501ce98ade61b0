"""Words, and the decorators that mark rules.

A rule is a pure function of positions (`selfplay.compute.positions`), words and numbers: assignments, `if`, `while`,
`for`, `break`, `return`, `& | ^ ~ << >> + - * //`, comparisons, tuples, and calls of other rules. The same function
runs compiled (numba) over a batch, inside compiled searches, and uncompiled on a single position.

A word has as many bits as the game needs, in K parts of 64 bits: one integer of 64 K bits in compiled code
(`selfplay.compute.compiled_word_type`), otherwise a `WordInt` (`selfplay.compute.words`). `>>` fills with zeros, and no
word is negative. Numbers that meet a word keep their sign: -1 is the word in which all bits are set.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar
from weakref import WeakSet

from numba.extending import register_jitable

from selfplay.code_identity.packages import describe_in_full
from selfplay.compute.words import PART_BITS, WordInt, parts_of_bits

Word = int
"""A word as rules take it: a `WordInt`, or an integer in compiled code."""

Bits = Any
"""A word or a number of the program's own compiled functions, some of which also take arrays or tensors of them."""

RuleFunction = TypeVar("RuleFunction", bound=Callable[..., Any])

RULES = set[Callable[..., Any]]()
"""All functions marked with `rule`."""

COMPILED = WeakSet[Callable[..., Any]]()
"""All functions whose own code is compiled."""


def rule(function: RuleFunction) -> RuleFunction:
    """Mark `function` as a rule, which compiled code can call. It stays plain Python elsewhere."""
    RULES.add(function)
    return callable_from_compiled(function)


def callable_from_compiled(function: RuleFunction) -> RuleFunction:
    """Let compiled code call a plain function.

    Without the wrapper for callers in C, which is never used and takes a sixth of the time of compiling.
    """
    register_jitable(no_cfunc_wrapper=True)(noted_as_compiled(function))
    return function


def noted_as_compiled(function: RuleFunction) -> RuleFunction:
    """The function, whose own code may be compiled from now on."""
    describe_in_full(str(function.__module__))  # None for code without a module
    COMPILED.add(function)
    return function


def word_of(bits: Iterable[int], word_bits: int = PART_BITS) -> Word:
    """The word of `word_bits` bits with these bits set, as a constant of rules.

    Raises TypeError if `bits` is a number.
    """
    if isinstance(bits, int):
        raise TypeError(f"word_of takes the numbers of bits, such as word_of([{bits}], {word_bits})")
    return WordInt(sum(1 << int(bit) for bit in set(bits)), parts_of_bits(word_bits))


def bit_count(word: Bits) -> int:
    """The number of set bits."""
    return word.bit_count() if isinstance(word, WordInt) else bit_count_of_64(word)


@rule
def bit_count_of_64(word: Bits) -> Any:
    """`bit_count` of an int64 (Warren, Hacker's Delight, section 5-1)."""
    pairs = word - ((word >> 1) & 0x5555555555555555)
    fours = (pairs & 0x3333333333333333) + ((pairs >> 2) & 0x3333333333333333)
    eights = (fours + (fours >> 4)) & 0x0F0F0F0F0F0F0F0F
    # Compilers recognize this form and emit one instruction. numpy scalars warn when the product overflows.
    return ((eights * 0x0101010101010101) >> 56) & 0x7F


RULES.add(bit_count)
