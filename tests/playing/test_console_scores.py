"""Exact scores at the console: Connect Four with perfect play."""

import time

import pytest

from selfplay.games import make_game
from selfplay.players.perfect import perfect_player_of
from selfplay.playing import console_values
from selfplay.playing.hints import perfect_values
from selfplay.playing.session import Session
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


def test_a_hint_of_perfect_play_is_in_words() -> None:
    written, _ = dialogue(["y", "hint", "perfect", "hint"], FirstLegal(GAME), game=GAME)
    # Each hint says it, and so does the command, at once.
    assert written.count("Perfect play: column 4 wins in 21.") == 3
    perfect = perfect_player_of(GAME)
    written, _ = dialogue(["n", "hint"], perfect, game=GAME)
    assert "It plays 4, value +1 (wins in 21)." in written
    assert written[2].startswith("What perfect expects of each action:")
    assert written[2].endswith("-2    -1     0    +1     0    -1    -2")


def test_the_console_says_when_a_position_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(session: Session, ply: int | None = None) -> object:
        time.sleep(0.2)
        return perfect_values(session, ply)

    monkeypatch.setattr(console_values, "perfect_values", slow)
    monkeypatch.setattr(console_values, "QUIET_SECONDS", 0.05)
    written, _ = dialogue(["y"], FirstLegal(GAME), game=GAME, perfect=True)
    assert written.index(console_values.STILL_SOLVING) < written.index("Perfect play: column 4 wins in 21.")
