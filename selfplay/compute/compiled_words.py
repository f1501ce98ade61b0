"""Words in compiled code: reading and writing arrays of them, and their parts and bits.

Uncompiled, the functions work on `WordInt` and on numbers too.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.bit_algebra import Bits, Word, bit_count
from selfplay.compute.compilation import Words, part_of_compiled
from selfplay.compute.compiled_word_type import (
    GENERAL,
    PART,
    WordType,
    in_compiled_code,
    integer,
    word_dtype,
    word_type,
)
from selfplay.compute.random_numbers import fold
from selfplay.compute.words import PART_BITS, WordInt, word_of_parts, word_parts


def word_rows(stored: Tensor | NDArray[np.int64], *, is_general: bool = False) -> Words:
    """Stored words (int64[B] or int64[B, K]) as compiled code takes them, in the same memory if they are contiguous."""
    array: NDArray[np.int64] = stored.numpy() if isinstance(stored, Tensor) else stored
    if array.ndim == 1:
        return array.view(word_dtype(1))
    return np.ascontiguousarray(array).view(word_dtype(array.shape[1], is_general=is_general))[:, 0]


def stored_rows(words: Words) -> NDArray[np.int64]:
    """int64[B, K]: the words of an array of such records, in the same memory."""
    (name,) = words.dtype.names or ()
    stored: NDArray[np.int64] = words[name]
    return stored


# ---------------------------------------------------------------------- reading and writing


def read(record: Any) -> Bits:
    """The word in a record of `word_dtype`."""
    return word_of_parts(record["parts"])


def write(record: Any, word: Bits) -> None:
    """Write a word or a number to a record of `word_dtype`."""
    record["parts"] = word_parts(word, len(record["parts"]))


def _type_in(record: Any) -> WordType:
    return word_type(record.size * 8 // PART_BITS, is_general=GENERAL in record.fields)


def _pointer(builder: Any, record: Any, kind: WordType) -> Any:
    # The processors that are supported keep the lowest part first.
    return builder.bitcast(record, integer(kind).as_pointer())


def _emit_read(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.load(_pointer(builder, arguments[0], signature.return_type), align=8)


def _emit_write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind = _type_in(signature.args[0])
    written = context.cast(builder, arguments[1], signature.args[1], kind)
    builder.store(written, _pointer(builder, arguments[0], kind), align=8)
    return context.get_dummy_value()


in_compiled_code(read, _type_in, _emit_read)
in_compiled_code(write, lambda record, word: types.void, _emit_write)


@part_of_compiled
def load(words: Words, i: int) -> Bits:
    """The word in place i."""
    return read(words[i])


@part_of_compiled
def store(words: Words, i: int, word: Bits) -> None:
    """Write a word or a number to place i."""
    write(words[i], word)


@part_of_compiled
def position_of(record: Any) -> Bits:
    """The packed position in the field `position` of a record."""
    return read(record["position"])


@part_of_compiled
def set_position(record: Any, packed: Bits) -> None:
    """Write the field `position` of a record."""
    write(record["position"], packed)


# ---------------------------------------------------------------------- parts and bits


def num_parts(word: Bits) -> int:
    """K, a constant where it is compiled; 1 for a number."""
    return word.num_parts if isinstance(word, WordInt) else 1


def num_position_words(packed: Bits) -> int:
    """W, the number of parts that a packed position of its game has."""
    return num_parts(packed)


def part(word: Bits, k: int) -> Bits:
    """Bits 64 k to 64 k + 63 as an int64; part 0 of a word that holds a number is the number."""
    return np.int64(word_parts(word, k + 1)[k]) if isinstance(word, WordInt) else word


def as_word(number: Any) -> Word:
    """An int64, such as a stored word of at most 64 bits, as a word; `part(word, 0)` is the inverse."""
    return WordInt(number, 1)


def lowest(word: Bits) -> int:
    """The number of the lowest set bit of a word that is not 0."""
    return int(bit_count((word & -word) - 1))


def bit_like(word: Bits, number: int) -> Bits:
    """The word, as wide as `word`, in which only this bit is set."""
    return WordInt(1 << int(number), num_parts(word))


def _parts_of_kind(kind: Any) -> int:
    return kind.num_parts if isinstance(kind, WordType) else 1


def _emit_num_parts(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return ir.Constant(PART, _parts_of_kind(signature.args[0]))


def _emit_position_words(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    (kind,), (packed,) = signature.args, arguments
    if not getattr(kind, "is_general", False):
        return ir.Constant(PART, _parts_of_kind(kind))
    table = builder.trunc(builder.lshr(packed, packed.type(PART_BITS * (kind.num_parts - 1))), PART)
    return builder.load(builder.inttoptr(table, PART.as_pointer()))


def _emit_part(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    (kind, of_number), (word, k) = signature.args, arguments
    if not isinstance(kind, WordType):
        return word
    first = builder.mul(context.cast(builder, k, of_number, kind), word.type(PART_BITS))
    return builder.trunc(builder.lshr(word, first), PART)


def _emit_as_word(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return context.cast(builder, arguments[0], signature.args[0], signature.return_type)


def _emit_lowest(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.trunc(builder.cttz(arguments[0], ir.IntType(1)(0)), PART)


def _emit_bit_like(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    place = context.cast(builder, arguments[1], signature.args[1], types.int64)
    bit = builder.shl(PART(1), builder.and_(place, PART(PART_BITS - 1)))
    # Each part is chosen, because a shift of several parts by a number goes through memory.
    found, chosen = integer(signature.return_type)(0), builder.lshr(place, PART(6))
    for k in range(signature.return_type.num_parts):
        is_here = builder.icmp_unsigned("==", chosen, PART(k))
        chosen_part = builder.zext(builder.select(is_here, bit, PART(0)), found.type)
        found = builder.or_(found, builder.shl(chosen_part, found.type(PART_BITS * k)))
    return found


in_compiled_code(num_parts, lambda word: types.int64, _emit_num_parts)
in_compiled_code(num_position_words, lambda packed: types.int64, _emit_position_words)
in_compiled_code(part, lambda word, k: types.int64 if isinstance(word, WordType) else word, _emit_part)
in_compiled_code(as_word, lambda number: word_type(1), _emit_as_word)
in_compiled_code(lowest, lambda word: types.int64, _emit_lowest)
in_compiled_code(bit_like, lambda word, number: word_type(_parts_of_kind(word)), _emit_bit_like)


@part_of_compiled
def without_lowest(bits: int, count: int) -> int:
    """An int64 without its lowest set bits."""
    for _ in range(count):
        bits &= bits - 1
    return bits


@part_of_compiled
def nth_of_64(bits: int, n: int) -> int:
    """The number of the n-th lowest set bit of an int64, without a loop whose end is hard to predict."""
    place = 0
    if n >= 8:
        for half in (32, 16, 8):
            below = bit_count((bits >> place) & ((1 << half) - 1))
            is_above = n >= below
            n -= below * is_above
            place += half * is_above
        bits = bits >> place
    for count in (4, 2, 1):
        fewer = without_lowest(bits, count)
        bits = fewer if n & count else bits
    return place + lowest(bits)


@part_of_compiled
def nth_bit(word: Bits, n: int) -> int:
    """The number of the n-th lowest set bit of `word`, counted from 0."""
    first, rest = 0, word
    bits = part(rest, 0)
    while n >= bit_count(bits):
        n -= bit_count(bits)
        first, rest = first + PART_BITS, rest >> PART_BITS  # a shift by a constant is much faster than one by a number
        bits = part(rest, 0)
    return int(first + nth_of_64(bits, n))


@part_of_compiled
def position_hash(packed: Bits) -> Bits:
    """64 mixed bits of a packed position."""
    key, size = part(packed, 0), num_position_words(packed)
    for k in range(1, size):
        key = fold(key, part(packed, k))
    return key if size > 1 else fold(key, 0)
