"""The moves alone: one match over some lines, or a match in each line, with results and comments."""

from pathlib import Path

import pytest

from selfplay.errors import IllegalActionError, SettingError
from selfplay.games import Game, make_game
from selfplay.games.match import Match
from selfplay.records import (
    Record,
    RecordedResult,
    format_of_file,
    read_record,
    read_records,
    record_of,
    written_record,
)
from selfplay.records.moves import GGF, TRANSCRIPT

CONNECT_FOUR, OTHELLO = make_game("connect_four"), make_game("othello")
GGF_TEXT = "(;GM[Othello]PB[Ann]PW[Bob]TY[6]RE[{}]BO[6 ------ ------ --O*-- --*O-- ------ ------ *]B[c2]W[b2];)"


@pytest.mark.parametrize(
    ("game", "text", "moves", "result"),
    [
        (CONNECT_FOUR, "44 1-0\n", [3, 3], RecordedResult(1)),
        (CONNECT_FOUR, "# by hand\n4 4 *", [3, 3], None),
        (CONNECT_FOUR, "1. 4 4\n2. 4 4\n", [3, 3, 3, 3], None),
        (OTHELLO, "f5d6c3 44-20", [37, 43, 18], RecordedResult(1, "24")),
        (OTHELLO, "# cut off\nf5d6\nc3 -4", [37, 43, 18], RecordedResult(-1, "4")),
    ],
)
def test_a_match_is_read_with_its_result_as_for_learning(
    game: Game, text: str, moves: list[int], result: RecordedResult | None
) -> None:
    record = read_record(text, game)
    assert (list(record.match.actions), record.result, record.broken) == (moves, result, "")
    (line,) = TRANSCRIPT.split(" ".join(TRANSCRIPT.split(text)))
    written = TRANSCRIPT.written(line, game)
    assert list(written.actions) == moves
    assert written.returned == (pytest.approx(result.returned) if result else pytest.approx(float("nan"), nan_ok=True))


def test_lines_that_can_only_be_played_by_themselves_are_several_matches() -> None:
    first, second = read_records("f5d6 +2\nf5d6c3 44-20\n", OTHELLO)
    assert (len(first.match.actions), first.result) == (2, RecordedResult(1, "2"))
    assert (len(second.match.actions), second.result) == (3, RecordedResult(1, "24"))
    with pytest.raises(IllegalActionError, match="the text holds 2 matches"):
        read_record("f5d6\nf5d6c3\n", OTHELLO)


@pytest.mark.parametrize("text", ["", " \n\n", "# by hand\n"])
def test_a_text_without_moves_holds_no_match(text: str) -> None:
    with pytest.raises(IllegalActionError, match="holds no match"):
        read_record(text, OTHELLO)


@pytest.mark.parametrize(
    ("text", "place"), [("1. 4 4\n2. 4 4\n3. 4 4\n4. 4 4", 6), ("4 4\n4 4\n4 4\n4 x", 6), ("4 4 z\n4 4", 2)]
)
def test_a_match_over_some_lines_that_breaks_off_stays_one_match(text: str, place: int) -> None:
    (record,) = read_records(text, CONNECT_FOUR)
    assert (len(record.match.actions), bool(record.broken)) == (place, True)


def test_a_result_that_the_rules_do_not_say_is_written_and_read_back() -> None:
    match = Match(CONNECT_FOUR).play(3).play(3)
    for result, text in ((1, "44 1-0\n"), (0, "44 1/2-1/2\n"), (-1, "44 0-1\n"), (None, "44\n")):
        record = Record(match, result=None if result is None else RecordedResult(result))
        assert written_record(record).text == text
        assert read_record(text, CONNECT_FOUR).result == record.result
    won = Match(CONNECT_FOUR)
    for action in (0, 1, 0, 1, 0, 1, 0):
        won = won.play(action)
    assert written_record(record_of(won)).text == "1212121\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("draughts", "9-13 22-18 11-20"),
        ("connect_four", "4441-0"),
        ("tictactoe", "1,1 0-0"),
        ("othello", "f5d6 444-20"),
    ],
)
def test_a_last_word_that_cannot_be_a_result_of_the_game_is_a_move_that_cannot_be_played(name: str, text: str) -> None:
    with pytest.raises(IllegalActionError, match=r"is not a move|not a legal move"):
        read_record(text, make_game(name))


@pytest.mark.parametrize(
    ("said", "result"),
    [
        ("-36:r", RecordedResult(-1, "R")),
        ("+36:t", RecordedResult(1, "T")),
        ("-36:f", RecordedResult(-1, "F")),
        ("-36:u", RecordedResult(-1)),
        ("+12:s", RecordedResult(1, "12")),
        ("-4", RecordedResult(-1, "4")),
        ("0", RecordedResult(0, "0")),
        ("?", None),
    ],
)
def test_the_board_players_and_result_of_a_match_in_ggf_are_read_and_written_back(
    said: str, result: RecordedResult | None
) -> None:
    for game in (None, OTHELLO, CONNECT_FOUR):
        record = read_record(GGF_TEXT.format(said), game)
        assert (record.game.name, record.players, record.result) == ("othello_6x6", ("Ann", "Bob"), result)
    written = written_record(record).text
    assert f"RE[{said.replace(':s', '') if result is None or result.returned else '+0'}]" in written
    assert read_record(written).result == result


def test_the_end_of_a_match_in_ggf_may_stand_in_a_name() -> None:
    texts = [written_record(Record(Match(OTHELLO).play(action), (";)", "(;")), "ggf").text for action in (37, 44)]
    assert [list(GGF.written(text, OTHELLO).actions) for text in GGF.split("2 " + "".join(texts))] == [[37], [44]]


def test_comments_are_lines_that_are_read_back_and_ggf_has_none() -> None:
    record = Record(Match(OTHELLO).play_all(["f5", "d6"]), comments={0: "not (;B[ab])", 2: "two\nlines"})
    text = written_record(record, "txt").text
    assert text == "f5d6\n# 0. not (;B[ab])\n# 2. two lines\n"
    again = read_record(f"# A heading.\n{text}# 3\n", OTHELLO)
    assert (again.match, again.comments) == (record.match, {0: "not (;B[ab])", 2: "two lines"})
    assert format_of_file(Path("x"), OTHELLO, with_comments=True) == "sgf"
    with pytest.raises(SettingError, match="with comments can only be written as pgn, txt, sgf"):
        format_of_file(Path("x.ggf"), OTHELLO, with_comments=True)


def test_what_the_players_have_agreed_in_go_holds_and_is_written() -> None:
    game = make_game("go_3x3_komi=0.5")
    record = read_record("B2 pass pass 0-1", game)
    assert (record.match.winner, record.result) == (0, RecordedResult(-1))
    assert written_record(record, "txt").text == "B2 pass pass 0-1\n"
