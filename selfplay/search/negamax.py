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

If the first move is the best more often, more of the rest is cut off. The move that was best in an earlier search comes
first. Far from the leaves the order matters more, so the other moves are ordered by the value of the position after
them. Near the leaves they are ordered by the number of replies, which is faster to count.

In a game that does not count points, a sooner win has a higher value, and a sooner loss a lower one: the value of a
finished match is multiplied by 1 + SOONER for each ply that was left to search. The value of a position then depends
only on the depth still to be searched, which the table compares. The factor is too small to have another effect.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word, bit_count
from selfplay.compute.compilation import part_of_compiled, recursive_part, register_rules
from selfplay.compute.compiled_words import bit_like, lowest, move_of
from selfplay.games.rules import Rules
from selfplay.search.evaluation import CompiledValue, EvaluationParameters, finished_value
from selfplay.search.threads import STOP, Threads, is_marked, is_shared, put_mark
from selfplay.search.transposition_table import NO_ACTION, Table, look_up, store

ALGORITHMS = ("minimax", "alpha_beta", "negascout")
MINIMAX, _, NEGASCOUT = range(len(ALGORITHMS))
MIN_VALUE_DEPTH = 4
"""The smallest number of remaining plies at which moves are ordered by value."""
SHARED_FROM = 4
"""Positions with at least this many remaining plies are marked where several threads search."""
POLL_INTERVAL = 1024
"""Number of positions visited between two checks of the stop flag."""
SOONER = 2.0**-44
"""The preference for the sooner of two wins. Evaluations whose relative difference is smaller count as equal."""


class NegamaxSearch(NamedTuple):
    """What is the same for all positions of a search to depth D. Searches at the same time each need their own."""

    depth: int
    algorithm: int
    """The number of the algorithm in ALGORITHMS."""
    min_scout_depth: int
    """The smallest number of plies left at which NegaScout uses null windows; not used where only one is left."""
    ordered: bool
    clears_table: bool
    """Whether each position of a batch is searched with an empty table. Cuts of ProbCut in the table, left by the
    searches of other positions, would change the result."""
    reply_value: float
    """That of the evaluation."""
    parameters: EvaluationParameters
    table: Table
    """Minimax does not use it."""
    probing: Any
    """A `selfplay.search.probcut.Probing`; 0 in a search without cuts."""
    threads: Threads
    actions: NDArray[np.int64]
    """int64[D + 1, A]: row l holds the actions of the position with l plies left, in the order in which they are tried.
    """
    ranks: NDArray[np.float64]
    """float64[A]: the rank of each action of the position whose actions are being ordered."""
    lines: NDArray[np.int64]
    """int64[D + 1, D + 2], at first -1: row l holds the best actions found from the position with l plies left, then
    -1."""
    work: NDArray[np.int64]
    """int64[2]: [VISITED] the number of positions visited; [STOPPED] 1 once the search is stopped."""


VISITED, STOPPED = 0, 1

Negamax = Callable[[Word, Word, int, float, float, NegamaxSearch], tuple[float, bool]]
"""From (own, opp, left, alpha, beta, search) to two results for a position that is searched `left` > 0 plies ahead: its
fail-soft value, and whether the value depends on the evaluation of an unfinished position, so that a deeper search may
change it. Both are meaningless once the search is stopped."""


