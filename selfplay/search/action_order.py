"""The order in which compiled searches try the actions of a position.

If the first move is the best more often, more of the rest is cut off. The move that was best in an earlier search comes
first. Far from the leaves the order matters more, so the other moves are ordered by the value of the position after
them. Near the leaves they are ordered by the number of replies, which is faster to count; at the last ply only the move
that has last cut off such a position comes first ("killer heuristic": Akl & Newborn, "The principal continuation and
the killer heuristic", 1977).
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from selfplay.compute.bit_algebra import Word, bit_count
from selfplay.compute.compilation import Words, part_of_compiled, register_rules
from selfplay.compute.compiled_words import bit_like, load, lowest
from selfplay.compute.compiled_words import store as store_word
from selfplay.games.rules import Rules
from selfplay.search.evaluation import CompiledValue, finished_value
from selfplay.search.transposition_table import LEAST_STORED_DEPTH, NO_ACTION, expect

MIN_VALUE_DEPTH = 4
"""The smallest number of remaining plies at which moves are ordered by value."""


class Positions(NamedTuple):
    """Positions as arrays of their words."""

    own: Words
    opp: Words


@part_of_compiled
def put(positions: Positions, place: int, own: Word, opp: Word) -> None:
    """Write a position to this place."""
    store_word(positions.own, place, own)
    store_word(positions.opp, place, opp)


@cache
def order_of_actions(rules: Rules, unfinished_value: CompiledValue, passing: int) -> Callable[..., int]:
    """`list_actions(own, opp, bits, first_action, left, search)` of a game with these rules.

    It writes the actions of `bits`, or a pass if there are none, into `search.actions[left]` in the order in which they
    are to be tried, `first_action` first, and with `left` > 1 the positions after them into `search.following`; it
    returns their number. `search` is a `selfplay.search.negamax.NegamaxSearch`.
    """
    legal_actions, play, is_terminal = rules.legal_actions, rules.play, rules.is_terminal
    value_at_end = finished_value(rules)
    register_rules()

    @part_of_compiled
    def replies(own: Word, opp: Word, search: Any) -> Word:
        return bit_count(legal_actions(own, opp))

    @part_of_compiled
    def value(own: Word, opp: Word, search: Any) -> Word:
        bits = legal_actions(own, opp)
        total = search.reply_value * bit_count(bits)
        if bits == 0 and is_terminal(own, opp):
            total += value_at_end(own, opp, search.parameters.finished)
        else:
            total += unfinished_value(own, opp, search.parameters.unfinished)
        return total

    by_replies, by_value = _sorting_by(replies, rules), _sorting_by(value, rules)

    @part_of_compiled
    def list_actions(own: Word, opp: Word, bits: Word, first_action: int, left: int, search: Any) -> int:
        actions, following = search.actions[left], Positions(search.following.own[left], search.following.opp[left])
        if bits == 0:
            actions[0] = passing
            put(following, 0, *play(own, opp, bits))
            return 1
        if left == 1 or not search.ordered:
            count = 0
            if left == 1 and search.ordered and left < search.depth and search.killers[left] != NO_ACTION:
                killer = bit_like(own, search.killers[left])
                if bits & killer != 0:
                    actions[0], count = search.killers[left], 1
                    bits ^= killer
            while bits != 0:
                actions[count] = lowest(bits)
                if left > 1:
                    put(following, count, *play(own, opp, bit_like(own, actions[count])))
                bits &= bits - 1
                count += 1
            return count
        if left < MIN_VALUE_DEPTH:
            return by_replies(own, opp, bits, first_action, left, search)
        return by_value(own, opp, bits, first_action, left, search)

    return list_actions


def _sorting_by(rank_of: Callable[..., float], rules: Rules) -> Callable[..., int]:
    """The order by `rank_of(own, opp, search)` of the position that an action leads to, the lowest first.

    One function for each rank: a choice between them inside the loop costs up to 6 % of a search.
    """
    play = rules.play

    @part_of_compiled
    def list_sorted(own: Word, opp: Word, bits: Word, first_action: int, left: int, search: Any) -> int:
        actions, ranks, table, count = search.actions[left], search.ranks, search.table, 0
        following = Positions(search.following.own[left], search.following.opp[left])
        while bits != 0:
            action = lowest(bits)
            bits &= bits - 1
            mine, others = play(own, opp, bit_like(own, action))
            if left > LEAST_STORED_DEPTH:
                expect(table, mine, others)
            rank = -np.inf if action == first_action else rank_of(mine, others, search)
            place = count
            while place > 0 and ranks[place - 1] > rank:
                actions[place], ranks[place] = actions[place - 1], ranks[place - 1]
                put(following, place, load(following.own, place - 1), load(following.opp, place - 1))
                place -= 1
            actions[place], ranks[place] = action, rank
            put(following, place, mine, others)
            count += 1
        return count

    return list_sorted
