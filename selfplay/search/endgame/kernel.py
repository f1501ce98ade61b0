"""The compiled search for the exact value of a position near the end of a match.

One call determines whether the value is above a bound (a null-window search). It walks the tree depth first with a
stack, because numba cannot cache recursive functions on disk. Bounds that it proves are stored in a table for the next
call.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word, bit_count
from selfplay.compute.compilation import borrowed, compiled, part_of_compiled, prefetch, register_rules
from selfplay.games.rules import Rules, TurningRules
from selfplay.search.endgame.last_squares import (
    COUNT,
    LAST_SQUARES,
    NO_VALUE,
    Count,
    compiled_flips,
    last_squares_search,
)
from selfplay.search.endgame.move_ordering import NO_LEARNED_VALUES, LearnedValues, move_ordering
from selfplay.search.endgame.stack_and_table import (
    BEST_MOVE,
    CHILD,
    ENDGAME_FRAME,
    HIGHEST,
    LOWEST,
    MAX_CHILDREN,
    MAX_PLIES,
    SHARED_FROM,
    Children,
    EndgameFrame,
    Frames,
    Table,
    bounds_of,
    bucket_of,
    clear_mark,
    descend,
    entry_of,
    put_off_marked,
    remember,
    set_mark,
    take_back,
)
from selfplay.search.threads import STOP, StopFlag, Threads, make_threads

TABLE_FROM = 6
"""Positions with at least this many empty squares are kept in the table."""
CUTOFF_FROM = 10
"""From here on, all positions that a position leads to are looked up first: one may already decide the search."""
POLL_INTERVAL = 4096
"""Number of positions visited between two checks of the stop flag."""

VISITED, EMPTIES_TO_WINNER = 0, 1
"""The indices of `work`: as the fields of `last_squares.Count`."""

ALL_MOVES = 64
"""A width at which no move is left out."""

Work = NDArray[np.int64]
"""int64[2], indexed by VISITED and EMPTIES_TO_WINNER."""

NullWindowSearch = Callable[..., int]
"""(own, opp, bound, search, width, narrow_to, table, learned, threads, work, stop) to a value v of a position with true
value t to the player to move: t >= v > bound, or t <= v <= bound.

