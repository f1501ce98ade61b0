"""Minimax, alpha-beta and NegaScout, compiled, for any game.

All three are negamax searches: the value of a position to the player to move is the largest of the negated values of
the positions that follow; `depth` plies ahead an evaluation is used instead. They differ only in the window
`(alpha, beta)` of values that matter, which a position passes on to the positions that follow it:

    minimax     (-inf, inf): every value matters
    alpha-beta  (-beta, -low), where low is the best value found so far (Knuth & Moore, "An analysis of alpha-beta
                pruning", 1975)
    NegaScout   the same for the first move. For the others first a null window just above low, which only tests
                whether the move is better; if it is, the move is searched again with the full window (Reinefeld, "An
                improvement to the Scout tree-search algorithm", 1983)

Values are fail-soft: a value below the window is an upper bound of the true value, one above it a lower bound.

Where a game does not count points, a win is worth more the sooner it comes, and a loss less: the value of a finished
match is multiplied by 1 + SOONER for each ply that was left to search. The value of a position then depends on the
depth still to be searched only, which the table compares, and the factor is too small to matter otherwise.
"""

from collections.abc import Callable
from enum import IntEnum
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import bit_count
from selfplay.compute.compilation import Words, compiled, part_of_compiled, recursive_part, register_rules
from selfplay.games.rules import Rules
from selfplay.search.evaluation import CompiledValue, EvaluationParameters, finished_value
from selfplay.search.move_ordering import compile_order
from selfplay.search.probcut import compile_probe
from selfplay.search.threads import STOP, StopFlag, Threads, is_marked, is_shared, put_mark
from selfplay.search.transposition_table import Table, look_up, store

Algorithm = IntEnum("Algorithm", ["MINIMAX", "ALPHA_BETA", "NEGASCOUT"], start=0)
MINIMAX, NEGASCOUT = int(Algorithm.MINIMAX), int(Algorithm.NEGASCOUT)
SHARED_FROM = 4
"""Positions with at least this many remaining plies are marked where several threads search."""
POLL_INTERVAL = 1024
"""Number of positions visited between two checks of the stop flag."""
SOONER = 2.0**-44
"""The preference for the sooner of two wins. Evaluations that differ by less, relative to their size, are not told
apart anyway."""


class Memory(NamedTuple):
    """What a search to depth D writes into. Searches that run at the same time each need their own."""

    moves: NDArray[np.int64]
    """int64[D + 1, 64]: row l holds the moves of the position with l plies left, in the order in which they are tried.
    """
    ranks: NDArray[np.float64]
    """float64[64]: the rank of each move of the position whose moves are being ordered."""
    lines: NDArray[np.int64]
    """int64[D + 1, D + 2]: row l holds the best actions found from the position with l plies left; -1 after the last.
    """
    work: NDArray[np.int64]
    """int64[2]: [VISITED] the number of positions visited; [STOPPED] 1 once the search is stopped."""


VISITED, STOPPED = 0, 1


def make_memory(depth: int) -> Memory:
    """Memory for searches to this depth."""
    lines = np.full((depth + 1, depth + 2), -1, dtype=np.int64)
    return Memory(np.zeros((depth + 1, 64), dtype=np.int64), np.zeros(64), lines, np.zeros(2, dtype=np.int64))


class Search(NamedTuple):
    """What is the same for all positions of a search."""

    depth: int
    algorithm: int
    min_scout_depth: int
    """The smallest number of plies left at which NegaScout uses null windows; not used where only one is left."""
    ordered: bool
    reply_value: float
    clears_table: bool
    """Whether each position of a batch is searched with an empty table: the cuts of ProbCut that the searches of others
    have left in the table would change its result."""
    parameters: EvaluationParameters
    table: Table
    """Minimax does not use it."""
    probing: Any
    """A `selfplay.search.probcut.Probing`; 0 in a search without cuts."""
    stop: StopFlag
    """Polled, not set."""
    threads: Threads
    memory: Memory


Negamax = Callable[[int, int, int, float, float, Search], tuple[float, bool]]
"""(own, opp, left, alpha, beta, search) to the fail-soft value of a position, searched `left` > 0 plies ahead, and
whether it rests on the evaluation of an unfinished position, so that a deeper search may change it. Both are
meaningless once the search is stopped."""


@part_of_compiled
def count_position(search: Search) -> None:
    """Count a visited position, and notice from time to time whether the search is stopped or has been finished."""
    work = search.memory.work
    work[VISITED] += 1
    if work[VISITED] % POLL_INTERVAL == 0 and (search.stop[STOP] != 0 or search.threads.finished[0] != 0):
        work[STOPPED] = 1


@part_of_compiled
def write_line(lines: NDArray[np.int64], left: int, action: int) -> None:
    """Set the best line with `left` plies left to this action, followed by the best line of the next position."""
    lines[left, 0] = action
    column = 0
    while lines[left, column] != -1:
        column += 1
        lines[left, column] = lines[left - 1, column - 1]


