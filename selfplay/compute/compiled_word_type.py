"""The type of words in compiled code: one integer of 64 K bits, with the operators of rules.

Numbers of other types that meet a word keep their sign, so -1 is the word in which all bits are set. `>>` fills with
zeros, and comparisons are without a sign. Words are kept in arrays of records of K int64s (`word_dtype`).
"""

import operator
from collections.abc import Callable
from functools import cache
from typing import Any
from weakref import WeakSet

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import imputils
from numba.core.typeconv.castgraph import Conversion
from numba.core.typing import templates
from numba.extending import lower_builtin, models, register_model, type_callable, typeof_impl

from selfplay.compute.bit_algebra import bit_count
from selfplay.compute.words import PART_BITS, WordInt

lower_cast: Any = imputils.lower_cast
lower_constant: Any = imputils.lower_constant
signature: Any = templates.signature
infer_global: Any = templates.infer_global
lower: Any = lower_builtin
ANYTHING: Any = types.VarArg(types.Any)  # type: ignore[no-untyped-call]
PART = ir.IntType(PART_BITS)
NUMBERS = types.Integer, types.Boolean


GENERAL = "general_parts"
"""The name of the parts of general words in arrays."""


class WordType(types.Type):
    """An unsigned integer of K parts of 64 bits.

    `is_general`: it is a packed position of the general game (`selfplay.games.general_rules`), whose last part is the
    address of a table; the first number there is that of the parts which a position of the game has.
    """

    def __init__(self, num_parts: int, *, is_general: bool = False) -> None:
        self.num_parts, self.is_general = num_parts, is_general
        super().__init__(name=f"{'General' if is_general else ''}Word({num_parts})")

    def can_convert_from(self, typing_context: Any, other: Any) -> Any:
        """A number, or a word of fewer parts, becomes a word like this where both occur, such as in branches."""
        return Conversion.safe if _joined(self, other) == self else None

    def unify(self, typing_context: Any, other: Any) -> Any:
        return _joined(self, other)


@cache
def word_type(num_parts: int, *, is_general: bool = False) -> WordType:
    """The type of words of this many parts."""
    return WordType(num_parts, is_general=is_general)


@cache
def word_dtype(num_parts: int, *, is_general: bool = False) -> "np.dtype[Any]":
    """That of a word in arrays for compiled code."""
    return np.dtype([(GENERAL if is_general else "parts", np.int64, (num_parts,))], align=True)


def define(decorator: Any, definition: Any) -> None:
    """Use a decorator of numba that has no types."""
    decorator(definition)


REPLACED = WeakSet[Any]()
"""Functions and classes whose own code is not compiled, see `in_compiled_code`."""


def in_compiled_code(function: Any, result: Callable[..., Any], emit: Callable[..., Any]) -> None:
    """Define what a function, which stays plain Python elsewhere, does in compiled code.

    Args:
        result: from the types of the arguments to that of what it gives.
        emit: (context, builder, signature, arguments) to the instructions for it.
    """
    REPLACED.add(function)
    define(type_callable(function), lambda context: result)
    define(lower(function, ANYTHING), emit)


def integer(kind: WordType) -> Any:
    """What words of this type are for LLVM."""
    return ir.IntType(PART_BITS * kind.num_parts)


class _WordModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: WordType) -> None:
        super().__init__(manager, kind, integer(kind))  # type: ignore[no-untyped-call]


define(register_model(WordType), _WordModel)
define(typeof_impl.register(WordInt), lambda constant, context: word_type(constant.num_parts))
define(lower_constant(WordType), lambda context, builder, kind, constant: ir.Constant(integer(kind), int(constant)))


def _as_word(context: Any, builder: Any, kind: Any, word: WordType, value: Any) -> Any:
    """Convert a number, which keeps its sign, or a word of fewer parts."""
    if isinstance(kind, types.IntegerLiteral):
        return ir.Constant(integer(word), kind.literal_value)
    return (builder.sext if getattr(kind, "signed", False) else builder.zext)(value, integer(word))


for kind in (types.Integer, types.IntegerLiteral, types.Boolean, WordType):
    define(lower_cast(kind, WordType), _as_word)


# ---------------------------------------------------------------------- operators


def _joined(*kinds: Any) -> WordType | None:
    """The type in which operands are computed, if one of them is a word: that of the widest word."""
    words = [kind for kind in kinds if isinstance(kind, WordType)]
    are_words = all(isinstance(kind, (WordType, *NUMBERS)) for kind in kinds)
    return max(words, key=lambda kind: kind.num_parts, default=None) if are_words else None


def _operator(function: Any, result: Callable[[WordType], Any], emit: Callable[..., Any]) -> None:
    """Define an operator of one or two operands, at least one of them a word. `emit`: (builder, *operands)."""

    def generic(self: Any, operands: Any, named: Any) -> Any:
        kind = _joined(*operands)
        return None if kind is None else signature(result(kind), *operands)

    def lowered(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind, operands = _joined(*signature.args), zip(arguments, signature.args, strict=True)
        return emit(builder, *(context.cast(builder, value, its_kind, kind) for value, its_kind in operands))

    # What is for a target is asked before numba's own operators, each of which takes a while to refuse a word.
    members = {"key": function, "generic": generic, "metadata": {"target": "cpu"}}
    template: Any = type(f"{function.__name__}_of_words", (templates.AbstractTemplate,), members)
    infer_global(function, types.Function(template))
    with_numbers = [pair for kind in NUMBERS for pair in ((WordType, kind), (kind, WordType))]
    for kinds in ((WordType,), (WordType, WordType), *with_numbers):
        define(lower(function, *kinds), lowered)


def _instruction(name: str) -> Callable[..., Any]:
    return lambda builder, *operands: getattr(builder, name)(*operands)


def _comparison(sign: str) -> Callable[..., Any]:
    return lambda builder, *operands: builder.icmp_unsigned(sign, *operands)


INSTRUCTIONS = {"and": "and_", "or": "or_", "lshift": "shl", "rshift": "lshr", "invert": "not_"}
"""By operator, the instructions that have another name."""

for name in ("and", "or", "xor", "add", "sub", "mul", "lshift", "rshift", "invert", "neg"):
    for function in filter(None, (getattr(operator, f"__{form}{name}__", None) for form in ("", "i"))):
        _operator(function, lambda kind: kind, _instruction(INSTRUCTIONS.get(name, name)))
for name, sign in {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}.items():
    _operator(getattr(operator, name), lambda kind: types.boolean, _comparison(sign))
_operator(bool, lambda kind: types.boolean, lambda builder, word: builder.icmp_unsigned("!=", word, word.type(0)))


def _count_ones(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    (kind,), (word,) = signature.args, arguments
    word = word if isinstance(kind, WordType) else context.cast(builder, word, kind, types.int64)
    return builder.trunc(builder.ctpop(word), PART)


in_compiled_code(bit_count, lambda word: types.int64, _count_ones)
