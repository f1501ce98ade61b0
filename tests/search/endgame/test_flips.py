"""The discs that a move turns, by rays of squares."""

import numpy as np
import pytest

from selfplay.compute.compilation import compiled
from selfplay.games import make_game
from selfplay.search.endgame.last_squares import compiled_flips, rays

C3, ALONG_ROW, ALONG_COLUMN, ALONG_DIAGONAL = 18, 0xF80000, 0x0404040404000000, 0x8040201008000000


def test_the_rays_of_a_square_are_those_with_at_least_two_squares():
    upward, downward = rays(make_game("othello").turning_rules)
    assert {ALONG_ROW, ALONG_COLUMN, ALONG_DIAGONAL} <= set(upward[C3].tolist())
    assert set(upward[C3].tolist()) == {ALONG_ROW, ALONG_COLUMN, ALONG_DIAGONAL, 1 << 25 | 1 << 32}
    assert set(downward[C3].tolist()) == {1 << 17 | 1 << 16, 1 << 10 | 1 << 2, 1 << 9 | 1, 1 << 11 | 1 << 4}
    assert downward[0].tolist() == [0, 0, 0, 0] == upward[63].tolist()


@pytest.mark.slow
def test_a_move_turns_the_discs_that_the_rules_say():
    turning = make_game("othello").turning_rules
    flips = compiled_flips(turning)

    @compiled
    def turned_by(own, opp, moves):
        turned = np.empty_like(moves)
        for i in range(len(moves)):
            turned[i] = flips(own[i], opp[i], moves[i])
        return turned

    chance = np.random.default_rng(0)
    own, opp, other = chance.integers(-(2**63), 2**63 - 1, size=(3, 20_000))
    # Positions with few and with many empty squares.
    own, opp = own & turning.board, opp & ~own & turning.board & np.where(np.arange(len(own)) % 2, other, -1)
    moves = 1 << chance.integers(0, 64, size=len(own))
    is_empty = (moves & turning.board & ~(own | opp)) != 0
    own, opp, moves = own[is_empty], opp[is_empty], moves[is_empty]
    expected = turning.flips(own, opp, moves)
    assert np.count_nonzero(expected) > 200
    assert np.array_equal(turned_by(own, opp, moves), expected)
