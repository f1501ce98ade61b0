"""Matches with tags before the moves: PGN as other programs write it, and PDN against a second reader."""

import random
from math import nan

import pytest

from selfplay.errors import IllegalActionError
from selfplay.games import Game, make_game
from selfplay.games.match import Match
from selfplay.records import Record, RecordedResult, read_record, read_records, written_record
from selfplay.records.moves import read_result_and_lead
from selfplay.records.tagged import PGN

OTHELLO, OTHELLO_4, DRAUGHTS = (make_game(name) for name in ("othello", "othello_4x4", "draughts"))


def moves_of(record: Record) -> list[str]:
    return [record.game.action_to_string(action) for action in record.match.actions]


def test_nested_variations_marks_and_lines_for_programs_are_left_out() -> None:
    text = (
        '[Event "2 \\"x\\" \\\\ y"]\n[Black "A"]\n[Result "1-0"]\n\n'
        "1. f5! {good (really} (1. d3 (1. c4 {x}) c3) d6?! $4\n% clock 12\n2. c3!? ; the rest\n1-0\n"
        '[Black "B"]\n; of {three\n[White "D"]\n\n1. c4$1 (1. f5) *\n[Black "C"]\n\n1. e6 *'
    )
    first, second, third = read_records(text, OTHELLO)
    assert (moves_of(first), first.result, first.players) == (["f5", "d6", "c3"], RecordedResult(1), ("A", ""))
    assert [moves_of(second), moves_of(third), second.result] == [["c4"], ["e6"], None]
    assert (first.comments, first.variations) == ({1: "good (really", 3: "the rest"}, 1)
    assert (second.comments, second.variations, third.comments) == ({0: "of {three"}, 1, {})


def test_comments_are_read_with_the_position_behind_their_move_and_written_back() -> None:
    text = "{Of two} ; masters\n1. {slow} 15x22x31 {two} {jumps} 17-14 {[%clk 0:05]} ( 17-13 {no} ) ; next\n* {end}"
    record = read_record(f'[FEN "B:W18,26,17:B15,1"]\n\n{text}')
    assert moves_of(record) == ["15x22", "22x31", "17-14"]
    comments = {0: "Of two\nmasters\nslow", 2: "two\njumps", 3: "[%clk 0:05]\nnext\nend"}
    assert (record.comments, record.variations) == (comments, 1)
    again = read_record(written_record(record, "pdn").text)
    assert again.comments == {ply: comment.replace("\n", " ") for ply, comment in comments.items()}
    joined = read_record('[Black "A"]\n\n1. f5d6 {both} c3 {third}', OTHELLO)
    assert (len(joined.match.actions), joined.comments) == (3, {2: "both", 3: "third"})
    (broken,) = read_records('[Black "A"]\n\n1. f5 {one} d6 x9 {two} c3 {three} *', OTHELLO)
    assert (len(broken.match.actions), broken.comments) == (2, {1: "one", 2: "two\nthree"})


def test_names_with_quotes_backslashes_and_newlines_are_read_back() -> None:
    name = 'a "b"] C:\\games\\"]'
    written = written_record(Record(Match(OTHELLO).play(19), (name, "x\ny\r\nz\u2028")), "pgn")
    assert read_record(written.text, OTHELLO).players == (name, "x y z")


@pytest.mark.parametrize(
    ("text", "result", "lead"),
    [
        *(("44-20", 1, 24), ("20-44", -1, -24), ("31-33", -1, -2), ("32-32", 0, 0)),
        *(("+2", 1, 2), ("-24", -1, -24), ("0", 0, 0)),
        # Points of the match, not of the board.
        *(("1-0", 1, nan), ("0-1", -1, nan), ("2-0", 1, nan), ("1-1", 0, nan), ("1/2-1/2", 0, nan)),
    ],
)
def test_a_result_says_who_won_and_by_how_much_if_it_is_in_points(text: str, result: int, lead: float) -> None:
    assert read_result_and_lead(text) == (result, pytest.approx(lead, nan_ok=True))


@pytest.mark.parametrize(
    ("result", "returned"), [("1-0", -1), ("0-1", 1), ("2-0", -1), ("1/2-1/2", 0), ("1-1", 0), ("*", None)]
)
def test_white_has_the_first_number_of_a_result_in_draughts_and_the_second_one_in_othello(
    result: str, returned: int | None
) -> None:
    expected = None if returned is None else RecordedResult(returned)
    assert read_record(f'[Result "{result}"]\n\n1. 11-15 22-18 {result}').result == expected
    if returned is not None and result != "2-0":
        assert read_record(f'[Result "{result}"]\n\n1. f5 {result}', OTHELLO).result == RecordedResult(-returned)


def test_a_match_that_both_have_lost_is_no_draw() -> None:
    assert read_record('[Result "0-0"]\n\n1. 11-15 22-18 0-0').result is None


