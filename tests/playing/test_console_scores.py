"""Exact scores at the console: Connect Four with perfect play."""

from selfplay.games import make_game
from tests.support.dialogue import dialogue
from tests.support.stub_players import FirstLegal

GAME = make_game("connect_four")


def test_scores_stand_below_the_board_and_the_best_one_in_words() -> None:
    written, _ = dialogue(["y", "4", "4"], FirstLegal(GAME), game=GAME, perfect=True)
    first = written.index("Perfect play: column 4 wins in 21.")
    heading, *_, scores = written[first - 1].splitlines()
    assert (heading, scores.split()) == ("Exact score of each action:", ["-2", "-1", "0", "+1", "0", "-1", "-2"])
    assert "Perfect play: 4 wins in 21, and no other action is better." in written
    assert "It plays 1." in written


def test_a_verdict_distinguishes_a_slower_win_from_a_mistake() -> None:
    written, _ = dialogue(["y", "4", "3"], FirstLegal(GAME), game=GAME, perfect=True)
    # The reply to 4 is 1, with which it loses sooner than need be.
    assert "Perfect play: 1 loses in 17, an inaccuracy; 4 would have lost in 20." in written
    assert "Perfect play: 3 wins in 19; 4 would have won in 17." in written
    written, _ = dialogue(["y", "4", "1"], FirstLegal(GAME), game=GAME, perfect=True)
    assert "Perfect play: 1 draws, a blunder; 4 would have been best (wins in 17)." in written