@part_of_compiled
def count_position(search: NegamaxSearch) -> None:
    """Count a visited position, and check from time to time whether the search is stopped or has been finished."""
    work, threads = search.work, search.threads
    work[VISITED] += 1
    if work[VISITED] % POLL_INTERVAL == 0 and (threads.stop[STOP] != 0 or threads.finished[0] != 0):
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
    """Two functions for a game with these rules: the search of a position, and its value with 0 plies left.

    Args:
        probe: `probe(own, opp, left, alpha, beta, search)` is asked before the moves of a position are tried, except at
            the root. It returns whether to cut them off, and the value if so.
        part: makes the two functions parts of compiled code.
    """
    legal_actions, play, is_terminal = rules.legal_actions, rules.play, rules.is_terminal
    # Where points are counted, speed does not matter.
    value_at_end, sooner = finished_value(rules), SOONER if rules.margin is None else 0.0
    passing = -1 if pass_action is None else pass_action
    list_actions = order_of_actions(rules, unfinished_value, passing)
    register_rules()

    @part
    def leaf(own: Word, opp: Word, left: int, alpha: float, beta: float, search: NegamaxSearch) -> tuple[float, bool]:
        count_position(search)
        search.lines[left, 0] = -1
        if legal_actions(own, opp) == 0 and is_terminal(own, opp):
            return value_at_end(own, opp, search.parameters.finished), False
        return unfinished_value(own, opp, search.parameters.unfinished), True

    @part_of_compiled
    def put_off_marked(
        own: Word, opp: Word, actions: NDArray[np.int64], tried: int, count: int, threads: Threads
    ) -> None:
        """Make the first untried action that leads to no marked position the next one."""
        for place in range(tried, count):
            action = actions[place]
            mine, others = play(own, opp, move_of(own, action, passing))
            if not is_marked(mine, others, threads):
                for passed in range(place, tried, -1):
                    actions[passed] = actions[passed - 1]
                actions[tried] = action
                return

    @part
    def negamax(
        own: Word, opp: Word, left: int, alpha: float, beta: float, search: NegamaxSearch
    ) -> tuple[float, bool]:
        table, threads, actions = search.table, search.threads, search.actions[left]
        count_position(search)
        if search.work[STOPPED] != 0:
            return 0.0, False
        search.lines[left, 0] = -1
        bits, is_root = legal_actions(own, opp), left == search.depth
        if bits == 0 and is_terminal(own, opp):
            return value_at_end(own, opp, search.parameters.finished) * (1.0 + left * sooner), False
        is_known, value, is_open, first_action = look_up(table, own, opp, left, alpha, beta)
        if is_known:
            return value, is_open
        if probe is not None and not is_root:
            is_cut, value = probe(own, opp, left, alpha, beta, search)
            if is_cut:
                return value, True
            if first_action == NO_ACTION:  # the probe may have found one
                first_action = look_up(table, own, opp, left, alpha, beta)[3]
        count = list_actions(own, opp, bits, first_action, left, search)
        mark = put_mark(own, opp, threads) if is_shared(threads) and left >= SHARED_FROM else -1
        scouts = search.algorithm == NEGASCOUT and left >= search.min_scout_depth and left > 1
        best, best_action, is_open = -np.inf, actions[0], False
        for tried in range(count):
            if mark >= 0 and left > SHARED_FROM and tried > 0:
                put_off_marked(own, opp, actions, tried, count, threads)
            action, low = actions[tried], max(alpha, best)
            # At the root, the lowest of several best actions is wanted: there an equal value matters too.
            precedes = is_root and tried > 0 and action < best_action
            if precedes:
                low = np.nextafter(low, -np.inf)
            is_scouted = scouts and tried > 0
            child_alpha, child_beta = -beta, -low
            if search.algorithm == MINIMAX:
                child_alpha, child_beta = -np.inf, np.inf
            elif is_scouted:
                child_alpha = -np.nextafter(low, np.inf)
            mine, others = play(own, opp, move_of(own, action, passing))
            if left == 1:
                value, may_change = leaf(mine, others, left - 1, child_alpha, child_beta, search)
            else:
                value, may_change = negamax(mine, others, left - 1, child_alpha, child_beta, search)
            if is_scouted and low < -value < beta:
                # The null window has only shown that the move is better. The new window begins just below its value.
                value, may_change = negamax(mine, others, left - 1, -beta, np.nextafter(value, np.inf), search)
            is_open |= may_change
            if -value > best or (precedes and -value == best):
                best, best_action = -value, action
                write_line(search.lines, left, action)
            if best >= beta:
                break
        if search.work[STOPPED] == 0:
            store(table, own, opp, left, (alpha, beta), best, is_open, best_action)
        if mark >= 0:
            threads.marks[mark] = 0
        return best, is_open

    return negamax, leaf


# ---------------------------------------------------------------------- the order of actions


@cache
def order_of_actions(rules: Rules, unfinished_value: CompiledValue, passing: int) -> Callable[..., int]:
    """`list_actions(own, opp, bits, first_action, left, search)` of a game with these rules.

    It writes the actions of `bits`, or a pass if there are none, into `search.actions[left]` in the order in which they
    are to be tried, `first_action` first, and returns their number.
    """
    legal_actions, is_terminal, value_at_end = rules.legal_actions, rules.is_terminal, finished_value(rules)
    register_rules()

    @part_of_compiled
    def replies(own: Word, opp: Word, search: NegamaxSearch) -> Word:
        return bit_count(legal_actions(own, opp))

    @part_of_compiled
    def value(own: Word, opp: Word, search: NegamaxSearch) -> Word:
        bits = legal_actions(own, opp)
        total = search.reply_value * bit_count(bits)
        if bits == 0 and is_terminal(own, opp):
            total += value_at_end(own, opp, search.parameters.finished)
        else:
            total += unfinished_value(own, opp, search.parameters.unfinished)
        return total

    by_replies, by_value = _sorting_by(replies, rules), _sorting_by(value, rules)

    @part_of_compiled
    def list_actions(own: Word, opp: Word, bits: Word, first_action: int, left: int, search: NegamaxSearch) -> int:
        actions = search.actions[left]
        if bits == 0:
            actions[0] = passing
            return 1
        if left == 1 or not search.ordered:
            count = 0
            while bits != 0:
                actions[count] = lowest(bits)
                bits &= bits - 1
                count += 1
            return count
        if left < MIN_VALUE_DEPTH:
            return by_replies(own, opp, bits, first_action, actions, search)
        return by_value(own, opp, bits, first_action, actions, search)

    return list_actions


def _sorting_by(rank_of: Callable[..., float], rules: Rules) -> Callable[..., int]:
    """The order by `rank_of(own, opp, search)` of the position that an action leads to, the lowest first.

    One function for each rank: a choice between them inside the loop costs up to 6 % of a search.
    """
    play = rules.play

    @part_of_compiled
    def list_sorted(
        own: Word, opp: Word, bits: Word, first_action: int, actions: NDArray[np.int64], search: NegamaxSearch
    ) -> int:
        ranks, count = search.ranks, 0
        while bits != 0:
            action = lowest(bits)
            bits &= bits - 1
            rank = -np.inf if action == first_action else rank_of(*play(own, opp, bit_like(own, action)), search)
            place = count
            while place > 0 and ranks[place - 1] > rank:
                actions[place], ranks[place] = actions[place - 1], ranks[place - 1]
                place -= 1
            actions[place], ranks[place] = action, rank
            count += 1
        return count

    return list_sorted
