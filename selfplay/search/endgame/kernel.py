"""The compiled search for the exact value of a position near the end of a match.

One kernel answers one question: is the value above a bound? It walks the tree depth first with a stack of its own,
because numba cannot cache functions that call themselves. What it finds out about a position it keeps in a table, where
the next question finds it again.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numba
import numpy as np

from selfplay.compute.bit_algebra import bit_count
from selfplay.compute.compilation import compiled, part_of_compiled, register_rules
from selfplay.games.rules import Rules, TurningRules
from selfplay.search.endgame.last_empties import LAST_EMPTIES, NO_VALUE, VISITED, search_of_last_empties
from selfplay.search.endgame.move_ordering import move_ordering
from selfplay.search.endgame.table import BEST_MOVE, HIGHEST, LOWEST, bounds_of, bucket_of, entry_of, remember

TABLE_FROM = 7
"""With this many empty squares and more, positions are kept in the table."""
CUTOFF_FROM = 10
"""From here, all that a position leads to is looked up first: it may answer the question already."""
LOOK_AHEAD_FROM = 12
"""From here, moves are ordered by what the best reply leads to."""
VISITS_BETWEEN_LOOKS = 4096
"""How often a search looks whether it should stop."""

ALL_MOVES = 64
"""A width at which no move is left out."""

MAX_PLIES = 130
"""At most 64 discs are placed, and there are never two passes in a row."""
FRAME = 12
OWN, OPP, BOUND, BEST_VALUE, BEST, CURRENT, UNTRIED, TRIED, EMPTIES, BUCKET_AT, FIRST_CHILD, _ = range(FRAME)
"""What the stack holds of each position on the way to the present one."""

MAX_CHILDREN = 64 * 65 // 2
CHILD = 4
CHILD_OWN, CHILD_OPP, CHILD_MOVE, RATING = range(CHILD)
"""What it holds of the positions that these lead to, those after the untried moves."""

FIRST_OF_ALL = -(1 << 40)

Question = Callable[..., int]
"""(own, opp, bound, search, width, narrow_to, table, work, stop) to a value: above `bound` if, and only if, the value
of the position to the player to move is, and then at most that value, else at least. `search` is the number of the
search (see endgame_table). Where `narrow_to` or more squares are empty, only the `width` first moves are tried, and
the answer is a guess. With `stop[0]` the answer is none."""


@part_of_compiled
def _next_child(frames: Any, frame: Any, children: Any) -> Any:
    """The untried child of least rating, put last and taken off."""
    first = frames[frame + FIRST_CHILD]
    last = first + (frames[frame + UNTRIED] - 1) * CHILD
    least = first
    for child in range(first + CHILD, last + CHILD, CHILD):
        if children[child + RATING] < children[least + RATING]:
            least = child
    for word in range(CHILD):
        children[least + word], children[last + word] = children[last + word], children[least + word]
    frames[frame + UNTRIED] -= 1
    frames[frame + TRIED] += 1
    frames[frame + CURRENT] = children[last + CHILD_MOVE]
    return last


@contextmanager
def _words_as_vectors() -> Iterator[None]:
    """Let what is compiled meanwhile do the same to several words in one instruction.

    The four lines through a square then take about as long as one. numba leaves that out unless it is told.
    """
    config: Any = numba.config
    previous, config.SLP_VECTORIZE = config.SLP_VECTORIZE, 1
    try:
        yield
    finally:
        config.SLP_VECTORIZE = previous


@cache
def compile_question(rules: Rules, turning: TurningRules) -> Question:
    """The kernel for a game with these rules."""
    register_rules()
    legal_actions = rules.legal_actions
    flips, _, board, _, _ = turning
    last_empties, final, squares_of_odd_quarters = search_of_last_empties(rules, turning)
    at_a_glance, after_a_reply = move_ordering(rules, turning)

    def known_cutoff(own: Any, opp: Any, moves: Any, bound: Any, search: Any, table: Any) -> Any:
        """A value above the bound that a position is known to lead to, or NO_VALUE."""
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

    def expand(own: Any, opp: Any, moves: Any, hint: Any, first: Any, children: Any) -> Any:
        """Write down what the moves lead to, from `first` on; returns how many they are."""
        empty = board & ~(own | opp)
        odd = squares_of_odd_quarters(empty)
        looks_ahead = bit_count(empty) >= LOOK_AHEAD_FROM
        child = first
        while moves != 0:
            move = moves & -moves
            moves ^= move
            turned = flips(own, opp, move)
            mine, others = opp ^ turned, own | move | turned
            if move == hint:
                rating = FIRST_OF_ALL
            elif looks_ahead:
                rating = after_a_reply(mine, others)
            else:
                rating = at_a_glance(mine, others, (move & odd) != 0)
            children[child + CHILD_OWN], children[child + CHILD_OPP] = mine, others
            children[child + CHILD_MOVE], children[child + RATING] = move, rating
            child += CHILD
        return (child - first) // CHILD

    known_cutoff, expand = part_of_compiled(known_cutoff), part_of_compiled(expand)

    @compiled
    def question(
        own: int, opp: int, bound: int, search: int, width: int, narrow_to: int, table: Any, work: Any, stop: Any
    ) -> int:
        frames = np.zeros(MAX_PLIES * FRAME, dtype=np.int64)
        children = np.empty(MAX_CHILDREN * CHILD, dtype=np.int64)
        certain = 1 if width == ALL_MOVES else 0
        frame = first = value = 0
        next_look = work[VISITED] + VISITS_BETWEEN_LOOKS
        while True:
            # A position is entered. Either its value is known at once, or it becomes a frame whose moves are tried.
            is_answered = True
            empty = board & ~(own | opp)
            empties = bit_count(empty)
            if empties <= LAST_EMPTIES:
                value = last_empties(own, opp, empty, bound, work)
            else:
                work[VISITED] += 1
                if work[VISITED] > next_look:
                    next_look = work[VISITED] + VISITS_BETWEEN_LOOKS
                    if stop[0] != 0:
                        return NO_VALUE
                bucket, hint = -1, 0
                lower, upper = LOWEST, HIGHEST
                if empties >= TABLE_FROM:
                    bucket = bucket_of(table, own, opp)
                    entry = entry_of(table, bucket, own, opp)
                    if entry >= 0:
                        lower, upper = bounds_of(table, entry, search)
                        hint = table[entry + BEST_MOVE]
                if lower > bound:
                    value = lower
                elif upper <= bound:
                    value = upper
                else:
                    moves = legal_actions(own, opp)
                    if moves == 0 and legal_actions(opp, own) == 0:
                        value = final(own, opp, empties, work)
                    else:
                        value = NO_VALUE
                        if empties >= CUTOFF_FROM:
                            value = known_cutoff(own, opp, moves, bound, search, table)
                        if value == NO_VALUE:
                            is_answered = False
                            frames[frame + OWN], frames[frame + OPP], frames[frame + BOUND] = own, opp, bound
                            frames[frame + BEST_VALUE], frames[frame + BEST] = NO_VALUE, 0
                            frames[frame + UNTRIED], frames[frame + TRIED] = 0, 0
                            frames[frame + FIRST_CHILD] = first
                            frames[frame + EMPTIES], frames[frame + BUCKET_AT] = empties, bucket
                            frame += FRAME
                            if moves == 0:
                                frames[frame - FRAME + BUCKET_AT] = -1
                                own, opp, bound = opp, own, -bound - 1
                                continue
                            frames[frame - FRAME + UNTRIED] = expand(own, opp, moves, hint, first, children)
            if is_answered:
                # The value goes up, as far as it answers the question there too.
                while True:
                    if frame == 0:
                        return value
                    frame -= FRAME
                    value = -value
                    if value > frames[frame + BEST_VALUE]:
                        frames[frame + BEST_VALUE], frames[frame + BEST] = value, frames[frame + CURRENT]
                    value, bound = frames[frame + BEST_VALUE], frames[frame + BOUND]
                    empties = frames[frame + EMPTIES]
                    is_narrow = empties >= narrow_to and frames[frame + TRIED] >= width
                    if value <= bound and frames[frame + UNTRIED] > 0 and not is_narrow:
                        frame += FRAME
                        break
                    if frames[frame + BUCKET_AT] >= 0:
                        bounds = (value, HIGHEST) if value > bound else (LOWEST, value)
                        remember(
                            table,
                            frames[frame + BUCKET_AT],
                            frames[frame + OWN],
                            frames[frame + OPP],
                            bounds,
                            frames[frame + BEST],
                            empties,
                            search,
                            certain,
                        )
            parent = frame - FRAME
            child = _next_child(frames, parent, children)
            own, opp, bound = children[child + CHILD_OWN], children[child + CHILD_OPP], -frames[parent + BOUND] - 1
            # What a child leads to is written over it and what follows: it is done with, and so are the tried ones.
            first = child

    with _words_as_vectors():
        word = numba.int64
        question.compile((word,) * 6 + (word[::1],) * 3)  # type: ignore[attr-defined]
    return question
