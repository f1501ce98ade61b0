"""The compiled search for the exact value of a position near the end of a match.

One call determines whether the value is above a bound (a null-window search). Bounds that it proves are stored in a
table for the next call.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np

from selfplay.compute.bit_algebra import Word, bit_count
from selfplay.compute.compilation import compiled, part_of_compiled, prefetch, recursive_part, register_rules
from selfplay.games.rules import Rules, TurningRules
from selfplay.search.endgame.last_squares import (
    COUNT,
    LAST_SQUARES,
    NO_VALUE,
    Count,
    Counts,
    compiled_flips,
    last_squares_search,
)
from selfplay.search.endgame.move_ordering import CHILD, NO_LEARNED_VALUES, Children, LearnedValues, move_ordering
from selfplay.search.endgame.table import (
    HIGHEST,
    LOWEST,
    Table,
    bounds_of,
    bucket_of,
    entry_of,
    look_up,
    remember,
)
from selfplay.search.threads import STOP, Threads, is_marked, is_shared, make_stop_flag, make_threads, put_mark

CUTOFF_FROM = 10
"""With at least this number of empty squares, all following positions are first looked up in the table: one may already
decide the search."""
SHARED_FROM = 11
"""If several threads search, positions with at least this number of empty squares are marked."""
PUT_OFF = 1 << 45
"""Added to the rating of a move that is to be tried after those that no thread is searching."""
POLL_INTERVAL = 4096
MAX_CHILDREN = 64 * 65 // 2

ALL_MOVES = 64
"""A width at which no move is left out."""
GUESS_DOWN_TO = 10
"""With fewer empty squares than this, a guess tries all moves."""


class Search(NamedTuple):
    """What is the same for all positions of a search."""

    number: int
    """The number of the search (see `table`)."""
    width: int
    """If at least GUESS_DOWN_TO squares are empty, only this number of moves is tried."""
    children: Children
    """The positions after the untried moves of all positions on the way to the current one."""
    table: Table
    learned: LearnedValues
    """Orders the moves (see `move_ordering`)."""
    progress: Count
    threads: Threads


@part_of_compiled
def is_stopped(search: Search) -> bool:
    """Count a position; whether the search is stopped, or another thread has finished it."""
    progress = search.progress
    progress.visited += 1
    if progress.visited > progress.next_poll:
        progress.next_poll = progress.visited + POLL_INTERVAL
        if search.threads.stop[STOP] != 0 or search.threads.finished[0] != 0:
            progress.is_stopped = 1
    return progress.is_stopped != 0


@part_of_compiled
def known_cutoff(children: Children, bound: int, search: int, table: Table) -> Word:
    """A value above the bound that one of the children is known to give, or NO_VALUE."""
    for number in range(len(children)):
        own, opp = children[number].own, children[number].opp
        entry, known = entry_of(table, bucket_of(table, own, opp), own, opp)
        if entry >= 0:
            _, upper = bounds_of(known, search)
            if -upper > bound:
                return -upper
    return NO_VALUE


@part_of_compiled
def put_off_marked(children: Children, threads: Threads) -> None:
    """Rate the untried children that are marked, by any thread, behind all others."""
    for number in range(len(children)):
        child = children[number]
        is_put_off = child.rating >= PUT_OFF // 2
        if is_marked(child.own, child.opp, threads) != is_put_off:
            child.rating += -PUT_OFF if is_put_off else PUT_OFF


@part_of_compiled
def move_best_to_end(children: Children) -> None:
    """Exchange the first child with the lowest rating with the last one."""
    last, least = len(children) - 1, 0
    for number in range(1, len(children)):
        if children[number].rating < children[least].rating:
            least = number
    one, other = children[least], children[last]
    one.own, other.own = other.own, one.own
    one.opp, other.opp = other.opp, one.opp
    one.move, other.move = other.move, one.move
    one.rating, other.rating = other.rating, one.rating


@contextmanager
def _words_as_vectors() -> Iterator[None]:
    """Let the compiler apply the same operation to several words in one instruction.

    The four lines through a square then take about as long as one. numba disables this by default.
    """
    config: Any = numba.config
    previous, config.SLP_VECTORIZE = config.SLP_VECTORIZE, 1
    try:
        yield
    finally:
        config.SLP_VECTORIZE = previous


@cache
def compile_null_window_search(rules: Rules, turning: TurningRules) -> Callable[..., int]:
    """`search(own, opp, bound, number, width, table, learned, threads, counts)` of a game with these rules.

    If t is the true value of the position to the player to move, the search finds a v with t >= v > bound or t <= v <=
    bound. With a `width` below ALL_MOVES, v is a guess. All threads that search the same position have the same
    `threads`; when one has finished, the others return NO_VALUE. If the search is stopped, the result is meaningless.
    `counts` is one record of dtype COUNT; the visited positions are added to its count.
    """
    register_rules()
    legal_actions, board = rules.legal_actions, turning.board
    flips = compiled_flips(turning)
    value_of_last_squares, final = last_squares_search(rules, turning)
    rate_children = move_ordering(rules, turning)

    @part_of_compiled
    def list_children(own: int, opp: int, moves: int, children: Children, table: Table, prefetches: bool) -> int:
        """Write the positions that the moves lead to, and start to load their entries of the table."""
        number = 0
        while moves != 0:
            move = moves & -moves
            moves ^= move
            turned = flips(own, opp, move)
            child = children[number]
            child.own, child.opp, child.move = opp ^ turned, own | move | turned, move
            if prefetches:
                prefetch(table, bucket_of(table, child.own, child.opp))
            number += 1
        return number

    @recursive_part
    def value_of(own: int, opp: int, bound: int, first_child: Word, search: Search) -> Word:
        """As the search; the children are written from `first_child` on."""
        empty = board & ~(own | opp)
        empties = bit_count(empty)
        if empties <= LAST_SQUARES:
            return value_of_last_squares(own, opp, empty, bound, search.progress)
        if is_stopped(search):
            return NO_VALUE
        table, threads = search.table, search.threads
        bucket = bucket_of(table, own, opp)
        value, hint = look_up(table, bucket, own, opp, bound, search.number)
        if value != NO_VALUE:
            return value
        moves = legal_actions(own, opp)
        if moves == 0:
            if legal_actions(opp, own) == 0:
                return final(own, opp, empties, search.progress)
            return -value_of(opp, own, -bound - 1, first_child, search)
        children = search.children[first_child:]
        number = list_children(own, opp, moves, children, table, empties > LAST_SQUARES + 1)
        children = children[:number]
        if empties >= CUTOFF_FROM:
            value = known_cutoff(children, bound, search.number, table)
            if value != NO_VALUE:
                return value
        rate_children(own, opp, empties, hint, children, search.learned)
        best, best_move = NO_VALUE, 0
        most = min(number, search.width) if empties >= GUESS_DOWN_TO else number
        marks = empties > SHARED_FROM and is_shared(threads)
        for tried in range(most):
            untried = children[: number - tried]
            if marks and tried > 0:
                put_off_marked(untried, threads)
            move_best_to_end(untried)
            # The children of the child overwrite its record and those after it, which have been tried.
            place = number - tried - 1
            child, move = children[place], children[place].move
            mark = put_mark(child.own, child.opp, threads) if marks else -1
            value = -value_of(child.own, child.opp, -bound - 1, first_child + place, search)
            if mark >= 0:
                threads.marks[mark] = 0
            if search.progress.is_stopped != 0:
                return NO_VALUE
            if value > best:
                best, best_move = value, move
            if best > bound:
                break
        bounds = (best, HIGHEST) if best > bound else (LOWEST, best)
        certain = 1 if search.width == ALL_MOVES else 0
        remember(table, bucket, own, opp, bounds, best_move, empties, search.number, certain)
        return best

    @compiled
    def null_window_search(
        own: int,
        opp: int,
        bound: int,
        number: int,
        width: int,
        table: Table,
        learned: LearnedValues,
        threads: Threads,
        counts: Counts,
    ) -> int:
        children, count = np.zeros(MAX_CHILDREN, dtype=CHILD), counts[0]
        count.next_poll, count.is_stopped = count.visited + POLL_INTERVAL, 0
        search = Search(number, width, children, table, learned, count, threads)
        value = value_of(own, opp, bound, np.int64(0), search)
        # Read after the search, so that the array is kept until then.
        if count.is_stopped + 0 * len(children) != 0:
            return NO_VALUE
        threads.finished[0] = 1
        return int(value)

    with _words_as_vectors():
        word = numba.int64
        learned: Any = numba.typeof(NO_LEARNED_VALUES)  # type: ignore[no-untyped-call]
        threads: Any = numba.typeof(make_threads(1, make_stop_flag()))  # type: ignore[no-untyped-call]
        counts: Any = numba.typeof(np.zeros(1, dtype=COUNT))  # type: ignore[no-untyped-call]
        null_window_search.compile((word,) * 5 + (word[::1], learned, threads, counts))  # type: ignore[attr-defined]
    return null_window_search
