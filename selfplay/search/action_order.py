"""The order in which compiled searches try the actions of a position.

If the first move is the best more often, more of the rest is cut off. The move that was best in an earlier search comes
first. Far from the leaves the order matters more, so the other moves are ordered by the value of the position after
them. Near the leaves they are ordered by the number of replies, which is faster to count; at the last ply only the move
that has last cut off such a position comes first ("killer heuristic": Akl & Newborn, "The principal continuation and
the killer heuristic", 1977).
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from selfplay.compute.bit_algebra import Bits, bit_count
from selfplay.compute.compilation import part_of_compiled
from selfplay.compute.compiled_words import bit_like, load, lowest, store
from selfplay.compute.positions import pack
from selfplay.games.general_rules import pass_of
from selfplay.games.rules import Position, Rules
from selfplay.search.evaluation import CompiledValue, finished_value, moves_again
from selfplay.search.negamax_memory import NegamaxSearch
from selfplay.search.transposition_table import LEAST_STORED_DEPTH, NO_ACTION, prefetch_entry

MIN_VALUE_DEPTH = 4
"""The smallest number of remaining plies at which moves are ordered by value."""


@cache
def order_of_actions(rules: Rules, unfinished_value: CompiledValue, pass_action: int | None) -> Callable[..., int]:
    """`list_actions(position, bits, first_action, left, search)` of a game with these rules.

    It writes the actions of `bits`, or a pass if there are none, into `search.actions[left]` in the order in which they
    are to be tried, `first_action` first, and with `left` > 1 the positions after them into `search.following`; it
    returns their number.
    """
    legal_actions, play, is_terminal = rules.legal_actions, rules.play, rules.is_terminal
    value_at_end, pass_in = finished_value(rules), pass_of(pass_action)

    @part_of_compiled
    def replies(position: Position, search: NegamaxSearch) -> Any:
        return bit_count(legal_actions(position))

    @part_of_compiled
    def value(position: Position, search: NegamaxSearch) -> Any:
        bits = legal_actions(position)
        total = search.reply_value * bit_count(bits)
        if bits == 0 and is_terminal(position):
            total += value_at_end(position, search.parameters.finished)
        else:
            total += unfinished_value(position, search.parameters.unfinished)
        return total

    by_replies, by_value = _sorting_by(replies, rules), _sorting_by(value, rules)

    @part_of_compiled
    def list_actions(position: Position, bits: Bits, first_action: int, left: int, search: NegamaxSearch) -> int:
        actions, following = search.actions[left], search.following[left]
        if bits == 0:
            actions[0] = passing = pass_in(position)
            store(following, 0, pack(play(position, passing)))
            return 1
        if left == 1 or not search.ordered:
            count = 0
            if left == 1 and search.ordered and left < search.depth and search.killers[left] != NO_ACTION:
                killer = bit_like(bits, search.killers[left])
                if bits & killer != 0:
                    actions[0], count = search.killers[left], 1
                    bits ^= killer
            while bits != 0:
                actions[count] = action = lowest(bits)
                if left > 1:
                    store(following, count, pack(play(position, action)))
                bits &= bits - 1
                count += 1
            return count
        if left < MIN_VALUE_DEPTH:
            return by_replies(position, bits, first_action, left, search)
        return by_value(position, bits, first_action, left, search)

    return list_actions


def _sorting_by(rank_of: Callable[..., float], rules: Rules) -> Callable[..., int]:
    """The order by `rank_of(position, search)` of the position that an action leads to, the lowest first.

    If the same player moves again there, the rank has the opposite sign.
    One function for each rank: a choice between them inside the loop costs up to 6 % of a search.
    """
    play, is_again = rules.play, moves_again(rules)

    @part_of_compiled
    def list_sorted(position: Position, bits: Bits, first_action: int, left: int, search: NegamaxSearch) -> int:
        actions, ranks, table, count = search.actions[left], search.ranks, search.table, 0
        following = search.following[left]
        while bits != 0:
            action = lowest(bits)
            bits &= bits - 1
            after = play(position, action)
            packed = pack(after)
            if left > LEAST_STORED_DEPTH:
                prefetch_entry(table, packed)
            rank = -np.inf
            if action != first_action:
                rank = -rank_of(after, search) if is_again(after) else rank_of(after, search)
            place = count
            while place > 0 and ranks[place - 1] > rank:
                actions[place], ranks[place] = actions[place - 1], ranks[place - 1]
                store(following, place, load(following, place - 1))
                place -= 1
            actions[place], ranks[place] = action, rank
            store(following, place, packed)
            count += 1
        return count

    return list_sorted
