"""The words that positions are made of, and the mark of a rule.

A position is two int64 words `(own, opp)`, seen by the player to move. A rule is a pure function of words made of
`& | ^ ~ << >> + - *` and comparisons, without branches, so that the same function runs compiled (numba), on torch
tensors (any device) and on numpy arrays.

Two things to watch: `>>` on a negative int64 drags the sign bit in, so mask after it; and a mask with bit 63 set
is written as a negative int.
"""

import hashlib
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

Word = Any
"""An int64: a number inside compiled code, or a tensor or array of dtype int64."""

RuleFunction = TypeVar("RuleFunction", bound=Callable[..., Any])

RULES: list[Callable[..., Any]] = []
"""Every function marked with `rule`, in the order of import; `selfplay.compute.compilation` lets numba call them."""


def rule(function: RuleFunction) -> RuleFunction:
    """Mark `function` as a rule. It stays plain Python, so a game can be imported without importing a compiler."""
    RULES.append(named_by_closure(function))
    return function


def scalar_rule(function: RuleFunction) -> RuleFunction:
    """Mark what is like a rule but branches, or loops until done: it runs compiled and on single numbers only."""
    RULES.append(named_by_closure(function))
    return function


def named_by_closure(function: RuleFunction) -> RuleFunction:
    """Add to the name of a function what it encloses, so that the functions that a factory makes have different names.

    numba names machine code after the function and its number among those compiled in a process. Of two functions that
    agree in both, compiled in two processes and cached, a third process would run one in the place of the other.
    """
    if function.__closure__:
        enclosed = repr([_identity(cell.cell_contents) for cell in function.__closure__])
        function.__qualname__ += f"_{hashlib.sha256(enclosed.encode()).hexdigest()[:16]}"
    return function


def _identity(enclosed: Any) -> Any:
    """What tells apart what functions enclose, and is the same in every process."""
    if isinstance(enclosed, tuple):
        return [_identity(item) for item in enclosed]
    if enclosed is None or isinstance(enclosed, bool | int | float | str):
        return enclosed
    function = getattr(enclosed, "py_func", enclosed)
    cells = [_identity(cell.cell_contents) for cell in function.__closure__ or ()]
    return [function.__module__, function.__qualname__, function.__code__.co_firstlineno, cells]


def word_of(bits: Iterable[int]) -> int:
    """The word in which these bits are set, as a signed number."""
    word = sum(1 << bit for bit in set(bits))
    return word - (1 << 64) if word >> 63 else word


@rule
def bit_count(word: Word) -> Word:
    """The number of bits that are set (Warren, Hacker's Delight, section 5-1)."""
    pairs = word - ((word >> 1) & 0x5555555555555555)
    fours = (pairs & 0x3333333333333333) + ((pairs >> 2) & 0x3333333333333333)
    eights = (fours + (fours >> 4)) & 0x0F0F0F0F0F0F0F0F
    # Compilers know this form, and make one instruction of it. numpy's scalars warn where the product wraps around.
    return ((eights * 0x0101010101010101) >> 56) & 0x7F
