"""Matches in files: saved and loaded in the console, and valued move by move by `selfplay analyse`."""

import pytest

from selfplay.errors import InvalidFileError, SettingError
from selfplay.games import make_game
from selfplay.games.match import Match
from selfplay.playing.record_analysis import record_lines
from selfplay.records import Record, read_record_file, written_record
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.evaluation import AnalysisSettings
from selfplay.settings.run import Run
from tests.support.dialogue import dialogue
from tests.support.runs import COMMAND, run_forked
from tests.support.stub_players import FirstLegal

HANDICAP = "(;GM[1]SZ[3]KM[0.5]PB[Ann]PW[Bob]HA[2]AB[aa][cc]RE[W+R]C[start];W[bb]C[good];B[];W[])"


def test_the_console_saves_a_match_and_goes_on_with_one_that_it_loads(tmp_path):
    game, path = make_game("gomoku", 5, length=3), tmp_path / "Match.txt"
    lines = ["a1", f"save {path}", "b1", f"load {path}", "c3", "save", "save x.sgf", "load none.sgf", "quit"]
    written, _ = dialogue(lines, None, None, game=game)
    assert path.read_text() == "a1\n"
    assert f"Written to {path}." in written
    loaded = written.index("Loaded: 1 moves.")
    assert written[loaded + 1].count("O") == 0
    assert written[loaded + 1].count("X") == 1
    assert written[-4:-1] == [
        "write save and the name of a file, such as save game.txt",
        "sgf: matches of gomoku_5x5_length=3 can only be written as txt",
        "none.sgf: does not exist",
    ]


def test_a_match_of_another_game_is_not_loaded(tmp_path):
    path = tmp_path / "match.sgf"
    path.write_text(HANDICAP)
    written, _ = dialogue([f"load {path}", "quit"], FirstLegal(make_game("go_5x5")), None, game=make_game("go_5x5"))
    assert "this is a match of go_3x3_komi=0.5, not of go_5x5; choose that game for it" in written


def test_the_console_tells_what_a_file_says_of_a_match_and_where_it_breaks_off(tmp_path):
    path = tmp_path / "match.sgf"
    path.write_text("(;GM[1]SZ[3]KM[0.5]PB[Ann]RE[W+R];B[bb]C[the middle](;W[ab];B[bb])(;W[ba]))")
    written, _ = dialogue([f"load {path}", "quit"], None, None, game=make_game("go", 3, komi=0.5))
    loaded = written.index("Loaded: 2 moves.")
    assert written[loaded + 1 : loaded + 5] == [
        "Go 3x3, komi 0.5, black: Ann, white wins by resignation",
        "After move 1: the middle",
        "1 other line of play is left out.",
        "The match breaks off here: move 3, B[bb]: action B2 is not legal here: it is occupied",
    ]


def lines_of(*overrides):
    return list(record_lines(Run.of(compose_settings_of(AnalysisSettings, "analysis", list(overrides)))))


def test_each_move_of_a_file_is_valued_with_the_better_one_and_written_as_a_comment(tmp_path):
    # The centre is best answered by a corner; an edge loses.
    game, path, out = make_game("gomoku", 3), tmp_path / "match.txt", tmp_path / "commented.txt"
    path.write_text("b2 b1\n")
    lines = lines_of(f"record={path}", "game=gomoku_3x3", "player=perfect", f"commented={out}")
    assert lines == [
        f"{game.presentation.title}, without a result",
        "values: perfect",
        "1. black b2 +0.00",
        "2. white b1 -1.00 blunder (best a3 +0.00)",
    ]
    assert out.read_text() == "b2 b1\n# 1. +0.00\n# 2. -1.00 blunder (best a3 +0.00)\n"


def test_a_move_that_the_search_has_not_tried_is_compared_with_the_best_one_by_what_follows(tmp_path):
    path = tmp_path / "match.txt"
    path.write_text("b2 b1\n")
    lines = lines_of(f"record={path}", "game=gomoku_3x3", "player=tests.support.stub_players:Narrow")
    # The best reply to each is worth 0.3 to the other player.
    assert lines[2:] == ["1. black b2 -0.30", "2. white b1 -0.30"]


