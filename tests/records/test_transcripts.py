"""The moves alone: one match over some lines, or a match in each line, with results and comments."""

import pytest

from selfplay.errors import IllegalActionError
from selfplay.games import Game, make_game
from selfplay.games.match import Match
from selfplay.records import Record, RecordedResult, read_record, read_records, record_of, written_record
from selfplay.records.moves import TRANSCRIPT

CONNECT_FOUR, OTHELLO = make_game("connect_four"), make_game("othello")


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
