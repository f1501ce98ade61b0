"""Compiled: the scores of many positions, each narrowed down by null-window searches."""

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import bit_count
from selfplay.compute.compilation import Words, compiled, part_of_compiled, register_rules
from selfplay.games.connect_four import SQUARES, has_line, is_terminal
from selfplay.search.connect_four.board import playable_squares, position_of, winning_squares
from selfplay.search.connect_four.kernel import Frames, Moves, compile_null_window_search
from selfplay.search.connect_four.table import Table
from selfplay.search.interruption import STOP, StopFlag

ValuesWithin = Callable[
    [
        Words,
        Words,
        Words,
        Words,
        Table,
        NDArray[np.int32],
        NDArray[np.int8],
        NDArray[np.int64],
        StopFlag,
        Frames,
        Moves,
        Words,
    ],
    None,
]
"""(own, opp, lowest, highest, table, codes and scores of the book, work, stop, frames, moves, values): write the score
of each position (own, opp), clipped to lowest..highest, to `values`. Returns at once when `stop[STOP]` is not 0, and
sets it as `NullWindowSearch` does; the values are then meaningless."""


@part_of_compiled
def clipped(score: int, lowest: int, highest: int) -> int:
    """The nearest number to `score` in lowest..highest."""
    return min(max(score, lowest), highest)


@part_of_compiled
def next_bound(lower: int, upper: int) -> int:
    """The score for which the next search asks.

    Far from 0 a search ends soon, because few lines win or lose so fast; the interval is therefore narrowed from its
    ends (as Pons describes) and not halved.
    """
    middle = (lower + upper) // 2
    return min(middle, -(-lower // 2)) if middle <= 0 else max(middle, upper // 2)


@cache
def compile_values_within() -> ValuesWithin:
    """Compile the narrowing."""
    register_rules()
    null_window_search = compile_null_window_search()

    @part_of_compiled
    def value_within(
        own: int,
        opp: int,
        lowest: int,
        highest: int,
        table: Table,
        codes: NDArray[np.int32],
        scores: NDArray[np.int8],
        work: NDArray[np.int64],
        stop: StopFlag,
        frames: Frames,
        moves: Moves,
    ) -> int:
        empties = SQUARES - bit_count(own | opp)
        if is_terminal(own, opp):
            return clipped(-((empties + 2) // 2) if has_line(opp) else 0, lowest, highest)
        mine, stones = position_of(own, opp)
        if winning_squares(mine, stones) & playable_squares(stones) != 0:
            return clipped((empties + 1) // 2, lowest, highest)
        lower, upper = clipped(-(empties // 2), lowest, highest), clipped((empties - 1) // 2, lowest, highest)
        while lower < upper and stop[STOP] == 0:
            bound = next_bound(lower, upper)
            score = null_window_search(mine, stones, bound, table, codes, scores, work, stop, frames, moves)
            if score > bound:
                lower = min(score, upper)
            else:
                upper = max(score, lower)
        return lower

    @compiled
    def values_within(
        own: Words,
        opp: Words,
        lowest: Words,
        highest: Words,
        table: Table,
        codes: NDArray[np.int32],
        scores: NDArray[np.int8],
        work: NDArray[np.int64],
        stop: StopFlag,
        frames: Frames,
        moves: Moves,
        values: Words,
    ) -> None:
        for i in range(len(own)):
            limits = lowest[i], highest[i]
            values[i] = value_within(own[i], opp[i], *limits, table, codes, scores, work, stop, frames, moves)
            if stop[STOP] != 0:
                return

    return values_within
