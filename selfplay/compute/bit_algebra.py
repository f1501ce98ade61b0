"""Words, and the decorators that mark rules.

A rule is a pure function of positions (`selfplay.compute.positions`), words and numbers: assignments, `if`, `while`,
`for`, `break`, `return`, `& | ^ ~ << >> + - * //`, comparisons, and calls of other rules. The same function runs
compiled (numba) over a batch, inside compiled searches, and uncompiled on a single position.

A word has as many bits as the game needs, in K parts of 64 bits: one integer of 64 K bits in compiled code
(`selfplay.compute.compiled_word_type`), otherwise a `WordInt` (`selfplay.compute.words`). `>>` fills with zeros, and no
word is negative. Numbers that meet a word keep their sign: -1 is the word in which all bits are set.
"""

import hashlib
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
from numba.extending import register_jitable

from selfplay.compute.words import PART_BITS, WordInt, parts_of_bits

Word = int
"""A word as rules take it: a `WordInt`, or an integer in compiled code."""

Bits = Any
"""A word or a number of the program's own compiled functions, some of which also take arrays or tensors of them."""

RuleFunction = TypeVar("RuleFunction", bound=Callable[..., Any])

RULES = set[Callable[..., Any]]()
"""All functions marked with `rule`."""


def rule(function: RuleFunction) -> RuleFunction:
    """Mark `function` as a rule, which compiled code can call. It stays plain Python elsewhere."""
    RULES.add(function)
    return callable_from_compiled(function)


def callable_from_compiled(function: RuleFunction) -> RuleFunction:
    """Let compiled code call a plain function.

    Without the wrapper for callers in C, which is never used and takes a sixth of the time of compiling.
    """
    register_jitable(no_cfunc_wrapper=True)(named_by_closure(function))
    return function


def named_by_closure(function: RuleFunction) -> RuleFunction:
    """Add a hash of the closure to the name of a function, so that functions made by one factory have different names.

    numba names machine code after the function and its number among those compiled in the process. If two functions
    agreed in both but were compiled and cached by two processes, a third process could run one instead of the other.
    """
    if function.__closure__:
        enclosed = repr(_identities_of_enclosed(function))
        function.__qualname__ += f"_{hashlib.sha256(enclosed.encode()).hexdigest()[:16]}"
    return function


def identity(enclosed: Any) -> Any:
    """A description of a function, or of an object that one encloses, that is the same in every process.

    Two functions with the same description do the same, apart from the functions that they call by a global name.
    """
    if isinstance(enclosed, tuple):
        return [identity(item) for item in enclosed]
    if enclosed is None or isinstance(enclosed, bool | int | float | str):
        return enclosed  # the text of a WordInt contains its width
    if isinstance(enclosed, type):  # a class of positions
        return [enclosed.__module__, enclosed.__qualname__, repr(getattr(enclosed, "places", None))]
    if isinstance(enclosed, np.ndarray):
        return [enclosed.dtype.str, enclosed.shape, enclosed.tobytes().hex()]
    function = getattr(enclosed, "py_func", enclosed)
    code, cells = function.__code__, _identities_of_enclosed(function)
    # Not sets, whose order differs between processes, and not code, whose text contains an address.
    constants = [constant for constant in code.co_consts if isinstance(constant, bool | int | float | str | tuple)]
    return [function.__module__, function.__qualname__, code.co_firstlineno, code.co_code.hex(), constants, cells]


def _identities_of_enclosed(function: Any) -> list[Any]:
    found = []
    for cell in function.__closure__ or ():
        try:
            enclosed = cell.cell_contents
        except ValueError:  # its own name, while a decorator is applied to it
            enclosed = function
        is_itself = getattr(enclosed, "py_func", enclosed) is function
        found.append("itself" if is_itself else identity(enclosed))
    return found


def word_of(bits: Iterable[int], word_bits: int = PART_BITS) -> Word:
    """The word of `word_bits` bits with these bits set, as a constant of rules."""
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
