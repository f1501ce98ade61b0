import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.compilation import borrowed, compiled, part_of_compiled


class Inner(NamedTuple):
    words: NDArray[np.int64]
    number: int


class Outer(NamedTuple):
    table: NDArray[np.float64]
    inner: Inner


@part_of_compiled
def add_to_table(outer: Outer) -> float:
    table, (words, number) = outer
    table[1, 2] += words[-1] + number
    return float(table.sum())


@compiled
def add_through_borrowed(outer: Outer, times: int) -> float:
    uncounted, total = borrowed(outer), 0.0
    for _ in range(times):
        total += add_to_table(uncounted)
    return total


def test_a_borrowed_tuple_holds_the_same_arrays_and_numbers() -> None:
    table, words = np.zeros((3, 6))[:, ::2], np.array([1, 2, 5])
    assert add_through_borrowed(Outer(table, Inner(words, 7)), 2) == 12 + 24
    assert table[1, 2] == 24


def test_borrowing_leaves_reference_counts_as_they_were() -> None:
    table, words = np.zeros((3, 6))[:, ::2], np.arange(4)
    outer = Outer(table, Inner(words, 0))
    before = sys.getrefcount(table), sys.getrefcount(words)
    for _ in range(100):
        add_through_borrowed(outer, 3)
    assert (sys.getrefcount(table), sys.getrefcount(words)) == before


def test_outside_compiled_code_it_is_the_value_itself() -> None:
    inner = Inner(np.arange(3), 1)
    assert borrowed(inner) is inner
