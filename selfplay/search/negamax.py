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

In a game that does not count points, a sooner win has a higher value, and a sooner loss a lower one: the value of a
finished match is multiplied by 1 + SOONER for each ply that was left to search. The value of a position then depends
only on the depth still to be searched, which the table compares. The factor is too small to have another effect.

If the same player moves again in a following position, its value keeps its sign and its window is (low, beta).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.compilation import Words, part_of_compiled, recursive_part
from selfplay.compute.compiled_words import load
from selfplay.compute.compiled_words import store as store_word
from selfplay.compute.positions import pack
from selfplay.games.rules import Position, Rules
from selfplay.search.action_order import order_of_actions
from selfplay.search.evaluation import AT_ONCE, CompiledBatchValue, CompiledValue, EvaluationParameters, finished_value
from selfplay.search.evaluation import moves_again as again_in
from selfplay.search.threads import STOP, Threads, is_marked, is_shared, put_mark
from selfplay.search.transposition_table import NO_ACTION, Table, look_up, store

ALGORITHMS = ("minimax", "alpha_beta", "negascout")
MINIMAX, _, NEGASCOUT = range(len(ALGORITHMS))
MIN_CUT_DEPTH = 3
"""The smallest number of remaining plies at which the table is searched for a following position that cuts."""
SHARED_FROM = 4
"""Positions with at least this many remaining plies are marked where several threads search."""
POLL_INTERVAL = 1024
"""Number of positions visited between two checks of the stop flag."""
SOONER = 2.0**-44
"""The preference for the sooner of two wins. Evaluations whose relative difference is smaller count as equal."""


class Ahead(NamedTuple):
    """The next positions without plies left, valued together before they are visited; at most AT_ONCE."""

    positions: Words
    values: NDArray[np.float64]
    pending: NDArray[np.int64]
    """int64[2]: the place of the next one, and their number; equal where there are none."""


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
    window: float
    """Half the width of the first window; 0: none."""
    predicted: NDArray[np.float64]
    """float64[B]: the values around which it is; nan: that of a shallower search."""
    parameters: EvaluationParameters
    table: Table
    """Minimax does not use it."""
    probing: Any
    """A `selfplay.search.probcut.Probing`; 0 in a search without cuts."""
    threads: Threads
    actions: NDArray[np.int64]
    """int64[D + 1, A]: row l holds the actions of the position with l plies left, in the order in which they are tried.
    """
    following: Words
    """[D + 1, A]: row l > 1 holds the packed positions that these actions lead to."""
    ranks: NDArray[np.float64]
    """float64[A]: the rank of each action of the position whose actions are being ordered."""
    lines: NDArray[np.int64]
    """int64[D + 1, D + 2], at first -1: row l holds the best actions found from the position with l plies left, then
    -1."""
    killers: NDArray[np.int64]
    """int64[D + 1]: the action that has last cut off a position with each number of plies left, or NO_ACTION."""
    ahead: Ahead
    work: NDArray[np.int64]
    """int64[2]: [VISITED] the number of positions visited; [STOPPED] 1 once the search is stopped."""


VISITED, STOPPED = range(2)

Negamax = Callable[[Position, int, float, float, NegamaxSearch], tuple[float, bool]]
"""From (position, left, alpha, beta, search) to two results for a position that is searched `left` > 0 plies ahead: its
fail-soft value, and whether the value depends on the evaluation of an unfinished position, so that a deeper search may
change it. Both are meaningless once the search is stopped."""


@part_of_compiled
def count_position(search: NegamaxSearch) -> None:
    """Count a visited position, and check from time to time whether the search is stopped or has been finished."""
    work, threads = search.work, search.threads
    work[VISITED] += 1
    if work[VISITED] % POLL_INTERVAL == 0:
        work[STOPPED] |= int(threads.stop[STOP] != 0 or threads.finished[0] != 0)


@part_of_compiled
def write_line(lines: NDArray[np.int64], left: int, action: int) -> None:
    """Set the best line with `left` plies left to this action, followed by the best line of the next position."""
    lines[left, 0] = action
    column = 0
    while lines[left, column] != -1:
        column += 1
        lines[left, column] = lines[left - 1, column - 1]