@pytest.mark.parametrize(
    ("name", "moves", "players"),
    [("breakthrough_8x8", "a2a3 b7b6", ("W", "B")), ("connect_four", "4 4", ("W", "B")), ("othello", "f5", ("B", "W"))],
)
def test_white_moves_first_except_where_the_first_player_is_black(
    name: str, moves: str, players: tuple[str, str]
) -> None:
    record = read_record(f'[White "W"]\n[Black "B"]\n[Result "1-0"]\n\n1. {moves} 1-0', make_game(name))
    assert (record.players, record.result) == (players, RecordedResult(1))


@pytest.mark.parametrize(
    "text",
    [
        '[Black "A"] [White "C:\\games\\"]\n[Result "1-0"]\n\n1. f5',
        '[Black "A"] [White "C:\\\\games\\\\"] [Result "1-0"] 1. f5 *',
        '{One}\r\n[Black "A"]\r\n% [Black "B"]\r\n[White "C:\\games\\"]\r\n[Result "44-20"]\r\n\r\n1. f5 1-0\r\n',
    ],
)
def test_tags_are_read_on_one_line_and_behind_comments_and_lines_for_programs(text: str) -> None:
    record = read_record(text, OTHELLO)
    assert (record.players, moves_of(record)) == (("A", "C:\\games\\"), ["f5"])
    assert record.result == RecordedResult(1, "24" if "44" in text else "")


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        ('1. f5 {see\n[Event "x"]\n} d6 1-0', "a comment has no end: {see"),
        ('1. f5 {see d6 1-0\n[Black "B"]\n\n1. f5 {good} d6 0-1', "a comment has no end: {see d6 1-0"),
        ("1. f5 (1. d3 d6 1-0", "a variation has no end"),
        ("1. f5 d6 0-1", "the result is 1-0 in the tag and 0-1 after the moves"),
        ('[Black "B"]\n\n1. f5 d6 1-0', 'tag is not whole, or is there twice: .Black "B"'),
        ("[FEN x]\n\n1. f5 d6 1-0", "tag is not whole, or is there twice: .FEN x"),
        ('[White "Ann\nLee"]\n\n1. f5 d6 1-0', 'tag is not whole, or is there twice: .White "Ann'),
        ("1. f5 } d6 1-0", "'}d' is not a move"),
    ],
)
def test_no_part_of_a_broken_match_is_read_as_a_match(part: str, reason: str) -> None:
    text = f'[Black "A"]\n[Result "1-0"]\n\n{part}\n'
    with pytest.raises(IllegalActionError, match=reason):
        PGN.written(PGN.split(text)[0], OTHELLO)
    assert moves_of(read_records(PGN.split(text + '\n[Black "C"]\n\n1. d3 *')[-1], OTHELLO)[0]) == ["d3"]


def test_tags_with_spaces_around_their_brackets_are_read() -> None:
    text = ' [Black "A"]\n\t[ Result "1-0" ]\n\n1. f5 1-0\n\n [Black "B"]\n\n1. f5 0-1\n'
    records = read_records(text, OTHELLO)
    assert [(record.players[0], record.result) for record in records] == [
        ("A", RecordedResult(1)),
        ("B", RecordedResult(-1)),
    ]


JUMPS = '[SetUp "1"]\n[FEN "W:W26,K10:B22,14,7,15"]\n[GameType "21"]\n\n1. {} *'


@pytest.mark.parametrize(
    ("move", "actions"),
    [("26x17x10x3", None), ("26x17", ["26x17"]), ("26x17 11-15", None)],
)
def test_jumps_of_one_piece(move: str, actions: list[str] | None) -> None:
    """The man goes from 26 over 22 to 17, and from there over 14 to 10, which is taken: 17 is where it stops."""
    if actions is None:
        with pytest.raises(IllegalActionError, match=r"transcript|move \d"):
            read_record(JUMPS.format(move))
    else:
        assert moves_of(read_record(JUMPS.format(move))) == actions


