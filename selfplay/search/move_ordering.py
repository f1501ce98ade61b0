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

from selfplay.compute.bit_algebra import Word, bit_count
from selfplay.compute.compilation import part_of_compiled, register_rules
from selfplay.games.rules import Rules
from selfplay.search.evaluation import CompiledValue, EvaluationParameters, finished_value

MIN_VALUE_DEPTH = 4
"""The smallest number of remaining plies at which moves are ordered by value."""

ListMoves = Callable[..., int]
"""`list_moves(own, opp, bits, first_move, left, context, moves, ranks)` writes the moves of `bits` into `moves`, in the
order in which they are to be tried with `left` plies left to search, and returns their number, with a pass.
`first_move` comes first; `context` is (`Evaluation.reply_value`, `EvaluationParameters`); `ranks` (float64[64]) is
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
def compile_order(rules: Rules, unfinished_value: CompiledValue) -> ListMoves:
    """Compile the order of the moves of a game."""
    legal_actions, is_terminal, value_at_end = rules.legal_actions, rules.is_terminal, finished_value(rules)
    register_rules()

    @part_of_compiled
    def replies(own: int, opp: int, context: Any) -> Word:
        return bit_count(legal_actions(own, opp))

    @part_of_compiled
    def value(own: int, opp: int, context: tuple[float, EvaluationParameters]) -> Word:
        reply_value, (finished, unfinished) = context
        bits = legal_actions(own, opp)
        total = reply_value * bit_count(bits)
        if bits == 0 and is_terminal(own, opp):
            total += value_at_end(own, opp, finished)
        else:
            total += unfinished_value(own, opp, unfinished)
        return total

    by_replies, by_value = _compile_sorted(rules, replies), _compile_sorted(rules, value)

    @part_of_compiled
    def list_moves(
        own: int,
        opp: int,
        bits: int,
        first_move: int,
        left: int,
        context: tuple[float, EvaluationParameters],
        moves: NDArray[np.int64],
        ranks: NDArray[np.float64],
    ) -> int:
        if left == 1:
            return list_unordered(bits, moves)
        if left < MIN_VALUE_DEPTH:
            return by_replies(own, opp, bits, first_move, 0, moves, ranks)
        return by_value(own, opp, bits, first_move, context, moves, ranks)

    return list_moves


def _compile_sorted(rules: Rules, rank_of: Callable[..., float]) -> Callable[..., int]:
    """Compile the order by `rank_of(own, opp, context)` of the position that a move leads to, the lowest first.

    One function for each rank: a choice between them inside the loop costs up to 6 % of a search.
    """
    play = rules.play

    @part_of_compiled
    def list_sorted(
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

    return list_sorted
