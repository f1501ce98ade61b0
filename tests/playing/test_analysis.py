"""One position analysed by every search: the figures are those of the searches, and invalid input is rejected."""

import pytest

from selfplay.errors import SettingError
from selfplay.playing.analysis import analyse, analysis_report
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.evaluation import AnalysisSettings
from selfplay.settings.run import Run
from tests.support.runs import COMMAND, run_forked


def analysed(*overrides: str):
    return analyse(Run.of(compose_settings_of(AnalysisSettings, "analysis", list(overrides))))


@pytest.mark.slow
def test_the_three_searches_agree_and_visit_fewer_positions_in_this_order():
    minimax, alpha_beta, negascout = analysed("moves=f5d6c3", "depth=6").results.values()
    assert (minimax.value, minimax.action) == (alpha_beta.value, alpha_beta.action)
    assert (minimax.value, minimax.action) == (negascout.value, negascout.action)
    assert minimax.visited > alpha_beta.visited > negascout.visited


@pytest.mark.slow
def test_the_report_shows_board_features_and_searches():
    lines = analysis_report(analysed("moves=f5d6c3", "depth=3")).splitlines()
    assert lines[0].split() == list("abcdefgh")
    assert "white to move" in lines
    assert "evaluation: +32 to the player to move" in lines
    assert [line.split()[0] for line in lines[-3:]] == ["minimax", "alpha_beta", "negascout"]
    # At the start black and white have as many frontier discs; the product with the weight -5 is not -0.
    assert "-0" not in analysis_report(analysed("depth=1")).split()


@pytest.mark.slow
def test_the_position_can_be_a_board_or_a_match_in_ggf():
    empty = " ".join(["--------"] * 3)
    board = f"moves='{empty} ---OX--- ---XXX-- {empty} O; d6:-1; % a problem'"
    match = f"moves='1 (;GM[Othello]TY[8]BO[8 {empty} ---O*--- ---*O--- {empty} *]B[f5];)'"
    states = [analysed(moves, "depth=1").state for moves in ("moves=f5", board, match)]
    assert states[0].key() == states[1].key() == states[2].key()


def test_a_game_without_features_is_searched_for_its_result():
    analysis = analysed("game=tictactoe", "evaluation=none", "depth=9", "moves=5 2")
    assert analysis.features_table() is None
    assert {result.value for result in analysis.results.values()} == {1.0}  # an edge is the wrong answer to the centre


@pytest.mark.parametrize(
    ("overrides", "error", "reason"),
    [
        (
            ["evaluation.weights.discs=many"],
            SettingError,
            r"^evaluation.weights.discs=many: must be a finite number, or",
        ),
        (["game=tictactoe"], SettingError, "^evaluation: tictactoe has no features; set evaluation=none$"),
        (["game=tictactoe", "evaluation=none", "moves=1 4 2 5 3"], SettingError, "the match is over after these moves"),
    ],
)
def test_invalid_settings_are_rejected(overrides, error, reason):
    with pytest.raises(error, match=reason):
        analysed(*overrides)


@pytest.mark.slow
def test_the_program_prints_the_report_and_one_line_for_an_error():
    assert "negascout" in run_forked(COMMAND, "analyse", "moves=f5", "depth=2").stdout
    refused = run_forked(COMMAND, "analyse", "moves=a1")
    assert refused.returncode == 1
    assert refused.stderr.startswith("error: transcript, disc 1: action a1 is not legal here")
    assert len(refused.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("game", "evaluation"), [("tictactoe", "none"), ("othello_4x4", "article"), ("dots_and_boxes", "boxes")]
)
def test_the_program_values_positions_as_is_usual_in_the_game(game: str, evaluation: str) -> None:
    shown = run_forked(COMMAND, "analyse", f"game={game}", "depth=1").stdout
    chosen = run_forked(COMMAND, "analyse", f"game={game}", "depth=1", f"evaluation={evaluation}").stdout
    assert shown == chosen
    assert "negascout" in shown
