"""Compiled proof-number search, for any game.

A search asks whether the player to move can reach a goal: a win, or at least a draw. Each position has two numbers,
which say how hard it is to show that the player to move reaches the goal, and that it does not; a number is 0 where
this is shown. The search continues below the position that is the easiest to decide, and leaves it when another has
become easier (depth-first proof-number search: Nagai, "Df-pn algorithm for searching AND/OR trees and its
applications", 2002). Showing that the goal is not reached needs all moves: its number is the largest of theirs plus
the number of others, not their sum, which counts positions that are reached in several ways several times ("weak
proof-number search": Ueda et al., "Weak proof-number search", 2008). Of equally easy moves, the one comes first that
has reached the goal most often elsewhere.

A table keeps the numbers; what it has lost is searched again. Positions cannot repeat, so what it says does not depend
on how a position was reached.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word, bit_count
from selfplay.compute.compilation import Words, by_reference, compiled, part_of_compiled, recursive_part
from selfplay.compute.compiled_words import load, lowest, num_position_words, part, position_hash, store
from selfplay.compute.positions import pack
from selfplay.compute.random_numbers import fold
from selfplay.games.general_rules import pass_of
from selfplay.games.rules import Position, Rules
from selfplay.search.evaluation import moves_again
from selfplay.search.threads import STOP, StopFlag

WIN, DRAW = 1, 0
"""Goals: the least result that the player to move is to reach."""
SOLVED = 1 << 30
"""The number of what is impossible; the other number is then 0."""
SHIFT = 31
"""An entry holds the first number above this number of bits, and the second one in them."""
WORK, NUMBERS, POSITION = range(3)
"""The parts of an entry of the table: twice the number of positions visited below, plus the goal; both numbers; the
parts of the packed position. WORK is 0 where there is none."""
VISITED, LIMIT, DRAWS = range(3)
"""Counts: positions visited; the number with which the search ends; draws met."""

Numbers = NDArray[np.int64]


class ProofSearch(NamedTuple):
    """The memory of a search that looks D plies ahead. Row p of each array is of the position after p plies."""

    following: Words
    """[D, A]: the undecided positions that follow."""
    actions: Numbers
    """int64[D, A]: the actions that lead there."""
    again: Numbers
    """int64[D, A]: 1 where the same player moves again there."""
    wins: Numbers
    """int64[D, A]: the number for reaching the goal by this action."""
    losses: Numbers
    """int64[D, A]: the number for not reaching it."""
    reached: Numbers
    """int64[2, A]: how often each action has reached the goal, by the parity of the ply."""
    table: Numbers
    counts: Numbers
    stop: StopFlag


@part_of_compiled
def places_of(packed: Word, goal: int, table: Numbers) -> tuple[int, int]:
    """The two places at which the entry of a position can begin."""
    size = num_position_words(packed) + POSITION
    first = fold(position_hash(packed), goal) & (table.shape[0] // size - 2)
    return first * size, (first + 1) * size


@part_of_compiled
def is_here(place: int, packed: Word, goal: int, table: Numbers) -> bool:
    same = table[place + WORK] != 0 and (table[place + WORK] & 1) == goal
    for k in range(num_position_words(packed)):
        same = same and table[place + POSITION + k] == part(packed, k)
    return bool(same)


@part_of_compiled
def keep(packed: Word, goal: int, numbers: tuple[int, int], work: int, table: Numbers) -> None:
    """Write the numbers of a position to its entry, or to that of its two places with less work."""
    one, other = places_of(packed, goal, table)
    place = other if table[one + WORK] > table[other + WORK] else one
    for same in (one, other):
        if is_here(same, packed, goal, table):
            place, work = same, work + (table[same + WORK] >> 1)
    # Even a position with much work is replaced at last.
    for old in (one, other):
        table[old + WORK] -= (table[old + WORK] >> 4) << 1
    table[place + WORK], table[place + NUMBERS] = max(1, work) << 1 | goal, numbers[0] << SHIFT | numbers[1]
    for k in range(num_position_words(packed)):
        table[place + POSITION + k] = part(packed, k)


@part_of_compiled
def easiest(size: int, ply: int, search: ProofSearch) -> tuple[int, int, int]:
    """The action for which reaching the goal is the easiest, the number of the second easiest, and the largest
    number for not reaching it."""
    wins, actions, reached = search.wins[ply], search.actions[ply], search.reached[ply & 1]
    best, second, loss = 0, SOLVED, search.losses[ply, 0]
    for place in range(1, size):
        loss = max(loss, search.losses[ply, place])
        is_liked = wins[place] == wins[best] and reached[actions[place]] > reached[actions[best]]
        if wins[place] < wins[best] or is_liked:
            best, second = place, wins[best]
        else:
            second = min(second, wins[place])
    return best, second, loss


@part_of_compiled
def leave_out(place: int, last: int, ply: int, search: ProofSearch) -> None:
    """Put the last of the undecided positions in the place of one that is decided."""
    store(search.following[ply], place, load(search.following[ply], last))
    for numbers in (search.actions, search.again, search.wins, search.losses):
        numbers[ply, place] = numbers[ply, last]


@cache
def compile_proofs(rules: Rules, pass_action: int | None) -> Callable[..., tuple[int, int]]:
    """Compile `prove(positions, row, goal, search)`: searches a position until it is decided, or to the limit.

    It returns the numbers of the position: for reaching the goal, and for not reaching it.
    """
    legal_actions, play = rules.legal_actions, rules.play
    is_terminal, return_to_move = rules.is_terminal, rules.return_to_move
    unpack, is_again, pass_in = rules.position.unpack, moves_again(rules), pass_of(pass_action)

    @part_of_compiled
    def numbers_of(position: Position, packed: Word, goal: int, search: ProofSearch) -> tuple[int, int]:
        """The numbers of a position: those of the table, of its result, or the first ones."""
        table = search.table
        for place in places_of(packed, goal, table):
            if is_here(place, packed, goal, table):
                return table[place + NUMBERS] >> SHIFT, table[place + NUMBERS] & ((1 << SHIFT) - 1)
        bits = legal_actions(position)
        if bits == 0 and is_terminal(position):
            result = part(return_to_move(position), 0)
            search.counts[DRAWS] += result == 0
            return (0, SOLVED) if result >= goal else (SOLVED, 0)
        return 1, max(1, bit_count(bits))

    @part_of_compiled
    def list_undecided(position: Position, goal: int, ply: int, search: ProofSearch) -> int:
        """Write the undecided positions that follow; their number, or -1 if an action reaches the goal."""
        following, again, wins, losses = search.following[ply], search.again[ply], search.wins[ply], search.losses[ply]
        size, bits = 0, legal_actions(position)
        number = max(1, bit_count(bits))
        search.counts[VISITED] += number
        for _ in range(number):
            action = pass_in(position)
            if bits != 0:
                action = lowest(bits)
                bits &= bits - 1
            after = play(position, action)
            packed, same = pack(after), is_again(after)
            win, loss = numbers_of(after, packed, goal if same else 1 - goal, search)
            if not same:
                win, loss = loss, win
            if win == 0:
                search.reached[ply & 1, action] += 1
                return -1
            if loss != 0:
                store(following, size, packed)
                search.actions[ply, size], again[size], wins[size], losses[size] = action, same, win, loss
                size += 1
        return size

    @recursive_part
    def search_below(
        position: Position, goal: int, most_win: int, most_loss: int, ply: int, search: ProofSearch
    ) -> tuple[int, int]:
        """The numbers of an unfinished position, which is searched until one of them reaches the most that is given."""
        counts, size = search.counts, list_undecided(position, goal, ply, search)
        while size > 0:
            best, second, loss = easiest(size, ply, search)
            win, loss = search.wins[ply, best], loss + size - 1
            is_late = counts[VISITED] > counts[LIMIT] or search.stop[STOP] != 0
            if win >= most_win or loss >= most_loss or is_late:
                return win, loss
            if ply + 1 == search.wins.shape[0]:
                return SOLVED - 1, SOLVED - 1
            # A little more than the second one, so that the search does not change between equal ones all the time.
            most, most_other = min(most_win, second + 1 + second // 4), most_loss - size + 1
            packed, before, same = load(search.following[ply], best), counts[VISITED], search.again[ply, best] != 0
            if same:
                win, loss = search_below(unpack(packed), goal, most, most_other, ply + 1, search)
                keep(packed, goal, (win, loss), counts[VISITED] - before, search.table)
            else:
                loss, win = search_below(unpack(packed), 1 - goal, most_other, most, ply + 1, search)
                keep(packed, 1 - goal, (loss, win), counts[VISITED] - before, search.table)
            search.wins[ply, best], search.losses[ply, best] = win, loss
            if win == 0:
                search.reached[ply & 1, search.actions[ply, best]] += 1
                break
            if loss == 0:
                size -= 1
                leave_out(best, size, ply, search)
        return (SOLVED, 0) if size == 0 else (0, SOLVED)

    @compiled
    def prove(positions: Words, row: int, goal: int, search: ProofSearch) -> tuple[int, int]:
        shared, packed, before = by_reference(search), load(positions, row), search.counts[VISITED]
        position = unpack(packed)
        win, loss = numbers_of(position, packed, goal, shared)
        if win != 0 and loss != 0:
            # Numbers, not constants: these would have types of their own, which the search would be compiled for too.
            most: Any = np.int64(SOLVED)
            ply: Any = np.int64(0)
            win, loss = search_below(position, goal, most, most, ply, shared)
            keep(packed, goal, (win, loss), search.counts[VISITED] - before, search.table)
        return win, loss

    return prove