def test_the_heading_says_komi_handicap_players_and_result_and_comments_are_kept(tmp_path):
    path, out = tmp_path / "match.sgf", tmp_path / "commented.sgf"
    path.write_text(HANDICAP)
    result = run_forked(COMMAND, "analyse", str(path), "player=tests.support.stub_players:Valuing", f"commented={out}")
    assert (result.returncode, result.stderr) == (0, "")
    heading, values, start, first, *others = result.stdout.splitlines()
    assert heading == "Go 3x3, komi 0.5, handicap 2, black: Ann, white: Bob, white wins by resignation"
    assert (values, start) == ("values: valuing", "start")
    assert first.startswith("1. white B2 ")
    assert first.endswith(" good")
    assert [line.split()[:3] for line in others] == [["2.", "black", "pass"], ["3.", "white", "pass"]]
    again = read_record_file(out)
    assert again.comments[0] == "start"
    assert again.comments[1].startswith("good\n")
    assert set(again.comments) == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("text", "overrides", "error", "reason"),
    [
        (HANDICAP, ["player=random"], SettingError, "player=random: it does not value actions"),
        (
            HANDICAP,
            ["commented=x.ggf"],
            SettingError,
            "ggf: matches of go_3x3_komi=0.5 with comments can only be written as txt, sgf",
        ),
        ("(;GM[1]SZ[3];B[zz])", [], InvalidFileError, "'zz' is not a point"),
    ],
)
def test_a_file_that_cannot_be_valued_is_refused(tmp_path, text, overrides, error, reason):
    path = tmp_path / "match.sgf"
    path.write_text(text)
    with pytest.raises(error, match=reason.replace("(", r"\(")):
        lines_of(f"record={path}", *overrides)


def test_a_record_of_othello_is_read_without_a_game(tmp_path):
    game, path = make_game("othello_6x6"), tmp_path / "match.ggf"
    path.write_text(written_record(Record(Match(game).play("e4"))).text)
    assert read_record_file(path).game.name == "othello_6x6"


@pytest.mark.parametrize("setting", ["commented=x.sgf", "player=perfect"])
def test_what_only_a_record_needs_is_refused_without_one(setting):
    with pytest.raises(SettingError, match=f"^{setting}: must be given with the file of a match"):
        compose_settings_of(AnalysisSettings, "analysis", ["moves=f5", setting])


@pytest.mark.parametrize(("result", "end"), [("B+2", "B[];W[]"), ("W+R", "B[ac]")])
def test_a_result_that_the_rules_do_not_say_is_kept_until_the_match_goes_on(tmp_path, result, end):
    path, out = tmp_path / "match.sgf", tmp_path / "out.sgf"
    path.write_text(f"(;GM[1]SZ[3]KM[0.5]RE[{result}];B[aa];W[bb];{end})")
    game = make_game("go", 3, komi=0.5)
    dialogue([f"load {path}", f"save {out}", "quit"], None, None, game=game)
    assert f"RE[{result}]" in out.read_text()
    dialogue([f"load {path}", "undo", "C1", f"save {out}", "quit"], None, None, game=game)
    assert "RE[" not in out.read_text()


def test_the_console_says_that_the_players_have_counted_otherwise(tmp_path):
    path = tmp_path / "match.sgf"
    path.write_text("(;GM[1]SZ[3]KM[0.5]RE[W+9.5];B[bb];W[];B[])")
    written, _ = dialogue([f"load {path}", "quit"], None, None, game=make_game("go", 3, komi=0.5))
    loaded = written.index("Loaded: 3 moves.")
    assert written[loaded + 1 : loaded + 3] == [
        "Go 3x3, komi 0.5, white wins by 9.5",
        "By the rules, which count every stone on the board as alive, the result is different.",
    ]
