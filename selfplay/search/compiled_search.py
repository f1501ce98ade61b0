"""Searches of a batch of positions, compiled: `selfplay.search.negamax` for each, and what it has found."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.compilation import borrowed, compiled, part_of_compiled, register_rules
from selfplay.games.rules import Rules
from selfplay.search.evaluation import CompiledValue, EvaluationParameters, finished_value
from selfplay.search.negamax import STOPPED, Method, compile_walk, sooner_of
from selfplay.search.probcut import compile_probe
from selfplay.search.stack_and_table import Stack, Table, begin, clear_table
from selfplay.search.threads import Threads

MIN_SCOUT_DEPTH, MIN_SCOUT_DEPTH_UNORDERED, MIN_SCOUT_DEPTH_WITHOUT_TABLE = 4, 5, 8
"""The smallest numbers of remaining plies at which NegaScout uses null windows: with ordering and a table, without
ordering, and with ordering but no table. Closer to the leaves, null windows save fewer positions than the repeated
searches add."""


class BatchResult(NamedTuple):
    """The results of a search of B positions to depth D."""

    values: NDArray[np.float64]
    """float64[B]: to the player to move."""
    actions: NDArray[np.int64]
    """int64[B]: the lowest of the best actions; -1 where the match is over or the depth is 0. In games that do not
    count points, the soonest win is best, and the latest loss."""
    visited: NDArray[np.int64]
    """int64[B]: positions visited, including the searched one; a position visited twice counts twice."""
    variations: NDArray[np.int64]
    """int64[B, D]: the actions of the principal variation; -1 after its end."""
    final: NDArray[np.bool_]
    """bool[B]: whether a deeper search would find the same: all lines that matter reach the end of the match, or, in
    games that do not count points, a win or a loss is forced before the last ply."""


@part_of_compiled
def length_of(line: NDArray[np.int64]) -> int:
    """The number of actions before the first -1."""
    length = 0
    while line[length] != -1:
        length += 1
    return length


@part_of_compiled
def write_result(
    found: BatchResult, row: int, value: float, is_final: bool, line: NDArray[np.int64], visited: int
) -> None:
    """Write the result for one position; `line` holds the actions of its principal variation."""
    values, actions, counts, variations, final = found
    values[row] = value + 0.0  # no -0.0
    actions[row], counts[row], final[row] = line[0], visited, is_final
    end = 0
    for ply in range(variations.shape[1]):
        variations[row, ply] = line[end]
        end += line[end] != -1


@cache
def compile_search(
    rules: Rules, unfinished_value: CompiledValue, pass_action: int | None, has_cuts: bool = False
) -> Callable[..., bool]:
    """Compile the searches of a game with these rules; they value unfinished positions by `unfinished_value`.

    The compiled function is `search(own, opp, depth, method, parameters, table, stop, stack, threads, probing, found)`,
    with `parameters` from `Evaluation.parameters`, a `StopFlag` that the search polls but does not set, `stack` from
    `make_stack` and a table that minimax does not use. Several threads that share a table and a `threads` search one
    position together. `probing` is a `Probing` if `has_cuts`, otherwise 0. It fills `found`; it returns False if it was
    stopped, or another thread has found the result.
    """
    play, value_at_end = rules.play, finished_value(rules)
    walk = compile_walk(rules, unfinished_value, pass_action)
    if has_cuts:
        walk = compile_walk(rules, unfinished_value, pass_action, compile_probe(walk, unfinished_value))
    register_rules()
    passing, sooner = -1 if pass_action is None else pass_action, sooner_of(rules)

    @part_of_compiled
    def value_after(own: int, opp: int, line: NDArray[np.int64], finished: NDArray[np.float64]) -> float:
        """The value to the player to move of the end of the match that the actions of `line` lead to."""
        length = length_of(line)
        for ply in range(length):
            own, opp = play(own, opp, 0 if line[ply] == passing else 1 << line[ply])
        value: float = value_at_end(own, opp, finished)
        return value if length % 2 == 0 else -value

    @compiled
    def search(
        own: NDArray[np.int64],
        opp: NDArray[np.int64],
        depth: int,
        method: Method,
        parameters: EvaluationParameters,
        table: Table,
        stop: NDArray[np.int64],
        stack: Stack,
        threads: Threads,
        probing: Any,
        found: BatchResult,
    ) -> bool:
        parameters, table, stop, stack, threads, probing = borrowed((parameters, table, stop, stack, threads, probing))
        frames, lines = stack.frames, stack.lines
        for row in range(len(own)):
            begin(frames[0], own[row], opp[row])
            if method.clears_table:
                clear_table(table)
            visited = STOPPED
            if stop[0] == 0:
                visited = walk(depth, True, method, parameters, table, stop, stack, threads, probing)
            if visited == STOPPED:
                return False
            value, is_final = frames[0].best, frames[0].is_open == 0
            if sooner > 0 and length_of(lines[0]) < depth:
                value = value_after(own[row], opp[row], lines[0], parameters.finished)
                is_final |= value != 0
            write_result(found, row, value, is_final, lines[0], visited)
        return True

    return search