@part_of_compiled
def put_off_marked(actions: NDArray[np.int64], following: Words, tried: int, count: int, threads: Threads) -> None:
    """Make the first untried action that leads to no marked position the next one."""
    for place in range(tried, count):
        action, packed = actions[place], load(following, place)
        if not is_marked(packed, threads):
            for passed in range(place, tried, -1):
                actions[passed] = actions[passed - 1]
                store_word(following, passed, load(following, passed - 1))
            actions[tried] = action
            store_word(following, tried, packed)
            return


@part_of_compiled
def turned(value: float, is_again: bool) -> float:
    """The value of a position to the player who has made the last move."""
    return value if is_again else -value


@part_of_compiled
def turned_window(low: float, high: float, is_again: bool) -> tuple[float, float]:
    """A window of the player who has made the last move, as one of the player to move."""
    return (low, high) if is_again else (-high, -low)


def negamax_of(
    rules: Rules,
    unfinished_value: CompiledValue,
    pass_action: int | None,
    unfinished_values: CompiledBatchValue | None = None,
    probe: Callable[..., tuple[int, float, bool]] | None = None,
    part: Callable[[Negamax], Negamax] = recursive_part,
) -> tuple[Negamax, Negamax]:
    """Two functions for a game with these rules: the search of a position, and its value with 0 plies left.

    Args:
        unfinished_values: if given, the following positions of one with 1 ply left are valued together.
        probe: `probe(position, left, alpha, beta, search)` is asked before the moves of a position are tried, except at
            the root. It returns the depth of a search that may cut them off, 0 for none, the limit, and whether the
            value of this search has to be at least the limit, and the position then gets beta, or at most, and alpha.
        part: makes the two functions parts of compiled code.
    """
    legal_actions, play, is_terminal = rules.legal_actions, rules.play, rules.is_terminal
    # Where points are counted, speed does not matter.
    value_at_end, sooner = finished_value(rules), SOONER if rules.margin is None else 0.0
    unpack, moves_again, passing = rules.position.unpack, again_in(rules), -1 if pass_action is None else pass_action
    list_actions = order_of_actions(rules, unfinished_value, passing)

    @part
    def leaf(position: Position, left: int, alpha: float, beta: float, search: NegamaxSearch) -> tuple[float, bool]:
        count_position(search)
        search.lines[left, 0] = -1
        place, end = 0, 0
        if unfinished_values is not None:
            ahead = search.ahead
            place, end = ahead.pending[0], ahead.pending[1]
            ahead.pending[0] = min(place + 1, end)
        if legal_actions(position) == 0 and is_terminal(position):
            return value_at_end(position, search.parameters.finished), False
        if place < end:
            return search.ahead.values[place], True
        return unfinished_value(position, search.parameters.unfinished), True

    @part_of_compiled
    def value_ahead(
        position: Position, actions: NDArray[np.int64], tried: int, count: int, search: NegamaxSearch
    ) -> None:
        """Value the positions that the next actions lead to."""
        ahead, number = search.ahead, min(count - tried, AT_ONCE)
        for place in range(number):
            store_word(ahead.positions, place, pack(play(position, actions[tried + place])))
        if unfinished_values is not None:
            unfinished_values(ahead.positions, number, search.parameters.unfinished, ahead.values)
        ahead.pending[0], ahead.pending[1] = 0, number

    @part_of_compiled
    def find_cut(following: Words, count: int, left: int, beta: float, table: Table) -> tuple[bool, float, bool]:
        """Whether the table has a following position, with `left` plies left, whose value is at least beta to the
        player who moves to it; this value; and whether a deeper search may change it ("enhanced transposition cutoffs":
        Schaeffer & Plaat, "New advances in alpha-beta searching", 1996)."""
        for place in range(count):
            packed = load(following, place)
            is_again = moves_again(unpack(packed))
            low, high = turned_window(-np.inf, beta, is_again)
            is_known, value, is_open, _ = look_up(table, packed, left, low, high)
            if is_known and turned(value, is_again) >= beta:
                return True, turned(value, is_again), is_open
        return False, 0.0, False

    @part
    def negamax(position: Position, left: int, alpha: float, beta: float, search: NegamaxSearch) -> tuple[float, bool]:
        table, threads, actions, following = search.table, search.threads, search.actions[left], search.following[left]
        packed = pack(position)
        count_position(search)
        if search.work[STOPPED] != 0:
            return 0.0, False
        search.lines[left, 0] = -1
        bits, is_root = legal_actions(position), left == search.depth
        if bits == 0 and is_terminal(position):
            return value_at_end(position, search.parameters.finished) * (1.0 + left * sooner), False
        is_known, value, is_open, first_action = look_up(table, packed, left, alpha, beta)
        if is_known:
            return value, is_open
        if probe is not None and not is_root:
            shallow, limit, is_above = probe(position, left, alpha, beta, search)
            if shallow > 0:
                low, high = (np.nextafter(limit, -np.inf), limit) if is_above else (limit, np.nextafter(limit, np.inf))
                value, _ = negamax(position, shallow, low, high, search)
                if value >= limit if is_above else value <= limit:
                    return (beta if is_above else alpha), True
            if first_action == NO_ACTION:  # the probe may have found one
                first_action = look_up(table, packed, left, alpha, beta)[3]
        count = list_actions(position, bits, first_action, left, search)
        if left >= MIN_CUT_DEPTH and not is_root and table.shape[0] > 0:
            is_cut, value, is_open = find_cut(following, count, left - 1, beta, table)
            if is_cut:
                return value, is_open
        mark = put_mark(packed, threads) if is_shared(threads) and left >= SHARED_FROM else -1
        scouts = search.algorithm == NEGASCOUT and left >= search.min_scout_depth and left > 1
        best, best_action, is_open = -np.inf, actions[0], False
        for tried in range(count):
            if mark >= 0 and left > SHARED_FROM and tried > 0:
                put_off_marked(actions, following, tried, count, threads)
            action, low = int(actions[tried]), max(alpha, best)
            # At the root, the lowest of several best actions is wanted: there an equal value matters too.
            precedes = is_root and tried > 0 and action < best_action
            if precedes:
                low = np.nextafter(low, -np.inf)
            is_scouted = scouts and tried > 0
            start, end = low, beta
            if search.algorithm == MINIMAX:
                start, end = -np.inf, np.inf
            elif is_scouted:
                end = np.nextafter(low, np.inf)
            if unfinished_values is not None and left == 1 and tried > 0:
                ahead = search.ahead
                if ahead.pending[0] == ahead.pending[1]:
                    value_ahead(position, actions, tried, count, search)
                after = unpack(load(ahead.positions, ahead.pending[0]))
            elif left == 1:
                after = play(position, action)
            else:
                after = unpack(load(following, tried))
            is_again = moves_again(after)
            child_alpha, child_beta = turned_window(start, end, is_again)
            if left == 1:
                value, may_change = leaf(after, left - 1, child_alpha, child_beta, search)
            else:
                value, may_change = negamax(after, left - 1, child_alpha, child_beta, search)
            value = turned(value, is_again)
            if is_scouted and low < value < beta:
                # The null window has only shown that the move is better. The new window begins just below its value.
                child_alpha, child_beta = turned_window(np.nextafter(value, -np.inf), beta, is_again)
                value, may_change = negamax(after, left - 1, child_alpha, child_beta, search)
                value = turned(value, is_again)
            is_open |= may_change
            if value > best or (precedes and value == best):
                best, best_action = value, action
                write_line(search.lines, left, action)
            if best >= beta:
                if action != passing:  # not a bit of a word
                    search.killers[left] = action
                break
        if unfinished_values is not None and left == 1:
            search.ahead.pending[1] = search.ahead.pending[0]
        if search.work[STOPPED] == 0:
            store(table, packed, left, (alpha, beta), best, is_open, best_action)
        if mark >= 0:
            threads.marks[mark] = 0
        return best, is_open

    return negamax, leaf
