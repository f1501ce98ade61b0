"""SumTo100: the sums that can be reached, the end, and the texts."""

import pytest
import torch

from selfplay.errors import IllegalActionError, SettingError
from selfplay.games.sumto100 import SumTo100

GAME = SumTo100()


def at_sum(*sums):
    return GAME.state_at(torch.tensor(sums)[:, None])


def test_the_addends_from_1_to_10_that_do_not_pass_100_are_legal():
    legal = GAME.legal_action_mask(at_sum(*range(100))).tolist()
    assert legal == [[total + addend <= 100 for addend in range(1, 11)] for total in range(100)]


def test_the_player_who_reaches_100_wins():
    first_wins = GAME.state_after(["10"] * 9 + ["1", "9"])  # eleven plies: the first player makes the last
    assert (GAME.field(first_wins, "sum").tolist(), first_wins.terminated.tolist()) == ([100], [True])
    assert first_wins.returns.tolist() == [1.0]
    second_wins = GAME.state_after(["10"] * 10)
    assert second_wins.returns.tolist() == [-1.0]


def test_exceeding_100_is_refused():
    with pytest.raises(IllegalActionError, match=r"action 2 is not legal here; legal actions: 1$"):
        GAME.step(at_sum(99), torch.tensor([1]))


def test_the_observation_is_the_sum_as_a_one_hot_vector():
    sums = (0, 1, 42, 100)
    seen = GAME.observe(at_sum(*sums))
    assert seen.shape == (4, 101)
    assert torch.equal(seen, torch.eye(101)[list(sums)])


def test_a_text_that_is_not_an_addend_is_refused():
    with pytest.raises(IllegalActionError, match="is not a move"):
        GAME.string_to_action("0")


def test_a_sum_has_no_board_of_squares():
    assert GAME.num_squares is None
    with pytest.raises(SettingError, match="sumto100: this game has no board of squares"):
        GAME.squares(at_sum(0))
    with pytest.raises(SettingError, match="sumto100: its boards do not determine who is to move"):
        GAME.state_of_squares(torch.zeros(1, 9, dtype=torch.int8))
