"""The split into training matches and held-out matches."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from selfplay.games import make_game
from selfplay.training.examples import is_held_out
from tests.support.dataset_tools import random_rows

GAME = make_game("tictactoe")
ROWS = random_rows(GAME, range(200))


@given(key=st.integers(-(2**63), 2**63 - 1), fraction=st.floats(0.1, 0.9))
def test_rows_of_one_match_are_never_on_both_sides(key, fraction):
    held = is_held_out(ROWS.match, fraction, key)
    assert not set(ROWS.match[held]) & set(ROWS.match[~held])


def test_the_share_of_held_out_matches_is_the_fraction():
    match = np.arange(50_000)
    share = is_held_out(match, 0.2, 3).mean()
    assert abs(share - 0.2) < 5 * (0.2 * 0.8 / 50_000) ** 0.5
