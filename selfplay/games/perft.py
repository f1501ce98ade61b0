"""Perft: the number of sequences of plies from a position, by which rules are compared with published counts."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import bit_count
from selfplay.compute.compilation import Words, recursive_part
from selfplay.compute.compiled_words import load, lowest, store
from selfplay.compute.positions import fits, pack, packed_array, position_at
from selfplay.games.general_rules import pass_of
from selfplay.games.rule_faults import raise_fault
from selfplay.games.rules import Position, Rules
from selfplay.games.tiers import TieredKernel

NONE = -1
"""In place of a row or a count: no field of a position is out of its range; the count is not known."""


def perft_kernel(rules: Rules, pass_action: int | None) -> Callable[..., int]:
    """`count_from(start, depth, count_finished, before, action)`: NONE if a field of a position does not fit, which
    follows `before` by `action`."""
    _, legal_actions, play, is_terminal, *_ = rules
    unpack, pass_in = rules.position.unpack, pass_of(pass_action)

    @recursive_part
    def count_sequences(
        position: Position, depth: int, count_finished: bool, before: Words, action: NDArray[np.int64]
    ) -> int:
        """NONE if a field does not fit. `before`, `action`: the last ply that was played, for the report of a fault."""
        moves = legal_actions(position)
        if moves == 0 and is_terminal(position):
            return 1 if count_finished else 0
        if depth == 1:  # the last ply is counted without playing it
            return max(1, int(bit_count(moves)))
        total, rest = 0, moves
        while True:
            chosen = pass_in(position) if moves == 0 else lowest(rest)
            if depth > 2 or rest == moves:  # the plies that are counted do not write there
                store(before, 0, pack(position))
            action[0] = chosen
            following = play(position, chosen)
            count = count_sequences(following, depth - 1, count_finished, before, action) if fits(following) else NONE
            if count == NONE:
                return NONE
            total += count
            rest &= rest - 1
            if rest == 0 or moves == 0:
                return total

    def count_from(start: Words, depth: int, count_finished: bool, before: Words, action: NDArray[np.int64]) -> int:
        position = unpack(load(start, 0))
        return 1 if depth == 0 else count_sequences(position, depth, count_finished, before, action)

    return count_from


def compile_perft(rules: Rules, pass_action: int | None) -> Callable[[Position, int, bool], int]:
    """The function `Kernels.perft` of a game with these rules."""
    kernel, counted = TieredKernel(perft_kernel, rules, pass_action, in_plain_python=False), 0

    def perft(position: Position, depth: int, count_finished: bool) -> int:
        nonlocal counted
        packed, action = packed_array([position]), np.zeros(1, dtype=np.int64)
        before, count, error = packed.copy(), NONE, None
        try:
            tier, count_from = kernel.chosen(counted)
            last = tier.rows(before)
            try:
                count = count_from(tier.rows(packed), depth, count_finished, last, action)
            finally:
                tier.write_back(last, before)
        except Exception as raised:
            error = raised
        counted = max(0, count)
        if count == NONE:
            raise_fault(rules, [(position_at(rules.position, before, 0), int(action[0]))], error)
        return count

    return perft
