"""Searches of a batch of positions, compiled: `selfplay.search.negamax` for each, and what it has found."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.compilation import Words, compiled, part_of_compiled
from selfplay.games.rules import Rules
from selfplay.search.evaluation import CompiledValue, finished_value
from selfplay.search.negamax import STOPPED, VISITED, Negamax, Search, negamax_of, sooner_of
from selfplay.search.probcut import compile_probe
from selfplay.search.threads import STOP, is_shared


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


def search_of(rules: Rules, parts: tuple[Negamax, Negamax], pass_action: int | None) -> Callable[..., bool]:
    """The search of a batch, by the functions of `negamax_of`: `search_batch(own, opp, search, found)`.

    It fills `found`, a `BatchResult`, and returns False if it was stopped. Several threads that share a table and a
    `threads` search one position together; all but the first to finish are stopped.
    """
    (negamax, leaf), play, value_at_end = parts, rules.play, finished_value(rules)
    passing, prefers_sooner = -1 if pass_action is None else pass_action, sooner_of(rules) > 0

    @part_of_compiled
    def value_after(own: int, opp: int, line: NDArray[np.int64], finished: NDArray[np.float64]) -> float:
        """The value to the player to move of the end of the match that the actions of `line` lead to."""
        for action in line:
            own, opp = play(own, opp, 0 if action == passing else 1 << action)
        value: float = value_at_end(own, opp, finished)
        return value if len(line) % 2 == 0 else -value

    def search_batch(own: Words, opp: Words, search: Search, found: BatchResult) -> bool:
        depth, line, work = search.depth, search.memory.lines[search.depth], search.memory.work
        for row in range(len(own)):
            if search.clears_table:
                search.table[:] = 0
            if search.stop[STOP] != 0:
                return False
            work[VISITED] = 0
            if depth > 0:
                value, is_open = negamax(own[row], opp[row], depth, -np.inf, np.inf, search)
            else:
                value, is_open = leaf(own[row], opp[row], depth, -np.inf, np.inf, search)
            if work[STOPPED] != 0:
                return False
            search.threads.finished[0] = is_shared(search.threads)
            length = 0
            while line[length] != -1:
                length += 1
            is_final = not is_open
            if prefers_sooner and length < depth:
                value = value_after(own[row], opp[row], line[:length], search.parameters.finished)
                is_final |= value != 0
            found.values[row] = value + 0.0  # no -0.0
            found.actions[row], found.visited[row], found.final[row] = line[0], work[VISITED], is_final
            found.variations[row] = -1
            found.variations[row, :length] = line[:length]
        return True

    return search_batch


@cache
def compile_search(
    rules: Rules, unfinished_value: CompiledValue, pass_action: int | None, has_cuts: bool
) -> Callable[..., bool]:
    """Compile the search of a batch (`search_of`) of a game with these rules, with the cuts of ProbCut or without."""
    parts = negamax_of(rules, unfinished_value, pass_action)
    if has_cuts:
        parts = negamax_of(rules, unfinished_value, pass_action, compile_probe(parts[0], unfinished_value))
    return compiled(search_of(rules, parts, pass_action))
