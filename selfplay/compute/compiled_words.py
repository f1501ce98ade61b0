"""Words in compiled code: reading and writing arrays of them, and their parts and bits.

Uncompiled, the functions work on `WordInt` and on numbers too.
"""

from typing import Any

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.bit_algebra import Word, bit_count
from selfplay.compute.compilation import Words, part_of_compiled
from selfplay.compute.compiled_word_type import (
    QUICKLY_COMPILED,
    WordType,
    low_part,
    read_record,
    single_bit,
    trailing_zeros,
    word_dtype,
    word_of_number,
    write_record,
)
from selfplay.compute.random_numbers import fold
from selfplay.compute.words import PART_BITS, WordInt, parts_of, word_of_parts


def word_rows(stored: Tensor | NDArray[np.int64]) -> Words:
    """Stored words (int64[B] or int64[B, K]) as compiled code takes them, in the same memory if they are contiguous."""
    array: NDArray[np.int64] = stored.numpy() if isinstance(stored, Tensor) else stored
    if array.ndim == 1:
        return array.view(word_dtype(1))
    return np.ascontiguousarray(array).view(word_dtype(array.shape[1]))[:, 0]


OPTIONS: Any = {"strict": False, "jit_options": QUICKLY_COMPILED}

# ---------------------------------------------------------------------- reading and writing


def load(words: Words, i: int) -> Word:
    """The word in place i."""
    return word_of_parts(words[i]["parts"])


def store(words: Words, i: int, word: Word) -> None:
    """Write a word or a number to place i."""
    words[i] = (parts_of(word, words.dtype.itemsize * 8 // PART_BITS),)


def position_of(record: Any) -> Word:
    """The packed position in the field `position` of a record."""
    return word_of_parts(record["position"]["parts"])


def set_position(record: Any, packed: Word) -> None:
    """Write the field `position` of a record."""
    record["position"] = (parts_of(packed, len(record["position"]["parts"])),)


@overload(load, **OPTIONS)
def _load(words: Any, i: Any) -> Any:
    return lambda words, i: read_record(words[i])


@overload(store, **OPTIONS)
def _store(words: Any, i: Any, word: Any) -> Any:
    return lambda words, i, word: write_record(words[i], word)


@overload(position_of, **OPTIONS)
def _position_of(record: Any) -> Any:
    return lambda record: read_record(record.position)


@overload(set_position, **OPTIONS)
def _set_position(record: Any, packed: Any) -> Any:
    return lambda record, packed: write_record(record.position, packed)


# ---------------------------------------------------------------------- parts and bits


def num_parts(word: Word) -> int:
    """K, a constant where it is compiled; 1 for a number."""
    return word.num_parts if isinstance(word, WordInt) else 1


def part(word: Word, k: int) -> Word:
    """Bits 64 k to 64 k + 63 as an int64; part 0 of a word that holds a number is the number."""
    return np.int64(parts_of(word, k + 1)[k]) if isinstance(word, WordInt) else word


def as_word(number: Any) -> Word:
    """An int64, such as a stored word of at most 64 bits, as a word; `part(word, 0)` is the inverse."""
    return WordInt(number, 1)


def lowest(word: Word) -> int:
    """The number of the lowest set bit of a word that is not 0."""
    return int(bit_count((word & -word) - 1))


def bit_like(word: Word, number: int) -> Word:
    """The word, as wide as `word`, in which only this bit is set."""
    return WordInt(1 << int(number), num_parts(word))


@overload(num_parts, **OPTIONS)
def _num_parts(word: Any) -> Any:
    count = word.num_parts if isinstance(word, WordType) else 1
    return lambda word: count


@overload(part, **OPTIONS)
def _part(word: Any, k: Any) -> Any:
    return (lambda word, k: low_part(word >> (PART_BITS * k))) if isinstance(word, WordType) else lambda word, k: word


@overload(as_word, **OPTIONS)
def _as_word(number: Any) -> Any:
    return lambda number: word_of_number(number)


@overload(lowest, **OPTIONS)
def _lowest(word: Any) -> Any:
    return lambda word: trailing_zeros(word)


@overload(bit_like, **OPTIONS)
def _bit_like(word: Any, number: Any) -> Any:
    return lambda word, number: single_bit(word, number)


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
def nth_bit(word: Word, n: int) -> int:
    """The number of the n-th lowest set bit of `word`, counted from 0."""
    first, rest = 0, word
    bits = part(rest, 0)
    while n >= bit_count(bits):
        n -= bit_count(bits)
        first, rest = first + PART_BITS, rest >> PART_BITS  # a shift by a constant is much faster than one by a number
        bits = part(rest, 0)
    return int(first + nth_of_64(bits, n))


@part_of_compiled
def position_hash(packed: Word) -> Word:
    """64 mixed bits of a packed position."""
    key = part(packed, 0)
    for k in range(1, num_parts(packed)):
        key = fold(key, part(packed, k))
    return key if num_parts(packed) > 1 else fold(key, 0)
