"""The words that positions are made of, and the mark of a rule.

A position is two int64 words `(own, opp)`, seen by the player to move. A rule is a pure function of words made of
`& | ^ ~ << >> + - *` and comparisons, without branches, so that the same function runs compiled (numba), on torch
tensors (any device) and on numpy arrays.

Two things to watch: `>>` on a negative int64 drags the sign bit in, so mask after it; and a mask with bit 63 set
is written as a negative int.
"""

from collections.abc import Callable
from typing import Any, TypeVar

Word = Any
"""An int64: a number inside compiled code, or a tensor or array of dtype int64."""

RuleFunction = TypeVar("RuleFunction", bound=Callable[..., Any])

RULES: list[Callable[..., Any]] = []
"""Every function marked with `rule`, in the order of import; `selfplay.compiled` lets numba call them."""


def rule(function: RuleFunction) -> RuleFunction:
    """Mark `function` as a rule. It stays plain Python, so a game can be imported without importing a compiler."""
    RULES.append(function)
    return function