`search` is the number of the search (see `stack_and_table`). Where `narrow_to` or more squares are empty, only the
first `width` moves are tried, and the result is a guess. `learned` orders the moves (see `move_ordering`). `threads` is
that of the threads that search the same position; once one of them has finished, the others return NO_VALUE. Once
`stop[0]` is not 0, the result is meaningless."""


@part_of_compiled
def look_up(frame: EndgameFrame, search: int, table: Table) -> tuple[int, int]:
    """The value of a position, or NO_VALUE if the table does not decide the search; and the best known move, or 0."""
    if frame.empties < TABLE_FROM:
        return NO_VALUE, 0
    frame.bucket = bucket_of(table, frame.own, frame.opp)
    entry, known = entry_of(table, frame.bucket, frame.own, frame.opp)
    if entry < 0:
        return NO_VALUE, 0
    lower, upper = bounds_of(known, search)
    if lower > frame.bound:
        return lower, 0
    return (upper if upper <= frame.bound else NO_VALUE), table[entry + BEST_MOVE]


@part_of_compiled
def keep(frame: EndgameFrame, search: int, certain: int, table: Table) -> None:
    """Store in the table what the search of a position has proved."""
    value = frame.best_value
    bounds = (value, HIGHEST) if value > frame.bound else (LOWEST, value)
    remember(table, frame.bucket, frame.own, frame.opp, bounds, frame.best_move, frame.empties, search, certain)


@part_of_compiled
def known_cutoff(frame: EndgameFrame, search: int, children: Children, table: Table) -> Word:
    """A value above the bound that one of the children is known to give, or NO_VALUE."""
    for number in range(frame.first_child, frame.first_child + frame.num_untried):
        own, opp = children[number].own, children[number].opp
        entry, known = entry_of(table, bucket_of(table, own, opp), own, opp)
        if entry >= 0:
            _, upper = bounds_of(known, search)
            if -upper > frame.bound:
                return -upper
    return NO_VALUE


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
def compile_null_window_search(rules: Rules, turning: TurningRules) -> NullWindowSearch:
    """Compile the search of a game with these rules."""
    register_rules()
    legal_actions, board = rules.legal_actions, turning.board
    flips = compiled_flips(turning)
    value_of_last_squares, final, _ = last_squares_search(rules, turning)
    rate_children = move_ordering(rules, turning)

    @part_of_compiled
    def list_children(frame: EndgameFrame, moves: int, children: Children, table: Table) -> None:
        """Write the positions that the moves lead to, and start to load their entries of the table."""
        own, opp = frame.own, frame.opp
        number = frame.first_child
        while moves != 0:
            move = moves & -moves
            moves ^= move
            turned = flips(own, opp, move)
            child = children[number]
            child.own, child.opp, child.move = opp ^ turned, own | move | turned, move
            if frame.empties > TABLE_FROM:
                prefetch(table, bucket_of(table, child.own, child.opp))
            number += 1
        frame.num_untried = number - frame.first_child

    @part_of_compiled
    def list_pass(frame: EndgameFrame, children: Children) -> None:
        """Make a pass the only child. The position is not stored in the table; the one after the pass is."""
        child = children[frame.first_child]
        child.own, child.opp, child.move = frame.opp, frame.own, 0
        frame.num_untried, frame.bucket = 1, -1

    @part_of_compiled
    def list_moves(
        frame: EndgameFrame, hint: int, search: int, children: Children, table: Table, learned: LearnedValues
    ) -> None:
        """List and rate the children of a position, unless one is known to decide the search."""
        moves = legal_actions(frame.own, frame.opp)
        if moves == 0:
            list_pass(frame, children)
            return
        list_children(frame, moves, children, table)
        if frame.empties >= CUTOFF_FROM:
            frame.best_value = known_cutoff(frame, search, children, table)
        if frame.best_value == NO_VALUE:
            rate_children(frame, hint, children, learned)

    @part_of_compiled
    def enter(
        frame: EndgameFrame, search: int, children: Children, table: Table, learned: LearnedValues, count: Count
    ) -> None:
        """Find the value of a new position, or list its children."""
        own, opp = frame.own, frame.opp
        empty = board & ~(own | opp)
        frame.empties, frame.bucket, frame.best_move = bit_count(empty), -1, 0
        frame.num_untried, frame.num_tried = 0, 0
        if frame.empties <= LAST_SQUARES:
            frame.best_value = value_of_last_squares(own, opp, empty, frame.bound, count)
            return
        count.visited += 1
        frame.best_value, hint = look_up(frame, search, table)
        if frame.best_value == NO_VALUE:
            if legal_actions(own, opp) == 0 and legal_actions(opp, own) == 0:
                frame.best_value = final(own, opp, frame.empties, count)
            else:
                list_moves(frame, hint, search, children, table, learned)
        if frame.best_value != NO_VALUE:
            frame.bucket = -1

    @part_of_compiled
    def walk(
        frames: Frames,
        search: int,
        width: int,
        narrow_to: int,
        children: Children,
        table: Table,
        learned: LearnedValues,
        count: Count,
        threads: Threads,
        stop: StopFlag,
    ) -> int:
        """The value of the position in the first frame; NO_VALUE once another thread has found it."""
        certain = 1 if width == ALL_MOVES else 0
        ply, is_new = 0, True
        next_poll = count.visited + POLL_INTERVAL
        while ply >= 0:
            frame = frames[ply]
            if is_new:
                enter(frame, search, children, table, learned, count)
                if count.visited > next_poll:
                    next_poll = count.visited + POLL_INTERVAL
                    if stop[STOP] != 0 or threads.finished[0] != 0:
                        return NO_VALUE
            else:
                take_back(frame, frames[ply + 1])
                clear_mark(frames[ply + 1], threads)
            is_narrow = frame.empties >= narrow_to and frame.num_tried >= width
            is_new = frame.best_value <= frame.bound and frame.num_untried > 0 and not is_narrow
            if is_new:
                if frame.empties > SHARED_FROM and frame.num_tried > 0:
                    put_off_marked(frame, children, threads)
                descend(frame, frames[ply + 1], children)
                set_mark(frames[ply + 1], frame.empties - 1, threads)
            elif frame.bucket >= 0:
                keep(frame, search, certain, table)
            ply += 1 if is_new else -1
        threads.finished[0] = 1
        return int(frames[0].best_value)

    @compiled
    def null_window_search(
        own: int,
        opp: int,
        bound: int,
        search: int,
        width: int,
        narrow_to: int,
        table: Table,
        learned: LearnedValues,
        threads: Threads,
        work: Work,
        stop: StopFlag,
    ) -> int:
        frames, children = np.zeros(MAX_PLIES, dtype=ENDGAME_FRAME), np.zeros(MAX_CHILDREN, dtype=CHILD)
        counts = np.zeros(1, dtype=COUNT)
        frames[0].own, frames[0].opp, frames[0].bound = own, opp, bound
        count = counts[0]
        count.visited, count.empties_to_winner = work[VISITED], work[EMPTIES_TO_WINNER]
        arrays = borrowed((children, table, learned))
        value = walk(borrowed(frames), search, width, narrow_to, *arrays, count, borrowed(threads), borrowed(stop))
        # Read after the search, so that the arrays are kept until then.
        work[VISITED] = counts[0].visited + 0 * (len(frames) + len(children))
        return value

    with _words_as_vectors():
        word = numba.int64
        learned: Any = numba.typeof(NO_LEARNED_VALUES)  # type: ignore[no-untyped-call]
        threads: Any = numba.typeof(make_threads(1))  # type: ignore[no-untyped-call]
        arrays = (word[::1], learned, threads, word[::1], word[::1])
        null_window_search.compile((word,) * 6 + arrays)  # type: ignore[attr-defined]
    return null_window_search
