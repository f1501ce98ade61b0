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

import numpy as np

from selfplay.compute.compilation import part_of_compiled, recursive_part
from selfplay.compute.compiled_words import load
from selfplay.compute.compiled_words import store as store_word
from selfplay.compute.positions import pack
from selfplay.games.general_rules import pass_of
from selfplay.games.rules import Position, Rules, over_of
from selfplay.search.action_order import order_of_actions
from selfplay.search.evaluation import AT_ONCE, CompiledBatchValue, CompiledValue, finished_value
from selfplay.search.evaluation import moves_again as again_in
from selfplay.search.negamax_memory import STOPPED, NegamaxSearch, count_visit, write_line
from selfplay.search.threads import is_marked, is_shared, put_mark
from selfplay.search.transposition_table import NO_ACTION, look_up_value, store_value

ALGORITHMS = ("minimax", "alpha_beta", "negascout")
MINIMAX, _, NEGASCOUT = range(len(ALGORITHMS))
MIN_CUT_DEPTH = 3
"""The smallest number of remaining plies at which the table is searched for a following position that cuts."""
SHARED_FROM = 4
"""Positions with at least this many remaining plies are marked where several threads search."""
SOONER = 2.0**-44
"""The preference for the sooner of two wins. Evaluations whose relative difference is smaller count as equal."""

Negamax = Callable[[Position, int, float, float, NegamaxSearch], tuple[float, bool]]
"""From (position, left, alpha, beta, search) to two results for a position that is searched `left` > 0 plies ahead: its
fail-soft value, and whether the value depends on the evaluation of an unfinished position, so that a deeper search may
change it. Both are meaningless once the search is stopped."""


@part_of_compiled
def value_before_move(value: float, is_again: bool) -> float:
    """The value of a position to the player who has made the last move."""
    return value if is_again else -value


@part_of_compiled
def turned_window(low: float, high: float, is_again: bool) -> tuple[float, float]:
    """A window of the player who has made the last move, as one of the player to move."""
    return (low, high) if is_again else (-high, -low)


@part_of_compiled
def null_window(limit: float, is_above: bool) -> tuple[float, float]:
    """The window that tests whether a value is at least the limit or, unless `is_above`, at most the limit."""
    return (np.nextafter(limit, -np.inf), limit) if is_above else (limit, np.nextafter(limit, np.inf))


@part_of_compiled
def first_window(low: float, beta: float, left: int, tried: int, search: NegamaxSearch) -> tuple[float, float]:
    """The window in which a move is searched first, if `low` is the least value that matters."""
    if search.algorithm == MINIMAX:
        return -np.inf, np.inf
    if search.algorithm == NEGASCOUT and tried > 0 and left > 1 and left >= search.min_scout_depth:
        return null_window(low, False)
    return low, beta


@part_of_compiled
def put_off_marked(left: int, tried: int, count: int, search: NegamaxSearch) -> None:
    """Make the first untried action that leads to no marked position the next one."""
    actions, following = search.actions[left], search.following[left]
    for place in range(tried, count):
        action, packed = actions[place], load(following, place)
        if not is_marked(packed, search.threads):
            for passed in range(place, tried, -1):
                actions[passed] = actions[passed - 1]
                store_word(following, passed, load(following, passed - 1))
            actions[tried] = action
            store_word(following, tried, packed)
            return


