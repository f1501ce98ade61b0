"""The compiled search of a batch of positions."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.compilation import Words, by_reference, compiled
from selfplay.compute.compiled_words import load
from selfplay.games.rules import Rules
from selfplay.games.tiers import Tier
from selfplay.search.evaluation import CompiledBatchValue, CompiledValue
from selfplay.search.general_values import general_value
from selfplay.search.negamax import Negamax, negamax_of
from selfplay.search.negamax_memory import STOPPED, VISITED, NegamaxSearch
from selfplay.search.probcut import compile_probe
from selfplay.search.threads import STOP, is_shared
from selfplay.search.transposition_table import NO_ACTION

LOOK_LESS, MIN_WINDOW_DEPTH, WINDOW = 4, 7, 0.06
"""From depth MIN_WINDOW_DEPTH on, a search LOOK_LESS plies less deep predicts the value, if it is on the scale of
outcomes (-1 to 1). A search looks first in the window of half width WINDOW around the prediction, and is repeated
without a window if the value is outside ("aspiration windows": Marsland, "A review of game-tree pruning", 1986)."""


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


def search_of(rules: Rules, parts: tuple[Negamax, Negamax]) -> Callable[..., bool]:
    """The search of a batch, by the functions of `negamax_of`: `search_batch(positions, search, found)`.

    It fills `found`, a `BatchResult`, and returns False if it was stopped. If several threads search one position, the
    first to finish stops the others.
    """
    (negamax, leaf), unpack = parts, rules.position.unpack

    def search_batch(positions: Words, search: NegamaxSearch, found: BatchResult) -> bool:
        shared = by_reference(search)
        depth, line, work = search.depth, search.lines[search.depth], search.work
        for row in range(len(positions)):
            if search.clears_table:
                search.table[:] = 0
            if search.threads.stop[STOP] != 0:
                return False
            work[VISITED] = 0
            search.killers[:], position = NO_ACTION, unpack(load(positions, row))
            if depth > 0:
                low, high = -np.inf, np.inf
                if search.window > 0:
                    value = search.predicted[row]
                    if np.isnan(value):
                        value, _ = negamax(position, depth - LOOK_LESS, low, high, shared)
                    low, high = value - search.window, value + search.window
                value, is_open = negamax(position, depth, low, high, shared)
                if not low < value < high:
                    value, is_open = negamax(position, depth, -np.inf, np.inf, shared)
            else:
                value, is_open = leaf(position, depth, -np.inf, np.inf, shared)
            if work[STOPPED] != 0:
                return False
            search.threads.finished[0] = is_shared(search.threads)
            length = 0
            while line[length] != -1:
                length += 1
            is_final = not is_open
            if search.sooner > 0.0 and length < depth:
                # The match ends there. The value is that of a win, draw or loss, without the preference for the sooner
                # end.
                value = np.sign(value) * abs(search.parameters.finished[0])
                is_final |= value != 0
            found.values[row] = value + 0.0  # no -0.0
            found.actions[row], found.visited[row], found.final[row] = line[0], work[VISITED], is_final
            for ply in range(found.variations.shape[1]):
                found.variations[row, ply] = line[ply] if ply < length else -1
        return True

    return search_batch


def search_in(
    tier: Tier, unfinished_value: CompiledValue, unfinished_values: CompiledBatchValue | None, has_cuts: bool
) -> Callable[..., bool]:
    """`compile_search` in a tier; the general one values positions one after the other."""
    if tier.table is not None:
        unfinished_value, unfinished_values = general_value(tier.table.size), None
    return compile_search(tier.rules, unfinished_value, unfinished_values, tier.pass_action, has_cuts)


@cache
def compile_search(
    rules: Rules,
    unfinished_value: CompiledValue,
    unfinished_values: CompiledBatchValue | None,
    pass_action: int | None,
    has_cuts: bool,
) -> Callable[..., bool]:
    """Compile the search of a batch (`search_of`) of a game with these rules, with the cuts of ProbCut or without."""
    probe = compile_probe(unfinished_value) if has_cuts else None
    parts = negamax_of(rules, unfinished_value, pass_action, unfinished_values, probe)
    return compiled(search_of(rules, parts))
