"""Won, drawn and lost: scores, intervals and the sign test."""

from math import isnan

import pytest

from selfplay.games.win_draw_loss import WinDrawLoss, sign_test, sign_test_interval, summed, wilson_interval


def test_a_draw_is_half_a_point() -> None:
    results = WinDrawLoss(5, 10, 5)
    assert (results.matches, results.points, results.score) == (20, 10, 0.5)
    assert results.rates == (0.25, 0.5, 0.25)


def test_no_matches_have_no_score_and_probabilities_one_that_rounding_does_not_change() -> None:
    nothing = WinDrawLoss(0, 0, 0)
    assert all(map(isnan, (nothing.score, *nothing.rates)))
    # Their sum is 0.9999999999999999.
    assert WinDrawLoss(0.7, 0.2, 0.1).score == pytest.approx(0.8)
    assert WinDrawLoss(0.7, 0.2, 0.1).rates == pytest.approx((0.7, 0.2, 0.1))


def test_the_opponent_sees_wins_as_losses() -> None:
    results = WinDrawLoss(3, 2, 1)
    assert results.reversed() == (1, 2, 3)
    assert summed([results, results.reversed()]) == (4, 4, 4)
    assert str(results) == "3-2-1"


@pytest.mark.parametrize(
    ("wins", "losses", "word"),
    [(60, 40, "not told apart"), (65, 35, "better"), (35, 65, "worse"), (0, 0, "not told apart")],
)
def test_the_sign_test_compares_wins_with_losses(wins: int, losses: int, word: str) -> None:
    assert sign_test(WinDrawLoss(wins, 100, losses)) == word


def test_the_interval_of_the_sign_test_contains_zero_exactly_where_it_does_not_decide() -> None:
    for wins in range(180, 310, 2):
        low, high = sign_test_interval(results := WinDrawLoss(wins, 472, 240))
        assert low < wins - 240 < high
        assert (sign_test(results) == "not told apart") == (low <= 0 <= high)
    assert sign_test_interval(WinDrawLoss(0, 9, 0)) == (0, 0)
    # Clopper and Pearson's interval of 7 in 10 at 95 %: 0.3475 to 0.9333.
    assert sign_test_interval(WinDrawLoss(7, 0, 3)) == pytest.approx((-3.0495, 8.6651), abs=1e-3)


def test_the_interval_is_that_of_wilson() -> None:
    # Wilson's interval of 10 in 20 at 95 %: 0.2993 to 0.7007.
    assert wilson_interval(10, 20) == pytest.approx((0.29929, 0.70071), abs=1e-5)
    # Who has won all of 40 matches may lose one of twelve.
    assert wilson_interval(WinDrawLoss(40, 0, 0).points, 40) == pytest.approx((0.91238, 1.0), abs=1e-5)
