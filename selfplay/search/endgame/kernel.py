"""The compiled search for the exact value of positions near the end of a match.

It repeats null-window searches, each of which determines whether the value is above a bound, until only one value is
left (MTD(f): Plaat, Schaeffer, Pijls & de Bruin, "Best-first fixed-depth minimax algorithms", 1996). Each search
tightens the bounds that a table holds, so the next one is faster.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.core.compiler_lock import global_compiler_lock

from selfplay.compute.bit_algebra import Bits, bit_count
from selfplay.compute.compilation import Words, compiled, part_of_compiled, prefetch, recursive_part
from selfplay.compute.positions import Packed, pack
from selfplay.games.rules import Rules, TurningRules
from selfplay.search.endgame.last_squares import LAST_SQUARES, NO_VALUE, Count, compiled_flips, last_squares_search
from selfplay.search.endgame.move_ordering import CHILD, NO_LEARNED_VALUES, Children, LearnedValues, move_ordering
from selfplay.search.endgame.number_rules import number_rules
from selfplay.search.endgame.table import (
    HIGHEST,
    LOWEST,
    Table,
    bounds_of,
    bucket_of,
    entry_of,
    look_up_bounds,
    make_endgame_table,
    remember,
)
from selfplay.search.threads import (
    ProgressRecord,
    Threads,
    count_position,
    is_marked,
    is_shared,
    make_progress,
    make_stop_flag,
    make_threads,
    put_mark,
    start_counting,
)

CUTOFF_FROM = 10
"""With at least this number of empty squares, all following positions are first looked up in the table: one may already
decide the search."""
SHARED_FROM = 11
"""If several threads search, positions with at least this number of empty squares are marked."""
PUT_OFF = 1 << 45
"""Added to the rating of a move that is to be tried after those that no thread is searching."""
MAX_CHILDREN = 64 * 65 // 2

ALL_MOVES = 64
"""A width at which no move is left out."""
GUESS_DOWN_TO = 10
"""With fewer empty squares than this, a guess tries all moves."""


class EndgameSearch(NamedTuple):
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
def known_cutoff(children: Children, bound: int, search: int, table: Table) -> Bits:
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
def words_as_vectors() -> Iterator[None]:
    """Let the compiler apply the same operation to several words in one instruction.

    The four lines through a square then take about as long as one. numba disables this by default. Its lock keeps other
    threads from compiling meanwhile.
    """
    config: Any = numba.config
    with global_compiler_lock:
        previous, config.SLP_VECTORIZE = config.SLP_VECTORIZE, 1
        try:
            yield
        finally:
            config.SLP_VECTORIZE = previous


@cache
def _listing(turning: TurningRules) -> Callable[..., int]:
    flips = compiled_flips(turning)

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

    return list_children


@cache
def _marking(rules: Rules) -> tuple[Callable[..., None], Callable[..., Bits]]:
    position = rules.position

    @part_of_compiled
    def put_off_marked(children: Children, threads: Threads) -> None:
        """Rate the untried children that are marked, by any thread, behind all others."""
        for number in range(len(children)):
            child = children[number]
            is_put_off = child.rating >= PUT_OFF // 2
            if is_marked(pack(position(child.own, child.opp)), threads) != is_put_off:
                child.rating += -PUT_OFF if is_put_off else PUT_OFF

    @part_of_compiled
    def mark_child(child: Any, threads: Threads) -> Bits:
        """Mark a child as being searched; returns the index of its mark."""
        return put_mark(pack(position(child.own, child.opp)), threads)

    return put_off_marked, mark_child


@cache
def _searching(rules: Rules, turning: TurningRules) -> Callable[[int, int, int, Bits, EndgameSearch], Bits]:
    """`value_of(own, opp, bound, first_child, search)`: a value that is above the bound, or not, as the true one is.

    NO_VALUE if the search is stopped. The children are written from `first_child` on.
    """
    legal_actions, _, _, board, *_ = number_rules(rules, turning)
    value_of_last_squares, final = last_squares_search(rules, turning)
    list_children, rate_children, (put_off_marked, mark_child) = (
        _listing(turning),
        move_ordering(rules, turning),
        _marking(rules),
    )

    @recursive_part
    def value_of(own: int, opp: int, bound: int, first_child: Bits, search: EndgameSearch) -> Bits:
        empty = board & ~(own | opp)
        empties = bit_count(empty)
        if empties <= LAST_SQUARES:
            return value_of_last_squares(own, opp, empty, bound, search.progress)
        if count_position(search.progress, search.threads.stop, search.threads.finished):
            return NO_VALUE
        table, threads = search.table, search.threads
        bucket = bucket_of(table, own, opp)
        value, hint = look_up_bounds(table, bucket, own, opp, bound, search.number)
        if value != NO_VALUE:
            return value
        moves = legal_actions(own, opp)
        if moves == 0:
            if legal_actions(opp, own) == 0:
                return final(own, opp, empties, search.progress)
            return -value_of(opp, own, -bound - 1, first_child, search)
        number = list_children(own, opp, moves, search.children[first_child:], table, empties > LAST_SQUARES + 1)
        children = search.children[first_child : first_child + number]
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
            mark = mark_child(child, threads) if marks else -1
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

    return value_of


@cache
def compile_values_within(rules: Rules, turning: TurningRules) -> Callable[..., bool]:
    """The search of a batch in a game with these rules, in one of the threads that search it together.

    `search_batch(positions, lowest, highest, expected, number, width, table, learned, threads, counts, values)` writes
    the value of each position, clipped to lowest..highest, to `values`. It is faster if `expected` is near the value.
    With a `width` below ALL_MOVES, the values are guesses. `counts` is one record with the fields of `Count`; the
    visited positions are added to its count. Returns False if it was stopped; the values are then meaningless.
    """
    value_of = _searching(rules, turning)

    @compiled
    def search_batch(
        positions: Packed,
        lowest: Words,
        highest: Words,
        expected: Words,
        number: int,
        width: int,
        table: Table,
        learned: LearnedValues,
        threads: Threads,
        counts: ProgressRecord,
        values: Words,
    ) -> bool:
        children, count = np.zeros(MAX_CHILDREN, dtype=CHILD), counts[0]
        search = EndgameSearch(number, width, children, table, learned, count, threads)
        start_counting(count, threads.stop)
        for i in range(len(positions)):
            lower, upper, guess = lowest[i], highest[i], expected[i]
            while lower < upper:
                # A guess that is right is confirmed by one search below it and one above it.
                bound = min(max(guess - 1, lower), upper - 1)
                guess = value_of(positions[i, 0], positions[i, 1], bound, np.int64(0), search)
                if count.is_stopped != 0:
                    return False
                if guess > bound:
                    lower = min(guess, upper)
                else:
                    upper = max(guess, lower)
            values[i] = lower
        threads.finished[0] = 1
        # `children` is read after the search, so that the array is kept until then.
        return len(children) > 0

    with words_as_vectors():
        positions, words, word = numba.int64[:, ::1], (numba.int64[::1],), (numba.int64,)
        table: Any = numba.typeof(make_endgame_table(1))  # type: ignore[no-untyped-call]
        learned: Any = numba.typeof(NO_LEARNED_VALUES)  # type: ignore[no-untyped-call]
        threads: Any = numba.typeof(make_threads(1, make_stop_flag()))  # type: ignore[no-untyped-call]
        counts: Any = numba.typeof(make_progress(*Count.__annotations__))  # type: ignore[no-untyped-call]
        kinds = positions, *3 * words, *2 * word, table, learned, threads, counts, *words
        search_batch.compile(kinds)  # type: ignore[attr-defined]
    return search_batch