def test_several_jumps_are_one_move_with_or_without_the_squares_between() -> None:
    text = '[FEN "B:W18,26,K32:B15"]\n\n1. {}'
    for move in ("15x31", "15x22x31", "15x22 22x31"):
        record = read_record(text.format(move))
        assert moves_of(record) == ["15x22", "22x31"]
        assert "15x22x31" in written_record(record).text
    ambiguous = '[FEN "B:W6,7,14,15,32:B2"]\n\n1. {}'
    with pytest.raises(IllegalActionError, match="in several ways; write the squares between"):
        read_record(ambiguous.format("2x18"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[GameType "20"]\n\n1. 32-28', "GameType 20 is international draughts; English draughts, 21, can be read"),
        ('[GameType "25,W,8,8,A0,0"]\n\n1. c3-d4', "GameType 25 is Russian draughts"),
        ('[GameType "21"]\n\n1. 11-15 11-15', "move 2, 11-15: not a legal move"),
        ('[GameType "21"]\n\n1. 11-99', "squares have the numbers 1 to 32"),
        ('[FEN "B:W18"]\n\n1. 11-15', "is not a position such as B:W18"),
        ('[FEN "B:W18,K40:B2"]\n\n1. 11-15', "'K40' is not a square from 1 to 32"),
        ('[FEN "B:W18,K2:B2"]\n\n1. 11-15', "two pieces are on 2"),
        ('[FEN "B:W:B2"]\n\n1. 11-15', "white has no pieces"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(IllegalActionError, match=reason):
        read_record(text)


@pytest.mark.parametrize("counts", ["", ".", ":H0:F1", ":H3:F12.", ":F7"])
def test_a_position_of_draughts_is_read_back(counts: str) -> None:
    record = read_record(f'[FEN "W:W18,K27,31-32:B1-3,K16{counts}"]\n\n1. 18-14 *', ending="pdn")
    assert record.match.is_set_up
    assert '[FEN "W:W18,K27,31,32:B1,2,3,K16"]' in written_record(record).text
    assert moves_of(record) == ["18-14"]


def test_matches_agree_with_a_second_reader() -> None:
    draughts = pytest.importorskip("draughts", reason="pydraughts is not installed")
    numbers = random.Random(0)
    jumps = 0
    for _ in range(4):
        board, moves = draughts.Board(variant="english"), list[str]()
        while len(moves) < 70 and (legal := board.legal_moves()):
            move = numbers.choice(legal)
            moves.append(move.pdn_move)
            board.push(move)
        lines = " ".join(f"{number // 2 + 1}. {move}" if number % 2 == 0 else move for number, move in enumerate(moves))
        record = read_record(f'[GameType "21"]\n\n{lines} *', ending="pdn")
        jumps += len(record.match.actions) - len(moves)
        assert sorted_pieces(DRAUGHTS.fen_of(record.match.state)) == sorted_pieces(board.fen)
        assert list(read_record(written_record(record).text).match.actions) == list(record.match.actions)
    assert jumps > 3


def sorted_pieces(fen: str) -> list[list[str]]:
    side, *colours = fen.split(":")
    return [[side], *sorted([colour[0], *sorted(colour[1:].split(","))] for colour in colours)]


@pytest.mark.parametrize(
    ("game", "moves", "ending", "text"),
    [
        (OTHELLO, "f5 d6 c3", "pgn", '[Black "Ann"]\n[White "Bo"]\n[Result "*"]\n\n1. f5 d6 2. c3 *\n'),
        (OTHELLO, "f5 d6 c3", "txt", "f5d6c3\n"),
        (
            OTHELLO,
            "f5 d6 c3",
            "ggf",
            "(;GM[Othello]PC[selfplay]PB[Ann]PW[Bo]RE[?]TY[8]BO[8 -------- -------- -------- ---O*--- ---*O--- "
            "-------- -------- -------- *]B[f5]W[d6]B[c3];)\n",
        ),
        (
            DRAUGHTS,
            "11-15 22-18 15x22",
            "pdn",
            '[Black "Ann"]\n[White "Bo"]\n[Result "*"]\n[GameType "21"]\n\n1. 11-15 22-18 2. 15x22 *\n',
        ),
    ],
    ids=["pgn", "txt", "ggf", "pdn"],
)
def test_a_match_is_written_as_other_programs_write_it(game: Game, moves: str, ending: str, text: str) -> None:
    match = Match(game).play_all([game.string_to_action(move) for move in moves.split()])
    assert written_record(Record(match, ("Ann", "Bo")), ending).text == text


@pytest.mark.parametrize(
    "first", ["{a friendly game} 1. 11-15", "1. 11-15!", "1. 11-15*", "$1 1.11-15", '*\n\n[Event "2"]\n\n1. 11-15']
)
def test_draughts_are_recognised_behind_comments_marks_and_a_match_without_moves(first: str) -> None:
    *_, record = read_records(f'[Result "1-0"]\n\n{first} 23-19*! 1-0\n')
    assert (record.game.name, moves_of(record), record.result) == ("draughts", ["11-15", "23-19"], RecordedResult(-1))


def test_comments_are_written_behind_their_moves() -> None:
    match = Match(OTHELLO).play_all(["f5", "d6", "c3"])
    text = written_record(Record(match, comments={0: "the start", 1: "x{y}\nz", 3: "end"}), "pgn").text
    assert text.endswith("\n\n{the start} 1. f5 {x(y) z} d6 2. c3 {end} *\n")
    assert moves_of(read_record(text, OTHELLO)) == ["f5", "d6", "c3"]
    passed = Match(OTHELLO_4).play_all(["d3", "d4", "a2", "d2", "c4", "a3", "b4", "a4", "pass"])
    comments = {8: "before", 9: "passed"}
    text = written_record(Record(passed, comments=comments), "pgn").text
    assert text.endswith(" a4 {before} {passed} *\n")
    text = written_record(Record(passed.play("d1"), comments=comments | {10: "after"}), "pgn").text
    assert text.endswith(" a4 {before} {passed} 5. d1 {after} *\n")
    jumps = Match(DRAUGHTS, DRAUGHTS.read_fen("B:W18,26,K32:B15")).play_all(["15x22", "22x31"])
    text = written_record(Record(jumps, comments={1: "one", 2: "two"}), "pdn").text
    assert text.endswith("\n\n1. 15x22x31 {one} {two} *\n")
