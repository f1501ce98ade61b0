"""Chains of stones: crossings of a square board that are connected along lines, as in Go."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from selfplay.compute.bit_algebra import Word, rule, word_of


class ChainRules(NamedTuple):
    """Rules of boards."""

    beside: Callable[[Word], Word]
    """(crossings) to those beside them; may set bits after the board."""
    beside_two: Callable[[Word], Word]
    """(crossings) to those beside at least two of them; may set bits after the board."""
    connected: Callable[[Word, Word], Word]
    """(crossings, start) to those of `crossings` in chains that contain one of `start` or are beside one."""


@cache
def chain_rules(width: int) -> ChainRules:
    """The rules of chains on `width` x `width` crossings."""
    numbers = np.arange(width * width).reshape(width, width)
    size = numbers.size
    not_left, not_right = (word_of(part.reshape(-1).tolist(), size) for part in (numbers[:, 1:], numbers[:, :-1]))

    @rule
    def beside(crossings: Word) -> Word:
        columns = ((crossings & not_right) << 1) | ((crossings & not_left) >> 1)
        return columns | (crossings << width) | (crossings >> width)

    @rule
    def beside_two(crossings: Word) -> Word:
        left, right = (crossings & not_right) << 1, (crossings & not_left) >> 1
        above, below = crossings << width, crossings >> width
        return (left & right) | (above & below) | ((left | right) & (above | below))

    @rule
    def connected(crossings: Word, start: Word) -> Word:
        found = crossings & (start | beside(start))
        while True:
            grown = found | (crossings & beside(found))
            if grown == found:
                break
            found = grown
        return found

    return ChainRules(beside, beside_two, connected)
