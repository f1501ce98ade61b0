"""A comparison: which players meet; the sentences of exact grades: proofs in words, lost lines as boards, counts."""

import re
from types import SimpleNamespace

import pandas as pd
import pytest

from selfplay.games import make_game
from selfplay.games.position_graph import enumerate_positions
from selfplay.games.win_draw_loss import share_text
from selfplay.grading.compared_players import Compared, ComparisonParameters, name_of, schedule, spaced_levels
from selfplay.grading.comparison import compare, comparison_table
from selfplay.grading.grades_and_policies import ExactGrades
from selfplay.grading.proof import Grader, count_text
from selfplay.players.player import RandomPlayer
from selfplay.stages.measure_levels import reference_names
from tests.grading.test_proof import lowest_action_player, perfect_player


def exact_grades_of(game_name: str, make_player) -> ExactGrades:
    game = make_game(game_name)
    grader = Grader(enumerate_positions(game))
    players = {0: RandomPlayer(game), 1: make_player(grader)}
    return ExactGrades(SimpleNamespace(game=game, levels=[0, 1], newest=1, players=players), grader)


def text_of(grades: ExactGrades) -> str:
    return "\n".join(grades.sentences(pd.DataFrame()))


def test_a_player_that_cannot_lose_is_reported_as_proved() -> None:
    text = text_of(exact_grades_of("tictactoe", perfect_player))
    # With the numbers of a trained level the sentence fits a line of a terminal.
    assert re.match(r"Level 1 cannot lose: all \d+ lines tried, \d+ moving first, \d+ moving second\.\n", text)
    assert "0.9556" in text
    assert "Levels proved unbeatable: 1." in text


def test_a_player_that_can_lose_is_shown_losing() -> None:
    """Playing the lowest legal action fills the top row; moving second it loses to a column after five plies."""
    grades = exact_grades_of("tictactoe", lowest_action_player)
    text, game = text_of(grades), grades.compared.game
    assert text.startswith("Level 1 can lose: of all lines tried it loses ")
    for seat, name in enumerate(("first", "second")):
        assert f"A shortest line that level 1 loses, moving {name}:" in text
        line = grades.grades[1].shortest_loss[seat]
        final = game.state_after(map(game.action_to_string, line))
        assert final.terminated.item()
        assert final.returns.item() == (-1 if seat == 0 else 1)
        assert game.presentation.line_text(line) in text


def test_a_seat_that_no_player_can_hold_does_not_count_against_the_player() -> None:
    text = text_of(exact_grades_of("sumto100", perfect_player))
    assert "Level 1 cannot lose moving first: all 1.0 x 10^9 lines tried." in text
    assert "Moving second, every player loses against perfect play." in text
    assert "Level 1 plays a winning action in all 91 positions that the player to move can win." in text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        *((0, "0"), (255168, "255168"), (10**7, "1.0 x 10^7")),
        *((4719438291475839821, "4.7 x 10^18"), (25 * 10**400, "2.5 x 10^401")),
    ],
)
def test_counts_are_exact_while_they_are_short_enough_to_read(count: int, text: str) -> None:
    assert count_text(count) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0"), (0.00002, "<0.0001"), (0.99999, ">0.9999"), (0.5, "0.5000"), (1.0, "1")],
)
def test_only_a_share_of_0_or_1_is_written_as_such(share: float, text: str) -> None:
    assert share_text(share) == text


def test_a_share_can_be_a_percentage_or_known_by_the_rest() -> None:
    shares = [0.0, 0.0004, 0.125, 0.9996, 1.0]
    assert [share_text(share, 1, "%") for share in shares] == ["0%", "<0.1%", "12.5%", ">99.9%", "100%"]
    # All of ten probabilities of 0.1 are a little less than 1.
    assert share_text(0.9999999999999999, rest=0.0) == "1"
    assert share_text(1.0, rest=1e-20) == ">0.9999"


def test_a_seldom_lost_match_is_neither_0_in_the_table_nor_in_the_report() -> None:
    """The random player beats perfect play of SumTo100 from the second seat if it happens to play perfectly."""
    game = make_game("sumto100")
    players = {0: RandomPlayer(game), 1: perfect_player(Grader(enumerate_positions(game)))}
    comparison = compare(Compared(game, players, ComparisonParameters(matches=2)))
    newest = comparison.table.iloc[1]
    assert newest["exact_loss_vs_random"] == 5e-11
    assert newest["exact_win_vs_random"] < 1
    assert " <0.0001 " in comparison_table(comparison).splitlines()[2]


def test_one_wrong_action_of_thousands_is_seen_in_the_share_of_optimal_ones() -> None:
    (shown,) = (column for column in ExactGrades.shown if column.title == "optimal")
    assert [shown.text(share) for share in (0.98, 0.9998, 1.0)] == ["0.980", ">0.999", "1"]


CONNECT_FOUR, OTHELLO = make_game("connect_four"), make_game("othello")


def test_references_depend_on_what_the_game_supports() -> None:
    searches = [f"search:negascout?depth={depth}&evaluation=article" for depth in range(1, 7)]
    assert reference_names(make_game("othello"), None) == ["greedy_discs", *searches]
    plain = [f"search:negascout?depth={depth}&evaluation=none" for depth in (2, 4, 6)]
    assert reference_names(CONNECT_FOUR, None) == plain
    assert reference_names(OTHELLO, ["random", "greedy_discs", "greedy_discs"]) == ["greedy_discs"]


def test_ten_levels_or_those_at_an_interval_play_the_references() -> None:
    assert spaced_levels(range(1, 8), None) == list(range(1, 8))
    assert spaced_levels(range(1, 25), None) == [1, 4, 6, 9, 11, 14, 16, 19, 21, 24]
    assert spaced_levels(range(1, 25), 10) == [1, 4, 14, 24]
    assert spaced_levels([3], 5) == spaced_levels([3], None) == [3]


def test_each_pair_plays_once() -> None:
    pairs = schedule([1, 2, 3], ["weak", "strong"], ComparisonParameters(matches=50, every=2, earlier_matches=20))
    assert pairs == {
        **{(1, 0): 50, (2, 1): 50, (2, 0): 50, (3, 2): 50, (3, 0): 50},
        **{(1, "weak"): 20, (1, "strong"): 20, (3, "weak"): 50, (3, "strong"): 50},
        **{(3, 1): 50, ("strong", "weak"): 20, ("weak", 0): 20},
    }
    assert [name_of(who) for who in (0, 3, "weak")] == ["random", "level:3", "weak"]
