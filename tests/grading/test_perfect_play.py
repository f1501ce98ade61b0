"""Matches against perfect play, and what the report says of an exact solver's judgement."""

from functools import cache

import pytest

from selfplay.games import make_game
from selfplay.games.win_draw_loss import WinDrawLoss
from selfplay.grading.measures import perfect_text, play_against_perfect
from selfplay.grading.mistakes import mistakes_text
from selfplay.grading.solved_positions import MoveQuality, PositionGrade
from selfplay.matches.series import Series
from selfplay.players.perfect import SolverPlayer, whole_game_solver_player
from tests.support.stub_players import FirstLegal

GAME = make_game("connect_four")


@cache
def perfect() -> SolverPlayer:
    player = whole_game_solver_player(GAME)
    assert player is not None
    return player


def test_perfect_play_wins_moving_first_and_a_poor_player_loses_in_both_seats():
    players = {"lowest": FirstLegal(GAME), "perfect": perfect()}
    results = play_against_perfect(perfect(), players, Series(range(1), 5, alternate=False))
    assert results["lowest"] == (WinDrawLoss(0, 0, 1), WinDrawLoss(0, 0, 1))
    assert results["perfect"] == (WinDrawLoss(1, 0, 0), WinDrawLoss(0, 0, 1))


def grade(mistakes: float) -> PositionGrade:
    quality = MoveQuality(2, mistakes, 0.5, 1.25)
    return PositionGrade(quality._replace(positions=4), {"middle-medium": quality, "begin-hard": quality})


def test_the_report_has_a_line_per_group_and_the_results_against_perfect_play():
    strong, weak = "search:negascout?depth=6", "search:negascout?depth=2"
    results = (WinDrawLoss(7, 1, 2), WinDrawLoss(0, 3, 7))
    grades = {0: grade(0.75), 1: grade(0.5), 2: grade(0.25), weak: grade(0.6), strong: grade(0.125)}
    lines = mistakes_text(grades, [0, 1, 2], [weak, strong]) + perfect_text(2, results, 1)
    assert max(map(len, lines)) <= 80
    assert lines[3:] == [
        "  group          number  mistakes  perfect  points  random  level 1  reference",
        "  middle-medium       2     0.250    0.500    1.25   0.750    0.500      0.125",
        "  begin-hard          2     0.250    0.500    1.25   0.750    0.500      0.125",
        "  all                 4     0.250    0.500    1.25   0.750    0.500      0.125",
        "The reference is search:negascout?depth=6.",
        "Against perfect play, from the initial position, level 2",
        "  moving first won 7, drew 1 and lost 2 of 10 matches (best possible: a win)",
        "  moving second won 0, drew 3 and lost 7 of 10 matches (best possible: a loss)",
    ]


@pytest.mark.parametrize("name", ["othello", "tictactoe"])
def test_games_whose_solver_does_not_reach_the_start_have_no_such_player(name):
    assert whole_game_solver_player(make_game(name)) is None
