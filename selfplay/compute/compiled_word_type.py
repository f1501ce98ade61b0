"""The type of words in compiled code: one integer of 64 K bits, with the operators of rules.

Numbers of other types that meet a word keep their sign, so -1 is the word in which all bits are set. `>>` fills with
zeros, and comparisons are without a sign. Words are kept in arrays of records of K int64s (`word_dtype`).
"""

import operator
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import imputils
from numba.core.typeconv.castgraph import Conversion
from numba.core.typing import templates
from numba.extending import intrinsic, lower_builtin, models, overload, register_model, typeof_impl

from selfplay.compute.bit_algebra import bit_count, bit_count_of_64
from selfplay.compute.words import PART_BITS, WordInt

lower_cast: Any = imputils.lower_cast
lower_constant: Any = imputils.lower_constant
signature: Any = templates.signature
infer_global: Any = templates.infer_global
lower_operator: Any = lower_builtin
PART = ir.IntType(PART_BITS)
NUMBERS = types.Integer, types.Boolean
Typed = tuple[Any, Callable[..., Any]]

QUICKLY_COMPILED: Any = {"no_cfunc_wrapper": True}
"""Without the wrapper for callers in C, which is never used and takes a sixth of the time of compiling."""


class WordType(types.Type):
    """An unsigned integer of K parts of 64 bits."""

    def __init__(self, num_parts: int) -> None:
        self.num_parts = num_parts
        super().__init__(name=f"Word({num_parts})")

    def can_convert_from(self, typing_context: Any, other: Any) -> Any:
        """A number, or a word of fewer parts, becomes a word like this where both occur, such as in branches."""
        return Conversion.safe if _joined(self, other) == self else None

    def unify(self, typing_context: Any, other: Any) -> Any:
        return _joined(self, other)


KINDS = WordType, *NUMBERS


@cache
def word_type(num_parts: int) -> WordType:
    """The type of words of this many parts."""
    return WordType(num_parts)


@cache
def word_dtype(num_parts: int) -> "np.dtype[Any]":
    """That of a word in arrays for compiled code."""
    return np.dtype([("parts", np.int64, (num_parts,))], align=True)


def define(decorator: Any, definition: Any) -> None:
    """Use a decorator of numba that has no types."""
    decorator(definition)


def _integer(kind: WordType) -> Any:
    return ir.IntType(PART_BITS * kind.num_parts)


class _WordModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: WordType) -> None:
        super().__init__(manager, kind, _integer(kind))  # type: ignore[no-untyped-call]


define(register_model(WordType), _WordModel)
define(typeof_impl.register(WordInt), lambda constant, context: word_type(constant.num_parts))
define(lower_constant(WordType), lambda context, builder, kind, constant: ir.Constant(_integer(kind), int(constant)))


# ---------------------------------------------------------------------- conversions


def _word_of_integer(context: Any, builder: Any, kind: Any, word: WordType, value: Any) -> Any:
    return (builder.sext if kind.signed else builder.zext)(value, _integer(word))


def _word_of_literal(context: Any, builder: Any, kind: Any, word: WordType, value: Any) -> Any:
    return ir.Constant(_integer(word), kind.literal_value)


def _wider_word(context: Any, builder: Any, kind: Any, word: WordType, value: Any) -> Any:
    return builder.zext(value, _integer(word))


def _word_of_bool(context: Any, builder: Any, kind: Any, word: WordType, value: Any) -> Any:
    return builder.zext(value, _integer(word))


define(lower_cast(types.Integer, WordType), _word_of_integer)
define(lower_cast(types.IntegerLiteral, WordType), _word_of_literal)
define(lower_cast(types.Boolean, WordType), _word_of_bool)
define(lower_cast(WordType, WordType), _wider_word)


@overload(bool, strict=False)
def _is_set(word: Any) -> Any:
    return (lambda word: word != 0) if isinstance(word, WordType) else None


# ---------------------------------------------------------------------- operators


def _joined(one: Any, other: Any) -> WordType | None:
    """The type in which two operands are computed, if one of them is a word: that of the wider word."""
    if not isinstance(one, KINDS) or not isinstance(other, KINDS):
        return None
    words = [kind for kind in (one, other) if isinstance(kind, WordType)]
    return max(words, key=lambda kind: kind.num_parts, default=None)


def _typed(function: Any, result: Callable[..., Any]) -> None:
    """Let numba know the type of what an operator gives: `result` of those of the operands, None if they have none."""

    def generic(self: Any, operands: Any, named: Any) -> Any:
        found = result(*operands)
        return None if found is None else signature(found, *operands)

    # What is for a target is asked before numba's own operators, each of which takes a while to refuse a word.
    members = {"key": function, "generic": generic, "metadata": {"target": "cpu"}}
    template: Any = type(f"{function.__name__}_of_words", (templates.AbstractTemplate,), members)
    infer_global(function, types.Function(template))


