"""Words of any width, as numbers and compiled, against integers of Python."""

import operator
import pickle
import random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import bit_count, word_of
from selfplay.compute.compilation import Words, compiled
from selfplay.compute.compiled_word_type import word_dtype
from selfplay.compute.compiled_words import (
    bit_like,
    load,
    lowest,
    nth_bit,
    num_parts,
    part,
    position_hash,
    store,
    word_rows,
)
from selfplay.compute.words import WordInt, parts_of_bits, word_of_parts, word_parts

WIDTHS = [64, 65, 81, 128, 169, 361]
OPERATORS = [operator.and_, operator.or_, operator.xor, operator.add, operator.sub, operator.mul]
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


def some_words(bits: int, count: int = 60, seed: int = 0) -> list[int]:
    """Random words, and those at the edges of parts and of the whole."""
    whole = 64 * parts_of_bits(bits)
    draws = random.Random(seed)
    edges = [0, 1, (1 << whole) - 1, 1 << (whole - 1), 1 << 63, (1 << 64) % (1 << whole), (1 << 64) - 1]
    return [*edges, *(draws.getrandbits(whole) for _ in range(count)), *reversed(edges)]


@pytest.mark.parametrize("bits", WIDTHS)
def test_operators_give_what_integers_give_modulo_two_to_the_width(bits: int) -> None:
    parts, whole = parts_of_bits(bits), 1 << 64 * parts_of_bits(bits)
    for function in (*OPERATORS, *COMPARISONS):

        def expected(a: int, b: int, function: Any = function) -> int:
            return int(function(a % whole, b % whole)) % whole

        for a, b in zip(some_words(bits), some_words(bits, seed=1)[::-1], strict=True):
            assert int(function(WordInt(a, parts), WordInt(b, parts))) == expected(a, b)
            for number in (-3, -1, 3, 0x5555):
                assert int(function(WordInt(a, parts), number)) == expected(a, number)
                assert int(function(number, WordInt(a, parts))) == expected(number, a)


@pytest.mark.parametrize("bits", WIDTHS)
def test_shifts_fill_with_zeros_and_bits_are_counted(bits: int) -> None:
    parts, whole = parts_of_bits(bits), 64 * parts_of_bits(bits)
    modulus = 1 << whole
    for number in (number for number in (0, 1, 63, 64, 65, 80, 127, whole - 1) if number < whole):
        for word in some_words(bits):
            assert WordInt(word, parts) >> number == word >> number
            assert int(WordInt(word, parts) << number) == (word << number) % modulus
        # A word may be the number of places, too.
        assert int(1 << WordInt(number, parts)) == (1 << number) % modulus
    for word in some_words(bits):
        single = WordInt(word, parts)
        assert (int(~single), int(-single)) == (~word % modulus, -word % modulus)
        assert bit_count(single) == word.bit_count()


@compiled
def compute(ones: Words, others: Words, numbers: NDArray[np.int64], words: Words, counts: NDArray[np.int64]) -> None:
    for i in range(len(ones)):
        one, other, number, row = load(ones, i), load(others, i), numbers[i], words[i]
        store(row, 0, one & other)
        store(row, 1, one | other)
        store(row, 2, one ^ other)
        store(row, 3, one + other)
        store(row, 4, one - other)
        store(row, 5, one * other)
        store(row, 6, one >> number)
        store(row, 7, one << number)
        store(row, 8, ~one)
        store(row, 9, -one)
        store(row, 10, -1 * (one < other))
        store(row, 11, one * (one != other))
        store(row, 12, bit_like(one, number))
        store(row, 13, one & 0x5555)
        changed = one
        changed &= other
        changed |= 1
        changed <<= 2
        store(row, 14, changed)
        store(row, 15, bit_like(one, nth_bit(one, number % bit_count(one))) if one else 0)
        counts[i, 0], counts[i, 1] = bit_count(one), lowest(one) if one else -1
        counts[i, 2], counts[i, 3] = part(one, num_parts(one) - 1), num_parts(one)
        counts[i, 4] = (one == other) + 2 * (one <= other) + 4 * (one > other) + 8 * (one >= other) + 16 * (one == -1)
        counts[i, 5] = position_hash(one)


@pytest.mark.parametrize("bits", [64, pytest.param(81, marks=pytest.mark.slow), 169])
def test_compiled_words_are_those_of_integers(bits: int) -> None:
    parts, modulus = parts_of_bits(bits), 1 << 64 * parts_of_bits(bits)
    ones, others = some_words(bits), some_words(bits, seed=1)[::-1]
    numbers = np.array(random.Random(4).choices(range(64 * parts), k=len(ones)))
    words, counts = np.zeros((len(ones), 16, parts), dtype=np.int64), np.zeros((len(ones), 6), dtype=np.int64)
    rows = words.view(word_dtype(parts))[:, :, 0]
    stored = (np.array([word_parts(word, parts) for word in each], dtype=np.int64) for each in (ones, others))
    compute(*map(word_rows, stored), numbers, rows, counts)
    for a, b, n, found, counted in zip(ones, others, numbers.tolist(), words.tolist(), counts.tolist(), strict=True):
        chosen = a
        for _ in range(n % a.bit_count() if a else 0):
            chosen &= chosen - 1
        results = [a & b, a | b, a ^ b, a + b, a - b, a * b, a >> n, a << n, ~a, -a, -(a < b), a * (a != b)]
        results += [1 << n, a & 0x5555, ((a & b) | 1) << 2, chosen & -chosen]
        assert [int(word_of_parts(word)) for word in found] == [result % modulus for result in results]
        order = (a == b) + 2 * (a <= b) + 4 * (a > b) + 8 * (a >= b) + 16 * (a == modulus - 1)
        expected = [a.bit_count(), (a & -a).bit_length() - 1, word_parts(a, parts)[-1], parts, order]
        with np.errstate(over="ignore"):
            assert counted == [*expected, position_hash(WordInt(a, parts))]


def test_numbers_that_compiled_code_cannot_hold_are_refused() -> None:
    for number, parts in ((1 << 64, 1), (1 << 64, 2), (1 << 63, 2), (-(1 << 63) - 1, 1)):
        with pytest.raises(OverflowError, match="has more than the 64 bits of a number; shift a word"):
            WordInt(5, parts) | number
    assert WordInt(0, 1) | 1 << 63 == 1 << 63


def test_numbers_of_numpy_are_bits_too() -> None:
    assert word_of(np.array([0, 80, 80]), 81) == WordInt(1 | 1 << 80, 2)
    assert word_of(np.array([63])) == 1 << 63
    with pytest.raises(TypeError, match=r"^word_of takes the numbers of bits, such as word_of\(\[3\], 64\)"):
        word_of(3)  # type: ignore[arg-type]
    assert word_of([]) == 0
    shifted = WordInt(1 << 35, 1) << np.int32(30)  # as with actions from the arrays of a search, uncompiled
    assert (repr(shifted), shifted == np.int64(0)) == ("WordInt(0, 1)", True)
    assert repr(WordInt(6, 2) & np.int64(-1)) == "WordInt(6, 2)"
    assert WordInt(-1, 1) == np.int64(-1)


def test_a_word_is_pickled_with_its_width() -> None:
    word = pickle.loads(pickle.dumps(WordInt(-1, 2)))
    assert (repr(word), word) == (f"WordInt({2**128 - 1}, 2)", -1)
