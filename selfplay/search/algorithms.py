"""Minimax, alpha-beta and NegaScout, compiled, for any game.

All three are negamax searches: a position's value to the player to move is the largest of the negated values of the
positions that follow, down to a depth, where an evaluation stands in. They differ in the window `(alpha, beta)` of
values that matter, which a position hands on to the positions that follow it:

    minimax     (-inf, inf): everything matters
    alpha-beta  (-beta, -low), low being the best found so far (Knuth & Moore, "An analysis of alpha-beta pruning",
                1975)
    NegaScout   the same for the first action; for the others first the empty window just above low, which only asks
                whether they are better, and the whole one if they are (Reinefeld, "An improvement to the Scout
                tree-search algorithm", 1983)

Values are fail-soft: one below the window is an upper bound of the true value, one above it a lower bound.
The recursion is written as a loop over a stack, because numba cannot keep a function that calls itself on disk.
"""

from collections.abc import Callable
from enum import IntEnum
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import bit_count
from selfplay.compute.compilation import compiled, part_of_compiled, register_rules
from selfplay.compute.random_numbers import fold
from selfplay.games.rules import Rules
from selfplay.search.evaluation import WordsValue, final_value

POLL_INTERVAL = 1024
"""After so many positions a search looks whether it is to stop."""
WHOLE, UPPER, LOWER = 1, 2, 3
"""What a stored value is: the value itself, or a bound of it."""
LEAST_STORED_DEPTH = 2
"""Nearer to the leaves, looking a position up costs more than searching it."""


class Algorithm(IntEnum):
    """The three searches: the same value and action, with ever fewer positions visited."""

    MINIMAX = 0
    ALPHA_BETA = 1
    NEGASCOUT = 2


MINIMAX, NEGASCOUT = int(Algorithm.MINIMAX), int(Algorithm.NEGASCOUT)


class Table(NamedTuple):
    """A transposition table: what is known of positions that can be reached in several ways. N a power of two."""

    own: NDArray[np.int64]
    opp: NDArray[np.int64]
    move: NDArray[np.int64]
    """int64[N]: the best move, to be tried first."""
    value: NDArray[np.float64]
    kind: NDArray[np.int64]
    """int64[N]: 4 * depth + WHOLE, UPPER or LOWER; 0 where nothing is stored."""


def make_table(bits: int) -> Table:
    """An empty table of 2**bits places; with 0 bits, of none that is ever used."""
    words = (np.zeros(1 << bits, dtype=np.int64) for _ in range(4))
    return Table(next(words), next(words), next(words), np.zeros(1 << bits), next(words))


class Found(NamedTuple):
    """What a search of B positions to depth D found."""

    values: NDArray[np.float64]
    """float64[B]: to the player to move."""
    actions: NDArray[np.int64]
    """int64[B]: the lowest of the best; -1 where the match is over or the depth is 0."""
    visited: NDArray[np.int64]
    """int64[B]: positions visited, the searched one included; a position met twice counts twice."""
    variations: NDArray[np.int64]
    """int64[B, D]: the actions of the principal variation; -1 after its end."""


