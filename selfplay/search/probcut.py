"""ProbCut: cutting positions off because a shallow search predicts what the deep one would find.

The value v of a deep search is predicted from the value s of a shallower search of the same position as

    v = slope * s + intercept + an error with standard deviation sigma,

fitted for pairs of depths and phases of the match (Buro, "ProbCut: an effective selective extension of the alpha-beta
algorithm", 1995; "Experiments with Multi-ProbCut and a new high-quality evaluation function", 1997). If the
prediction is above beta by `threshold` standard deviations, the position is taken to be worth beta; if it is as far
below alpha, alpha. The results of a search are then no longer exact.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import bit_count
from selfplay.compute.compilation import part_of_compiled
from selfplay.search.crew import Crew
from selfplay.search.evaluation import CompiledValue, EvaluationParameters
from selfplay.search.stack import Frame, Stack, begin
from selfplay.search.transposition_table import Table
from selfplay.search.tree_walk import Method


class Probing(NamedTuple):
    """What compiled searches need to cut, for P phases and positions with at most D plies left to search."""

    is_repeatable: bool
    """Whether each position of a batch is searched with an empty table. The cuts that others have left in the table
    would change its result."""
    phase_starts: NDArray[np.int64]
    """int64[P - 1]: the numbers of stones with which phases 2 to P begin."""
    shallow: NDArray[np.int64]
    """int64[D + 1]: the depth of the shallow search; 0 where there are no cuts."""
    slopes: NDArray[np.float64]
    """float64[P, D + 1]"""
    intercepts: NDArray[np.float64]
    """float64[P, D + 1]"""
    margins: NDArray[np.float64]
    """float64[P, D + 1]: threshold * sigma."""
    stack: Stack
    """The memory of the shallow searches."""
    crew: Crew
    """Each thread makes its shallow searches alone."""


@part_of_compiled
def phase_at(stones: int, phase_starts: NDArray[np.int64]) -> int:
    """The phase of the match with this number of stones on the board."""
    phase = 0
    while phase < len(phase_starts) and phase_starts[phase] <= stones:
        phase += 1
    return phase


@part_of_compiled
def upper_limit(beta: float, slope: float, intercept: float, margin: float) -> float:
    """The value of the shallow search from which on the deep one is predicted to be beta + margin or more."""
    return (beta + margin - intercept) / slope


@part_of_compiled
def lower_limit(alpha: float, slope: float, intercept: float, margin: float) -> float:
    """The value of the shallow search down from which the deep one is predicted to be alpha - margin or less."""
    return (alpha - margin - intercept) / slope


@cache
def compile_probe(walk: Callable[..., int], unfinished_value: CompiledValue) -> Callable[..., tuple[bool, int]]:
    """Compile the probe of `compile_walk` that searches by `walk`; its `probing` is a `Probing`."""

    @part_of_compiled
    def probe(
        frame: Frame,
        left: int,
        method: Method,
        parameters: EvaluationParameters,
        table: Table,
        stop: NDArray[np.int64],
        probing: Probing,
    ) -> tuple[bool, int]:
        if left >= len(probing.shallow) or probing.shallow[left] == 0:
            return False, 0
        if frame.alpha == -np.inf and frame.beta == np.inf:
            return False, 0
        phase = phase_at(bit_count(frame.own | frame.opp), probing.phase_starts)
        slope, intercept = probing.slopes[phase, left], probing.intercepts[phase, left]
        margin = probing.margins[phase, left]
        # One search only, on the side on which a cut is more likely.
        guess = unfinished_value(frame.own, frame.opp, parameters.unfinished)
        is_high = guess >= (frame.alpha + frame.beta) / 2
        first = probing.stack.frames[0]
        begin(first, frame.own, frame.opp)
        if is_high:
            limit = upper_limit(frame.beta, slope, intercept, margin)
            first.alpha, first.beta = np.nextafter(limit, -np.inf), limit
        else:
            limit = lower_limit(frame.alpha, slope, intercept, margin)
            first.alpha, first.beta = limit, np.nextafter(limit, np.inf)
        visited = walk(probing.shallow[left], False, method, parameters, table, stop, probing.stack, probing.crew, 0)
        is_cut = first.best >= limit if is_high else first.best <= limit
        if is_cut:
            frame.best, frame.is_open = frame.beta if is_high else frame.alpha, 1
        return is_cut, visited

    return probe
