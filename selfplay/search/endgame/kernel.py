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
from selfplay.compute.compilation import compiled, part_of_compiled, register_rules
from selfplay.games.rules import Rules, TurningRules
from selfplay.search.endgame.last_squares import LAST_SQUARES, NO_VALUE, VISITED, Work, last_squares_search
from selfplay.search.endgame.move_ordering import move_ordering
from selfplay.search.endgame.stack import (
    CHILD,
    ENDGAME_FRAME,
    MAX_CHILDREN,
    MAX_PLIES,
    Children,
    EndgameFrame,
    descend,
    take_back,
)
from selfplay.search.endgame.table import BEST_MOVE, HIGHEST, LOWEST, Table, bounds_of, bucket_of, entry_of, remember

TABLE_FROM = 7
"""Positions with at least this many empty squares are kept in the table."""
CUTOFF_FROM = 10
"""From here on, all positions that a position leads to are looked up first: one may already decide the search."""
LOOK_AHEAD_FROM = 12
"""From here on, moves are ordered by what the best reply leads to."""
POLL_INTERVAL = 4096
"""Number of positions visited between two checks of the stop flag."""

ALL_MOVES = 64
"""A width at which no move is left out."""

FIRST_OF_ALL = -(1 << 40)

NullWindowSearch = Callable[..., int]
"""(own, opp, bound, search, width, narrow_to, table, work, stop) to a value v of a position with true value t to the
player to move: t >= v > bound, or t <= v <= bound.

`search` is the number of the search (see `endgame.table`). Where `narrow_to` or more squares are empty, only the first
`width` moves are tried, and the result is a guess. Once `stop[0]` is not 0, the result is meaningless."""


@part_of_compiled
def look_up(frame: EndgameFrame, search: int, table: Table) -> tuple[int, int]:
    """The value of a position, or NO_VALUE if the table does not decide the search; and the best known move, or 0."""
    if frame.empties < TABLE_FROM:
        return NO_VALUE, 0
    frame.bucket = bucket_of(table, frame.own, frame.opp)
    entry = entry_of(table, frame.bucket, frame.own, frame.opp)
    if entry < 0:
        return NO_VALUE, 0
    lower, upper = bounds_of(table, entry, search)
    if lower > frame.bound:
        return lower, 0
    return (upper if upper <= frame.bound else NO_VALUE), table[entry + BEST_MOVE]


@part_of_compiled
def keep(frame: EndgameFrame, search: int, certain: int, table: Table) -> None:
    """Store in the table what the search of a position has proved."""
    value = frame.best_value
    bounds = (value, HIGHEST) if value > frame.bound else (LOWEST, value)
    remember(table, frame.bucket, frame.own, frame.opp, bounds, frame.best_move, frame.empties, search, certain)


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
    legal_actions = rules.legal_actions
    flips, _, board, _, _ = turning
    value_of_last_squares, final, squares_of_odd_quarters = last_squares_search(rules, turning)
    at_a_glance, after_a_reply = move_ordering(rules, turning)

    @part_of_compiled
    def known_cutoff(own: int, opp: int, moves: int, bound: int, search: int, table: Table) -> Word:
        """A value above the bound that one of the moves is known to reach, or NO_VALUE."""
        while moves != 0:
            move = moves & -moves
            moves ^= move
            turned = flips(own, opp, move)
            mine, others = opp ^ turned, own | move | turned
            entry = entry_of(table, bucket_of(table, mine, others), mine, others)
            if entry >= 0:
                _, upper = bounds_of(table, entry, search)
                if -upper > bound:
                    return -upper
        return NO_VALUE

    @part_of_compiled
    def rating_of(own: int, opp: int, is_odd: bool, looks_ahead: bool) -> Word:
        return after_a_reply(own, opp) if looks_ahead else at_a_glance(own, opp, is_odd)

    @part_of_compiled
    def list_children(frame: EndgameFrame, moves: int, hint: int, children: Children) -> None:
        """Write the positions that the moves lead to."""
        own, opp = frame.own, frame.opp
        odd = squares_of_odd_quarters(board & ~(own | opp))
        looks_ahead = frame.empties >= LOOK_AHEAD_FROM
        number = frame.first_child
        while moves != 0:
            move = moves & -moves
            moves ^= move
            turned = flips(own, opp, move)
            child = children[number]
            child.own, child.opp, child.move = opp ^ turned, own | move | turned, move
            if move == hint:
                child.rating = FIRST_OF_ALL
            else:
                child.rating = rating_of(child.own, child.opp, (move & odd) != 0, looks_ahead)
            number += 1
        frame.num_untried = number - frame.first_child

    @part_of_compiled
    def list_pass(frame: EndgameFrame, children: Children) -> None:
        """Make a pass the only child. The position is not stored in the table; the one after the pass is."""
        child = children[frame.first_child]
        child.own, child.opp, child.move = frame.opp, frame.own, 0
        frame.num_untried, frame.bucket = 1, -1

    # The work at every position is written inside the loop: passing the arrays to a function takes 15 % more time.
    @compiled
    def null_window_search(
        own: int,
        opp: int,
        bound: int,
        search: int,
        width: int,
        narrow_to: int,
        table: Table,
        work: Work,
        stop: NDArray[np.int64],
    ) -> int:
        frames, children = np.zeros(MAX_PLIES, dtype=ENDGAME_FRAME), np.zeros(MAX_CHILDREN, dtype=CHILD)
        certain = 1 if width == ALL_MOVES else 0
        root = frames[0]
        root.own, root.opp, root.bound = own, opp, bound
        ply, is_new = 0, True
        next_poll = work[VISITED] + POLL_INTERVAL
        while ply >= 0:
            frame = frames[ply]
            if is_new:
                empty = board & ~(frame.own | frame.opp)
                frame.empties, frame.bucket = bit_count(empty), -1
                frame.num_untried, frame.num_tried = 0, 0
                if frame.empties <= LAST_SQUARES:
                    frame.best_value = value_of_last_squares(frame.own, frame.opp, empty, frame.bound, work)
                else:
                    work[VISITED] += 1
                    if work[VISITED] > next_poll:
                        next_poll = work[VISITED] + POLL_INTERVAL
                        if stop[0] != 0:
                            return NO_VALUE
                    value, hint = look_up(frame, search, table)
                    if value == NO_VALUE:
                        moves = legal_actions(frame.own, frame.opp)
                        if moves == 0 and legal_actions(frame.opp, frame.own) == 0:
                            value = final(frame.own, frame.opp, frame.empties, work)
                        elif frame.empties >= CUTOFF_FROM:
                            value = known_cutoff(frame.own, frame.opp, moves, frame.bound, search, table)
                        if value == NO_VALUE and moves == 0:
                            list_pass(frame, children)
                        elif value == NO_VALUE:
                            list_children(frame, moves, hint, children)
                    frame.best_value, frame.best_move = value, 0
                    if value != NO_VALUE:
                        frame.bucket = -1
            else:
                take_back(frame, frames[ply + 1])
            is_narrow = frame.empties >= narrow_to and frame.num_tried >= width
            is_new = frame.best_value <= frame.bound and frame.num_untried > 0 and not is_narrow
            if is_new:
                descend(frame, frames[ply + 1], children)
            elif frame.bucket >= 0:
                keep(frame, search, certain, table)
            ply += 1 if is_new else -1
        return int(frames[0].best_value)

    with _words_as_vectors():
        word = numba.int64
        null_window_search.compile((word,) * 6 + (word[::1],) * 3)  # type: ignore[attr-defined]
    return null_window_search
