"""The report of a comparison: proofs in words, lost lines as boards, readable counts."""

import pandas as pd
import pytest

from selfplay.games import make_game
from selfplay.games.position_graph import enumerate_positions
from selfplay.grading.comparison import Comparison
from selfplay.grading.comparison_report import verdict
from selfplay.grading.proof import Grader, count_text, share_text
from selfplay.players.random import RandomPlayer
from tests.grading.test_proof import lowest_action_player, perfect_player


def comparison_of(game_name: str, make_player) -> Comparison:
    game = make_game(game_name)
    grader = Grader(enumerate_positions(game))
    grades = {0: grader.grade(RandomPlayer(game)), 1: grader.grade(make_player(grader))}
    return Comparison(game, pd.DataFrame({"level": [0, 1]}), grades, grader)


def test_a_player_that_cannot_lose_is_reported_as_proved() -> None:
    text = verdict(comparison_of("tictactoe", perfect_player))
    assert text.startswith("Level 1 cannot lose: all ")
    assert "0.9556" in text
    assert "Levels proved unbeatable: 1." in text


def test_a_player_that_can_lose_is_shown_losing() -> None:
    """Playing the lowest legal action fills the top row; moving second it loses to a column after five plies."""
    comparison = comparison_of("tictactoe", lowest_action_player)
    text = verdict(comparison)
    assert text.startswith("Level 1 can lose: of all lines tried it loses ")
    for seat, name in enumerate(("first", "second")):
        assert f"A shortest line that level 1 loses, moving {name}:" in text
        line = comparison.grades[1].shortest_loss[seat]
        final = comparison.game.state_after(map(comparison.game.action_to_string, line))
        assert final.terminated.item()
        assert final.returns.item() == (-1 if seat == 0 else 1)
        assert comparison.game.presentation.line_text(line) in text


def test_a_seat_that_no_player_can_hold_does_not_count_against_the_player() -> None:
    text = verdict(comparison_of("sumto100", perfect_player))
    assert "Level 1 cannot lose moving first: all 1.0 x 10^9 lines tried." in text
    assert "Moving second, every player loses against perfect play." in text
    assert "Level 1 plays a winning action in all 91 positions that the player to move can win." in text


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0"), (255168, "255168"), (10**7, "1.0 x 10^7"), (4719438291475839821, "4.7 x 10^18")]
)
def test_counts_are_exact_while_they_are_short_enough_to_read(count: int, text: str) -> None:
    assert count_text(count) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0"), (0.00002, "<0.0001"), (0.99999, ">0.9999")],
)
def test_a_share_that_is_not_0_is_not_written_as_0(share: float, text: str) -> None:
    assert share_text(share) == text