def last_plies_of(
    rules: Rules,
    unfinished_value: CompiledValue,
    unfinished_values: CompiledBatchValue | None,
    part: Callable[[Negamax], Negamax],
) -> tuple[Negamax, Callable[..., Position]]:
    """Two functions for `negamax_of`, which has the same arguments: the value of a position with 0 plies left, and the
    position after an action that is tried, `position_after(position, left, tried, count, search)`."""
    play, unpack, is_over, value_at_end = rules.play, rules.position.unpack, over_of(rules), finished_value(rules)

    @part
    def leaf(position: Position, left: int, alpha: float, beta: float, search: NegamaxSearch) -> tuple[float, bool]:
        count_visit(search)
        search.lines[left, 0] = -1
        place, end = 0, 0
        if unfinished_values is not None:
            ahead = search.ahead
            place, end = ahead.pending[0], ahead.pending[1]
            ahead.pending[0] = min(place + 1, end)
        if is_over(position):
            return value_at_end(position, search.parameters.finished), False
        if place < end:
            return search.ahead.values[place], True
        return unfinished_value(position, search.parameters.unfinished), True

    @part_of_compiled
    def value_ahead(position: Position, tried: int, count: int, search: NegamaxSearch) -> None:
        """Value the positions that the next actions of the last ply lead to."""
        ahead, number = search.ahead, min(count - tried, AT_ONCE)
        for place in range(number):
            store_word(ahead.positions, place, pack(play(position, search.actions[1, tried + place])))
        if unfinished_values is not None:
            unfinished_values(ahead.positions, number, search.parameters.unfinished, ahead.values)
        ahead.pending[0], ahead.pending[1] = 0, number

    @part_of_compiled
    def position_after(position: Position, left: int, tried: int, count: int, search: NegamaxSearch) -> Position:
        """The position after the move that is tried now."""
        if left > 1:
            return unpack(load(search.following[left], tried))
        if unfinished_values is not None and tried > 0:
            ahead = search.ahead
            if ahead.pending[0] == ahead.pending[1]:
                value_ahead(position, tried, count, search)
            return unpack(load(ahead.positions, ahead.pending[0]))
        return play(position, search.actions[1, tried])

    return leaf, position_after


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
    legal_actions, is_terminal, value_at_end = rules.legal_actions, rules.is_terminal, finished_value(rules)
    unpack, moves_again, pass_in = rules.position.unpack, again_in(rules), pass_of(pass_action)
    list_actions = order_of_actions(rules, unfinished_value, pass_action)
    leaf, position_after = last_plies_of(rules, unfinished_value, unfinished_values, part)

    @part_of_compiled
    def find_cut(count: int, left: int, beta: float, search: NegamaxSearch) -> tuple[bool, float, bool]:
        """Whether the table has a following position whose value is at least beta to the player who moves to it; this
        value; and whether a deeper search may change it ("enhanced transposition cutoffs": Schaeffer & Plaat, "New
        advances in alpha-beta searching", 1996)."""
        table, following = search.table, search.following[left]
        if left >= MIN_CUT_DEPTH and left < search.depth and table.shape[0] > 0:
            for place in range(count):
                packed = load(following, place)
                is_again = moves_again(unpack(packed))
                low, high = turned_window(-np.inf, beta, is_again)
                is_known, value, is_open, _ = look_up_value(table, packed, left - 1, low, high)
                if is_known and value_before_move(value, is_again) >= beta:
                    return True, value_before_move(value, is_again), is_open
        return False, 0.0, False

    @part
    def negamax(position: Position, left: int, alpha: float, beta: float, search: NegamaxSearch) -> tuple[float, bool]:
        packed, is_root = pack(position), left == search.depth
        count_visit(search)
        if search.work[STOPPED] != 0:
            return 0.0, False
        search.lines[left, 0] = -1
        bits = legal_actions(position)
        if bits == 0 and is_terminal(position):
            return value_at_end(position, search.parameters.finished) * (1.0 + left * search.sooner), False
        is_known, value, is_open, first_action = look_up_value(search.table, packed, left, alpha, beta)
        if is_known:
            return value, is_open
        if probe is not None and not is_root:
            shallow, limit, is_above = probe(position, left, alpha, beta, search)
            if shallow > 0:
                low, high = null_window(limit, is_above)
                value, _ = negamax(position, shallow, low, high, search)
                if value >= limit if is_above else value <= limit:
                    return (beta if is_above else alpha), True
            if first_action == NO_ACTION:  # the probe may have found one
                first_action = look_up_value(search.table, packed, left, alpha, beta)[3]
        count = list_actions(position, bits, first_action, left, search)
        is_cut, value, is_open = find_cut(count, left, beta, search)
        if is_cut:
            return value, is_open
        mark = put_mark(packed, search.threads) if is_shared(search.threads) and left >= SHARED_FROM else -1
        best, best_action, is_open = -np.inf, int(search.actions[left, 0]), False
        for tried in range(count):
            if mark >= 0 and left > SHARED_FROM and tried > 0:
                put_off_marked(left, tried, count, search)
            action, low = int(search.actions[left, tried]), max(alpha, best)
            # At the root, the lowest of several best actions is wanted: there an equal value matters too.
            precedes = is_root and tried > 0 and action < best_action
            start, end = first_window(np.nextafter(low, -np.inf) if precedes else low, beta, left, tried, search)
            after = position_after(position, left, tried, count, search)
            is_again = moves_again(after)
            while True:
                child_alpha, child_beta = turned_window(start, end, is_again)
                if left == 1:
                    value, may_change = leaf(after, 0, child_alpha, child_beta, search)
                else:
                    value, may_change = negamax(after, left - 1, child_alpha, child_beta, search)
                value = value_before_move(value, is_again)
                if not start < value < beta or end >= beta:
                    break
                # The null window has only shown that the move is better. The new window begins just below its value.
                start, end = np.nextafter(value, -np.inf), beta
            is_open |= may_change
            if value > best or (precedes and value == best):
                best, best_action = value, action
                write_line(search.lines, left, action)
            if best >= beta:
                if action != pass_in(position):  # not a bit of a word
                    search.killers[left] = action
                break
        if unfinished_values is not None and left == 1:
            search.ahead.pending[1] = search.ahead.pending[0]
        if search.work[STOPPED] == 0:
            store_value(search.table, packed, left, (alpha, beta), best, is_open, best_action)
        if mark >= 0:
            search.threads.marks[mark] = 0
        return best, is_open

    return negamax, leaf