def _operator(functions: Any, result: Callable[[WordType], Any], emit: Callable[[Any, Any, Any], Any]) -> None:
    """Define an operator of two operands, at least one of them a word."""

    def lowered(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind, operands = _joined(*signature.args), zip(arguments, signature.args, strict=True)
        return emit(builder, *(context.cast(builder, value, its_kind, kind) for value, its_kind in operands))

    with_numbers = [pair for kind in NUMBERS for pair in ((WordType, kind), (kind, WordType))]
    for function in functions:
        _typed(function, lambda one, other: None if (kind := _joined(one, other)) is None else result(kind))
        for kinds in ((WordType, WordType), *with_numbers):
            define(lower_operator(function, *kinds), lowered)


def _emit(instruction: str, builder: Any, *operands: Any) -> Any:
    return getattr(builder, instruction)(*operands)


def _emit_comparison(sign: str, builder: Any, one: Any, other: Any) -> Any:
    return builder.icmp_unsigned(sign, one, other)


def _shift(functions: Any, instruction: str) -> None:
    def lowered(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word, by = (
            context.cast(builder, value, kind, signature.return_type)
            for value, kind in zip(arguments, signature.args, strict=True)
        )
        return getattr(builder, instruction)(word, by)

    for function in functions:
        _typed(function, lambda word, by: None if isinstance(by, types.Boolean) else _joined(word, by))
        for kinds in ((WordType, types.Integer), (WordType, WordType), (types.Integer, WordType)):
            define(lower_operator(function, *kinds), lowered)


def _unary(function: Any, instruction: str) -> None:
    def lowered(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return getattr(builder, instruction)(arguments[0])

    _typed(function, lambda word: word if isinstance(word, WordType) else None)
    define(lower_operator(function, WordType), lowered)


for name in ("and", "or", "xor", "add", "sub", "mul"):
    functions = getattr(operator, f"__{name}__"), getattr(operator, f"__i{name}__")
    _operator(functions, lambda kind: kind, partial(_emit, f"{name}_" if name in ("and", "or") else name))
for name, sign in {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}.items():
    _operator((getattr(operator, name),), lambda kind: types.boolean, partial(_emit_comparison, sign))
_shift((operator.lshift, operator.ilshift), "shl")
_shift((operator.rshift, operator.irshift), "lshr")
_unary(operator.invert, "not_")
_unary(operator.neg, "neg")


# ---------------------------------------------------------------------- functions of words


def _count_ones(typing_context: Any, word: Any) -> Typed:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.trunc(builder.ctpop(arguments[0]), PART)

    return types.int64(word), generate


def _trailing_zeros(typing_context: Any, word: Any) -> Typed:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.trunc(builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0)), PART)

    return types.int64(word), generate


def _low_part(typing_context: Any, word: Any) -> Typed:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.trunc(arguments[0], PART)

    return types.int64(word), generate


def _single_bit(typing_context: Any, word: Any, number: Any) -> Typed:
    kind = word if isinstance(word, WordType) else word_type(1)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = context.cast(builder, arguments[1], number, types.int64)
        bit = builder.shl(ir.Constant(PART, 1), builder.and_(place, ir.Constant(PART, PART_BITS - 1)))
        # Each part is chosen, because a shift of several parts by a number goes through memory.
        found, chosen = ir.Constant(_integer(kind), 0), builder.lshr(place, ir.Constant(PART, 6))
        for k in range(kind.num_parts):
            is_here = builder.icmp_unsigned("==", chosen, ir.Constant(PART, k))
            part = builder.zext(builder.select(is_here, bit, ir.Constant(PART, 0)), found.type)
            found = builder.or_(found, builder.shl(part, ir.Constant(found.type, PART_BITS * k)))
        return found

    return kind(word, number), generate


def _as_word(typing_context: Any, number: Any) -> Typed:
    kind = word_type(1)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.cast(builder, arguments[0], number, kind)

    return kind(number), generate


def _pointer(builder: Any, record: Any, kind: WordType) -> Any:
    # The processors that are supported keep the lowest part first.
    return builder.bitcast(record, _integer(kind).as_pointer())


def _read_record(typing_context: Any, record: Any) -> Typed:
    kind = word_type(record.size * 8 // PART_BITS)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_pointer(builder, arguments[0], kind), align=8)

    return kind(record), generate


def _write_record(typing_context: Any, record: Any, word: Any) -> Typed:
    kind = word_type(record.size * 8 // PART_BITS)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        written = context.cast(builder, arguments[1], word, kind)
        builder.store(written, _pointer(builder, arguments[0], kind), align=8)
        return context.get_dummy_value()

    return types.void(record, word), generate


count_ones: Any = intrinsic(_count_ones)
"""(word) to the number of its set bits."""

trailing_zeros: Any = intrinsic(_trailing_zeros)
"""(word) to the number of zero bits below its lowest set bit."""

low_part: Any = intrinsic(_low_part)
"""(word) to its lowest 64 bits as an int64."""

single_bit: Any = intrinsic(_single_bit)
"""(word, number) to the word like it in which only this bit is set."""

word_of_number: Any = intrinsic(_as_word)
"""(number) to it as a word of 64 bits."""

read_record: Any = intrinsic(_read_record)
"""(record of `word_dtype`) to the word in it."""

write_record: Any = intrinsic(_write_record)
"""(record of `word_dtype`, word or number): write it there."""


@overload(bit_count, strict=False, jit_options=QUICKLY_COMPILED)
def _bit_count(word: Any) -> Any:
    return (lambda word: count_ones(word)) if isinstance(word, WordType) else bit_count_of_64
