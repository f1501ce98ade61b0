"""The order in which the searches try moves: the more often the first one is the best, the more the rest is cut off.

The move that was best in an earlier search comes first. Far from the leaves, where much depends on the order, moves
follow by the value of the position that they lead to; near the leaves by the number of replies to them, which is
counted faster.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import bit_count
from selfplay.compute.compilation import part_of_compiled, register_rules
from selfplay.games.rules import Rules
from selfplay.search.evaluation import CompiledValue, EvaluationParameters, finished_value

MIN_VALUE_DEPTH = 4
"""The smallest number of remaining plies at which moves are ordered by value."""

ListMoves = Callable[..., int]
"""`list_moves(own, opp, bits, first_move, context, moves, ranks)` writes the moves of `bits` into `moves`, in the order
in which they are to be tried, and returns their number, with a pass. `first_move` comes first; `ranks` (float64[64]) is
scratch memory."""


@part_of_compiled
def list_unordered(bits: int, moves: NDArray[np.int64]) -> int:
    """As `ListMoves`, from the lowest square to the highest."""
    count = 0
    while bits != 0:
        moves[count] = bits & -bits
        bits &= bits - 1
        count += 1
    if count == 0:
        moves[0] = 0
    return max(count, 1)


@cache
def compile_order_by_replies(rules: Rules) -> ListMoves:
    """Compile the order by the number of replies; it does not use the context."""
    legal_actions = rules.legal_actions
    register_rules()

    @part_of_compiled
    def replies(own: int, opp: int, context: Any) -> int:
        count: int = bit_count(legal_actions(own, opp))
        return count

    return _compile_order(rules, replies)


@cache
def compile_order_by_value(rules: Rules, unfinished_value: CompiledValue) -> ListMoves:
    """Compile the order by value; the context is (`Evaluation.reply_value`, `EvaluationParameters`)."""
    legal_actions, is_terminal, value_at_end = rules.legal_actions, rules.is_terminal, finished_value(rules)
    register_rules()

    @part_of_compiled
    def value(own: int, opp: int, context: tuple[float, EvaluationParameters]) -> float:
        reply_value, (finished, unfinished) = context
        replies = legal_actions(own, opp)
        total: float = reply_value * bit_count(replies)
        if replies == 0 and is_terminal(own, opp):
            total += value_at_end(own, opp, finished)
        else:
            total += unfinished_value(own, opp, unfinished)
        return total

    return _compile_order(rules, value)


def _compile_order(rules: Rules, rank_of: Callable[..., float]) -> ListMoves:
    """Compile the order by `rank_of(own, opp, context)` of the position that a move leads to, the lowest first."""
    play = rules.play

    @part_of_compiled
    def list_moves(
        own: int,
        opp: int,
        bits: int,
        first_move: int,
        context: Any,
        moves: NDArray[np.int64],
        ranks: NDArray[np.float64],
    ) -> int:
        count = 0
        while bits != 0:
            move = bits & -bits
            bits ^= move
            rank = -np.inf if move == first_move else rank_of(*play(own, opp, move), context)
            place = count
            while place > 0 and ranks[place - 1] > rank:
                moves[place], ranks[place] = moves[place - 1], ranks[place - 1]
                place -= 1
            moves[place], ranks[place] = move, rank
            count += 1
        if count == 0:
            moves[0] = 0
        return max(count, 1)

    return list_moves