@cache
def compile_search(rules: Rules, value_on_the_way: WordsValue, pass_action: int | None) -> Callable[..., bool]:
    """The searches of a game with these rules, which value open positions by `value_on_the_way`.

    The compiled function is `search(own, opp, depth, algorithm, ordered, numbers, table, stop, found)`, with `numbers`
    from `Valuation.numbers` and `stop` an int64[1] that ends the search once it is not 0. It fills `found` and returns
    whether it came to its end.
    """
    legal_actions, play, is_terminal = rules.legal_actions, rules.play, rules.is_terminal
    value_at_end = final_value(rules)
    register_rules()
    passing = -1 if pass_action is None else pass_action

    @part_of_compiled
    def list_moves(own: Any, opp: Any, bits: Any, first: Any, ordered: bool, moves: Any, replies: Any) -> int:
        """The moves in the order in which they are to be tried: `first`, then those that leave fewest replies."""
        count = 0
        while bits != 0:
            move = bits & -bits
            bits ^= move
            rank = 0
            if ordered:
                rank = -1 if move == first else bit_count(legal_actions(*play(own, opp, move)))
            place = count
            while place > 0 and replies[place - 1] > rank:
                moves[place], replies[place] = moves[place - 1], replies[place - 1]
                place -= 1
            moves[place], replies[place] = move, rank
            count += 1
        if count == 0:  # a pass
            moves[0] = 0
            count = 1
        return count

    @part_of_compiled
    def action_of(move: Any) -> Any:
        return passing if move == 0 else bit_count(move - 1)

    @compiled
    def search(
        own: Any, opp: Any, depth: int, algorithm: int, ordered: bool, numbers: Any, table: Any, stop: Any, found: Any
    ) -> bool:
        ends, body = numbers
        stored_own, stored_opp, stored_move, stored_value, stored_kind = table
        values, actions, visited, variations = found
        slots = len(stored_own) - 1 if algorithm != MINIMAX else 0
        # The stack: one row for each ply.
        owns, opps = np.empty(depth + 1, dtype=np.int64), np.empty(depth + 1, dtype=np.int64)
        moves, replies = np.empty((depth + 1, 64), dtype=np.int64), np.empty((depth + 1, 64), dtype=np.int64)
        num_moves, tried = np.empty(depth + 1, dtype=np.int64), np.empty(depth + 1, dtype=np.int64)
        alphas, betas = np.empty(depth + 1), np.empty(depth + 1)
        bests, lows = np.empty(depth + 1), np.empty(depth + 1)
        best_moves, narrow = np.empty(depth + 1, dtype=np.int64), np.empty(depth + 1, dtype=np.bool_)
        lines = np.full((depth + 1, depth + 1), -1, dtype=np.int64)
        unpolled = 0
        for i in range(len(own)):
            owns[0], opps[0], alphas[0], betas[0] = own[i], opp[i], -np.inf, np.inf
            best_moves[0] = 0
            level, value, known, count = 0, 0.0, False, 0
            while True:
                if not known:  # a position is met
                    count += 1
                    unpolled += 1
                    if unpolled == POLL_INTERVAL:
                        unpolled = 0
                        if stop[0] != 0:
                            return False
                    mine, other, left = owns[level], opps[level], depth - level
                    lines[level, level:] = -1
                    bits = legal_actions(mine, other)
                    if bits == 0 and is_terminal(mine, other):
                        value, known = value_at_end(mine, other, ends), True
                    elif left == 0:
                        value, known = value_on_the_way(mine, other, body), True
                    else:
                        first = np.int64(0)
                        if slots > 0 and left >= LEAST_STORED_DEPTH:
                            slot = fold(mine, other) & slots
                            if stored_own[slot] == mine and stored_opp[slot] == other and stored_kind[slot] != 0:
                                first = stored_move[slot]
                                # A value inside the window is searched for again, so that its variation is known.
                                if level > 0 and stored_kind[slot] >> 2 == left:
                                    value, kind = stored_value[slot], stored_kind[slot] & 3
                                    known = (value >= betas[level] and kind != UPPER) or (
                                        value <= alphas[level] and kind != LOWER
                                    )
                        if not known:
                            sort = ordered and (left > 1)
                            num_moves[level] = list_moves(mine, other, bits, first, sort, moves[level], replies[level])
                            tried[level], bests[level] = 0, -np.inf
                if known:  # the value of a position goes back to the one before it
                    if level == 0:
                        break
                    level -= 1
                    known = False
                    score, left = -value, depth - level
                    if narrow[level] and lows[level] < score < betas[level] and left > 1:
                        narrow[level] = False
                        alphas[level + 1], betas[level + 1] = -betas[level], -lows[level]
                        level += 1
                        continue
                    move = moves[level, tried[level]]
                    if score > bests[level] or (
                        level == 0 and score == bests[0] and action_of(move) < action_of(best_moves[0])
                    ):
                        bests[level], best_moves[level] = score, move
                        lines[level, level] = action_of(move)
                        lines[level, level + 1 :] = lines[level + 1, level + 1 :]
                    tried[level] += 1
                if tried[level] == num_moves[level] or (algorithm != MINIMAX and bests[level] >= betas[level]):
                    value, known, left = bests[level], True, depth - level
                    if slots > 0 and left >= LEAST_STORED_DEPTH:
                        slot = fold(owns[level], opps[level]) & slots
                        stored_own[slot], stored_opp[slot] = owns[level], opps[level]
                        stored_move[slot], stored_value[slot] = best_moves[level], value
                        kind = LOWER if value >= betas[level] else UPPER if value <= alphas[level] else WHOLE
                        stored_kind[slot] = 4 * left + kind
                    continue
                # The next position to meet.
                move = moves[level, tried[level]]
                owns[level + 1], opps[level + 1] = play(owns[level], opps[level], move)
                low = max(alphas[level], bests[level])
                if level == 0 and tried[0] > 0 and action_of(move) < action_of(best_moves[0]):
                    low = np.nextafter(low, -np.inf)  # of equal actions the lowest is wanted, in whatever order
                high = betas[level]
                narrow[level] = algorithm == NEGASCOUT and tried[level] > 0
                if narrow[level]:
                    high = np.nextafter(low, np.inf)
                lows[level] = low
                alphas[level + 1], betas[level + 1] = (-np.inf, np.inf) if algorithm == MINIMAX else (-high, -low)
                level += 1
            values[i], visited[i] = value + 0.0, count
            actions[i] = lines[0, 0] if depth > 0 else -1
            variations[i, :] = lines[0, :depth]
        return True

    return search