def negamax_of(
    rules: Rules,
    unfinished_value: CompiledValue,
    pass_action: int | None,
    probe: Callable[..., tuple[bool, float]] | None = None,
    part: Callable[[Negamax], Negamax] = recursive_part,
) -> tuple[Negamax, Negamax]:
    """The search of a position of a game with these rules, and the same for 0 plies left, where the first does not go.

    Args:
        probe: `probe(own, opp, left, alpha, beta, search)` is asked before the moves of a position are tried, except at
            the root. It returns whether to cut them off, and the value if so.
        part: makes the two functions parts of compiled code.
    """
    legal_actions, play, is_terminal = rules.legal_actions, rules.play, rules.is_terminal
    # Where points are counted, speed does not matter.
    value_at_end, sooner = finished_value(rules), SOONER if rules.margin is None else 0.0
    list_moves, passing = compile_order(rules, unfinished_value), -1 if pass_action is None else pass_action
    register_rules()

    @part_of_compiled
    def action_of(move: int) -> int:
        return passing if move == 0 else bit_count(move - 1)

    @part
    def leaf(own: int, opp: int, left: int, alpha: float, beta: float, search: Search) -> tuple[float, bool]:
        count_position(search)
        search.memory.lines[left, 0] = -1
        if legal_actions(own, opp) == 0 and is_terminal(own, opp):
            return value_at_end(own, opp, search.parameters.finished), False
        return unfinished_value(own, opp, search.parameters.unfinished), True

    @part_of_compiled
    def put_off_marked(own: int, opp: int, moves: NDArray[np.int64], tried: int, count: int, threads: Threads) -> None:
        """Make the first untried move that leads to no marked position the next one."""
        for place in range(tried, count):
            move = moves[place]
            mine, others = play(own, opp, move)
            if not is_marked(mine, others, threads):
                for passed in range(place, tried, -1):
                    moves[passed] = moves[passed - 1]
                moves[tried] = move
                return

    @part
    def negamax(own: int, opp: int, left: int, alpha: float, beta: float, search: Search) -> tuple[float, bool]:
        table, threads, memory = search.table, search.threads, search.memory
        count_position(search)
        if memory.work[STOPPED] != 0:
            return 0.0, False
        memory.lines[left, 0] = -1
        bits, is_root = legal_actions(own, opp), left == search.depth
        if bits == 0 and is_terminal(own, opp):
            return value_at_end(own, opp, search.parameters.finished) * (1.0 + left * sooner), False
        is_known, value, is_open, first_move = look_up(table, own, opp, left, alpha, beta)
        if is_known:
            return value, is_open
        if probe is not None and not is_root:
            is_cut, value = probe(own, opp, left, alpha, beta, search)
            if is_cut:
                return value, True
            if first_move == 0:  # the probe may have found one
                first_move = look_up(table, own, opp, left, alpha, beta)[3]
        moves, context = memory.moves[left], (search.reply_value, search.parameters)
        count = list_moves(own, opp, bits, first_move, left if search.ordered else 1, context, moves, memory.ranks)
        mark = put_mark(own, opp, threads) if is_shared(threads) and left >= SHARED_FROM else -1
        scouts = search.algorithm == NEGASCOUT and left >= search.min_scout_depth and left > 1
        best, best_move, is_open = -np.inf, moves[0], False
        for tried in range(count):
            if mark >= 0 and left > SHARED_FROM and tried > 0:
                put_off_marked(own, opp, moves, tried, count, threads)
            move, low = moves[tried], max(alpha, best)
            # At the root, the lowest of several best actions is wanted: there an equal value matters too.
            precedes = is_root and tried > 0 and action_of(move) < action_of(best_move)
            if precedes:
                low = np.nextafter(low, -np.inf)
            is_scouted = scouts and tried > 0
            child_alpha, child_beta = -beta, -low
            if search.algorithm == MINIMAX:
                child_alpha, child_beta = -np.inf, np.inf
            elif is_scouted:
                child_alpha = -np.nextafter(low, np.inf)
            mine, others = play(own, opp, move)
            if left == 1:
                value, may_change = leaf(mine, others, 0, child_alpha, child_beta, search)
            else:
                value, may_change = negamax(mine, others, left - 1, child_alpha, child_beta, search)
            if is_scouted and low < -value < beta:
                # The null window has shown only that the move is better; the new one begins just below its value.
                value, may_change = negamax(mine, others, left - 1, -beta, np.nextafter(value, np.inf), search)
            is_open |= may_change
            if -value > best or (precedes and -value == best):
                best, best_move = -value, move
                write_line(memory.lines, left, action_of(move))
            if best >= beta:
                break
        if memory.work[STOPPED] == 0:
            store(table, own, opp, left, (alpha, beta), best, is_open, best_move)
        if mark >= 0:
            threads.marks[mark] = 0
        return best, is_open

    return negamax, leaf


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
    passing, prefers_sooner = -1 if pass_action is None else pass_action, rules.margin is None

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
