"""Matches in the Smart Game Format: as other programs write them, and written and read back."""

import re

import pytest
import torch

from selfplay.errors import IllegalActionError, SettingError
from selfplay.games import make_game
from selfplay.games.match import Match
from selfplay.records import (
    Record,
    RecordedResult,
    read_record,
    read_record_file,
    read_record_of,
    read_records,
    written_record,
)
from selfplay.records.sgf import SGF
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.matches import MatchSettings
from selfplay.stages.play_matches import play_match_series

OTHERS = r"""(;GM[1]FF[4]CA[UTF-8]AP[Sabaki:0.52.2]KM[0.5]SZ[9]DT[2026-01-02]
PB[a\]b]PW[w]HA[2]AB[cg][gc]RE[W+R]C[root
note];W[ee]C[good];B[ef](;W[ff];B[tt])(;W[de]))"""


def test_a_match_of_another_program_is_read_with_komi_handicap_passes_comments_and_its_main_line():
    record = read_record(OTHERS)
    assert (record.game.name, record.players) == ("go_komi=0.5", ("a]b", "w"))
    assert record.result == RecordedResult(-1, "R")
    assert record.comments == {0: "root\nnote", 1: "good"}
    assert [record.game.action_to_string(action) for action in record.match.actions] == ["E5", "E4", "F4", "pass"]
    stones = record.game.squares(record.match.state)[0].nonzero()[:, 0].tolist()
    assert [record.game.action_to_string(square) for square in stones] == ["G7", "E5", "E4", "F4", "C3"]


@pytest.mark.parametrize(
    "name", ["go", "go_5x5_komi=-3.5", "gomoku", "gomoku_15x15", "gomoku_exact=1", "hex", "hex_11x11_swap=1"]
)
def test_written_matches_are_read_back(name):
    game = make_game(name)
    actions = game.read_transcript(game.presentation.example)
    comments = {0: "the start", 2: "[0.25] a\\b:c]"}
    written = written_record(Record(Match(game).play_all(actions), ("level 3", "a]b"), comments=comments))
    assert written.ending == ".sgf"
    record = read_record(written.text)
    assert (record.game.name, list(record.match.actions), record.match.is_set_up) == (name, actions, False)
    assert (record.players, record.comments) == (("level 3", "a]b"), comments)
    over = bool(record.match.state.terminated)
    assert record.result == (RecordedResult(1) if over else None)
    assert read_record(written.text, game).game is game
    # The text names its board, so the game that is at hand changes nothing.
    assert read_record(written.text, make_game("othello")).game.name == name
    with pytest.raises(IllegalActionError, match=f"a match of {name}, not of go_3x3"):
        read_record_of(make_game("go_3x3"), written.text)


def test_a_handicap_and_a_position_that_was_set_up_are_read_back():
    game = make_game("go_7x7")
    squares = torch.zeros(49, dtype=torch.int8)
    squares[[8, 40]] = 1
    record = Record(Match(game, game.set_up(squares.tolist(), 1)).play(24))
    text = written_record(record).text
    assert "AB[bb][ff]" in text
    assert "HA[2]" in text
    assert torch.equal(read_record(text).match.state.position, record.match.state.position)
    hex_game = make_game("hex_3x3")
    start = hex_game.set_up([1, -1, 0, 0, 0, 0, 0, 0, 0], 0)
    assert torch.equal(
        read_record(written_record(Record(Match(hex_game, start).play(8))).text).match.start.position, start.position
    )


def test_a_start_that_the_text_does_not_say_counts_with_its_komi():
    game = make_game("go_5x5")
    start = game.set_up([1] + [0] * 24, 1)
    states = read_record("(;FF[4]GM[1]SZ[5]KM[0.5];W[];B[])", game, start).match.states
    assert [float(game.score(states[-1])), int(states[0].current_player)] == [24.5, 1]


@pytest.mark.parametrize(
    ("text", "name", "moves"),
    [
        # Hex as HexGui writes it, and with two letters; rectangles of stones; a game that only the caller knows.
        ("(;FF[4]GM[11]SZ[11];B[b10];W[K1];B[resign])", "hex_11x11", ["b10", "k1"]),
        ("(;FF[4]GM[11]SZ[11];B[bj];W[ka])", "hex_11x11", ["b10", "k1"]),
        # As HexWorld and Little Golem write that the first stone is swapped.
        ("(;FF[4]GM[11]SZ[11];B[c1];W[swap-pieces];B[a1])", "hex_11x11_swap=1", ["c1", "swap-pieces", "a1"]),
        ("(;FF[4]GM[11]SZ[11];B[c1];W[swap];B[a1])", "hex_11x11_swap=1", ["c1", "swap-pieces", "a1"]),
        ("(;SZ[5]AB[aa:ba]PL[B];B[ca])", "go_5x5", ["C5"]),
        ("(;SZ[9];B[ca])", "gomoku", ["c9"]),
        ("(;GM[1]SZ[5];B[ca])(;GM[1]SZ[5];B[cb])", "go_5x5", ["C5"]),
        ("(;GM[1]SZ[5]PL[W];W[ca])", "go_5x5", ["C5"]),
        # The first move says who is to move; a node can have the moves of both; empty lists of stones; other spellings.
        ("(;GM[1]SZ[5]PL[2]AB[];W[ca];B[ ])", "go_5x5", ["C5", "pass"]),
        ("(;GM[1]SZ[5:5];B[ca]W[da];B[ea])", "go_5x5", ["C5", "D5", "E5"]),
        ("Date: today [mail (x)\n\n(;GM[1]SZ[5];B[ca])) bye", "go_5x5", ["C5"]),
        # Boards that need not be said.
        ("(;GM[2];B[dc];W[cc])", "othello", ["d3", "c3"]),
        ("(;GM[2]SZ[8];B[D3];W[c3])", "othello", ["d3", "c3"]),
        ("(;GM[1];B[aa])", "go_19x19", ["A19"]),
    ],
)
def test_variants_of_other_programs(text, name, moves):
    record = read_records(text, make_game("gomoku" if name == "gomoku" else "go"))[0]
    assert record.game.name == name
    assert [record.game.action_to_string(action) for action in record.match.actions] == moves


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("(;GM[1]SZ[9];B[zz])", r"move 1, B\[zz\]: 'zz' is not a point of a board of 9x9"),
        ("(;GM[1]SZ[9];B[aa];W[aa])", r"move 2, W\[aa\]: "),
        ("(;GM[11]SZ[11];B[a1];B[a2])", r"move 2, B\[a2\]: it is white's turn"),
        ("(;GM[11]SZ[11];B[a1];W[a2];B[swap-pieces])", r"move 3, B\[swap-pieces\]: "),
        ("(;GM[1]SZ[9];B[aa];AW[bb])", "node 2 sets up stones"),
        ("(;GM[1]SZ[9]KM[x];B[aa])", r"KM\[x\]: not a komi"),
        # None of them is the number with which it begins.
        *(
            (f"(;GM[1]SZ[9]KM[{text}];B[aa])", rf"KM\[{re.escape(text)}\]: not a komi")
            for text in ("1e1", "1e-5", "0x10", "6;5", "6.5.5", "6-5", "6\u00bd", "3\u53c83/4\u5b50")
        ),
        ("(;GM[1]SZ[9]KM[0.3];B[aa])", "multiple of 0.5"),
        # Only a komi as small as 3.75 can be in stones.
        ("(;GM[1]SZ[9]KM[7.25];B[aa])", "komi=7.25: must be a multiple of 0.5"),
        # White moves first, but not the first one in its seat.
        ("(;GM[4]SZ[9];W[aa];W[bb])", r"move 2, W\[bb\]: it is black's turn"),
        ("(;GM[2]SZ[8];W[dc])", "the four squares in the centre"),
        ("(;GM[1]SZ[25];B[aa])", "size=25"),
        ("(;GM[1]SZ[a];B[aa])", r"SZ\[a\]: only square boards"),
        ("(;GM[1]SZ[19:13];B[aa])", r"SZ\[19:13\]: only square boards"),
        ("(;GM[3]SZ[8];B[aa])", r"GM\[3\]: matches of 1 \(go\), 2 \(othello\), 4 \(gomoku\), 11 \(hex\) can"),
        ("(;GM[1]SZ[9];B", "not a match in SGF"),
        ("(;GM[1]SZ[9]RE[B+R];B[aa])\n;W[bb];B[cc])", "not a match in SGF"),
        # No pass is put in where a colour moves twice, and no handicap stones are invented.
        ("(;GM[1]SZ[9];B[aa];B[bb])", r"move 2, B\[bb\]: it is white's turn"),
        ("(;GM[1]SZ[9];B[aa][bb])", "node 1 has 2 moves of B"),
        ("(;GM[1]SZ[9]HA[7];W[aa])", r"HA\[7\], but the match does not say where these stones are"),
        ("(;GM[1]SZ[9])(;GM[1]SZ[9])", "2 matches"),
        # Programs take other boards if the text names none.
        ("(;GM[4];B[hh])", "SZ, the size of the board, is missing; choose the game of gomoku on that board"),
        ("(;GM[11];B[a1])", "SZ, the size of the board, is missing; choose the game of hex"),
        # Rows from the top or from the bottom, with a column I or without one.
        ("(;GM[1]SZ[19];B[d4])", r"move 1, B\[d4\]: 'd4' is not a point"),
        ("(;GM[4]SZ[15];B[h9])", r"move 1, B\[h9\]: 'h9' is not a point"),
        ("(;GM[1]SZ[9]RE[B+R]RE[W+R];B[aa])", r"RE has several values, B\+R, W\+R"),
    ],
)
def test_a_broken_match_is_refused_with_its_reason(text, reason):
    with pytest.raises((IllegalActionError, SettingError), match=reason):
        read_record(text)


def test_what_is_said_of_a_match_may_stand_in_any_node_of_its_main_line():
    record = read_record("(;GM[1]SZ[5];PB[Ann]KM[5.5]C[one]C[two];B[aa];W[bb]RE[B+R])")
    assert (record.game.name, record.players[0]) == ("go_5x5_komi=5.5", "Ann")
    assert (record.result, record.comments) == (RecordedResult(1, "R"), {0: "one\ntwo"})


@pytest.mark.parametrize("corners", ["aa:bc", "bc:aa", "ba:ac", "ac:ba"])
def test_a_rectangle_of_stones_has_any_two_corners(corners):
    record = read_record(f"(;GM[1]SZ[5]AB[{corners}];W[ee])")
    assert record.game.squares(record.match.start)[0].nonzero()[:, 0].tolist() == [0, 1, 5, 6, 10, 11]


def test_the_part_before_a_move_that_cannot_be_played_is_kept_where_this_is_asked_for():
    text = "(;GM[1]SZ[9]PB[Ann]RE[W+R];B[aa](;W[bb]C[good];B[zz];W[cc])(;W[cc];B[dd](;W[ee])(;W[ff])))"
    record = read_record(text, may_break=True)
    assert (record.match.actions, record.players, record.comments) == ((0, 10), ("Ann", ""), {2: "good"})
    assert (record.result, record.variations) == (RecordedResult(-1, "R"), 2)
    assert record.broken == "move 3, B[zz]: 'zz' is not a point of a board of 9x9"
    for game, moves, count, reason in (
        ("othello", "f5d6a1c3", 2, "transcript, disc 3: action a1 is not legal here"),
        ("connect_four", "4439", 3, "'9' is not a move"),
        ("draughts", "11-15 22-18 9-14", 2, "move 3, 9-14: "),
    ):
        kept = read_record(moves, make_game(game), may_break=True)
        assert (len(kept.match.actions), kept.broken[: len(reason)]) == (count, reason)
        with pytest.raises(IllegalActionError, match=reason):
            read_record(moves, make_game(game))


@pytest.mark.parametrize(
    ("text", "stones", "moves"),
    [
        ("(;GM[1]SZ[9]AB[dd];B[gg];W[cc])", ["D6"], ["G3", "C7"]),
        ("(;GM[1]SZ[9]HA[2];AB[cc][gg];W[ee])", ["C7", "G3"], ["E5"]),
        ("(;GM[1]SZ[9]HA[2]AB[cc:dc];AE[dc]AB[gg]PL[W];C[begin];W[ee])", ["C7", "G3"], ["E5"]),
        # Handicap stones as moves.
        ("(;GM[1]SZ[9]HA[2];B[cc];B[gg];W[ee])", ["C7", "G3"], ["E5"]),
    ],
)
def test_stones_are_set_up_before_the_first_move_and_no_pass_is_put_in(text, stones, moves):
    record = read_record(text)
    on_board = record.game.squares(record.match.start)[0].nonzero()[:, 0].tolist()
    assert [record.game.action_to_string(square) for square in on_board] == stones
    assert [record.game.action_to_string(action) for action in record.match.actions] == moves


@pytest.mark.parametrize(
    ("properties", "komi"),
    [
        ("KM[375]", 7.5),
        ("KM[3.75]", 7.5),
        ("KM[650]", 6.5),
        ("KM[6,5]", 6.5),
        ("KM[6.5\u76ee]", 6.5),
        ("KM[50]AP[foxwq]", 0.5),
        ("KM[0]AP[foxwq]", 0),
        ("KM[-]", 7),
        ("", 7),
        ("KM[-5.5]", -5.5),
        ("KM[.5]", 0.5),
        ("KM[6.5 points]", 6.5),
        ("KM[6.5pts.]", 6.5),
        ("KM[6.5 (Chinese)]", 6.5),
        ("KM[6\u76ee\u534a]", 6.5),
        ("KM[6\uc9d1\ubc18]", 6.5),
    ],
)
def test_the_komi_as_programs_write_it(properties, komi):
    assert read_record(f"(;GM[1]SZ[9]{properties};B[aa])").game.komi == komi


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("B+3.5", RecordedResult(1, "3.5")),
        ("W+Resign", RecordedResult(-1, "R")),
        ("B+T", RecordedResult(1, "T")),
        ("W+F", RecordedResult(-1, "F")),
        ("b+", RecordedResult(1)),
        ("W", RecordedResult(-1)),
        ("B+3,5", RecordedResult(1, "3.5")),
        ("W+.5", RecordedResult(-1, "0.5")),
        ("W+0.5(251)", RecordedResult(-1, "0.5")),
        *((f"B+{text}", RecordedResult(1)) for text in ("1e1", "0x10", "3.5.5", ".5.5", "6;5", "6\u00bd", "6 1/2")),
        ("Jigo", RecordedResult(0)),
        ("0", RecordedResult(0)),
        ("Black wins by resignation", RecordedResult(1, "R")),
        ("White won by 12 points", RecordedResult(-1, "12")),
        ("white wins on time", RecordedResult(-1, "T")),
        ("Black resigned, White wins", RecordedResult(-1, "R")),
        ("Black lost on time. White won.", RecordedResult(-1, "T")),
        ("White wins against Bob", RecordedResult(-1)),
        ("\u9ed1\u8d85\u65f6\uff0c\u767d\u80dc", RecordedResult(-1, "T")),
        ("\u767d\u8d1f \u9ed1\u80dc", RecordedResult(1)),
        ("\u9ed1\u4e2d\u76d8\u80dc", RecordedResult(1, "R")),
        ("\u767d\u80dc3/4\u5b50", RecordedResult(-1)),
        ("\u9ed23\u76ee\u534a\u52dd\u3061", RecordedResult(1, "3.5")),
        ("\u767d\u534a\u76ee\u52dd", RecordedResult(-1, "0.5")),
        ("\ud751\ubd88\uacc4\uc2b9", RecordedResult(1, "R")),
        ("\ubc31 3\uc9d1\ubc18\uc2b9", RecordedResult(-1, "3.5")),
        ("\ubc31 3\uc9d1 \ubc18\uc2b9", RecordedResult(-1, "3.5")),
        ("\ubc31 \ubc18\uc9d1\uc2b9", RecordedResult(-1, "0.5")),
        ("\ud751 2\uc9d1\uc2b9", RecordedResult(1, "2")),
        ("\ud751 \uc2dc\uac04\uc2b9", RecordedResult(1, "T")),
        ("\ud751 \ubd88\uacc4\ud328", RecordedResult(-1, "R")),
        ("White resigns", RecordedResult(1, "R")),
        ("Black lost on time", RecordedResult(-1, "T")),
        ("White loses by 3.5", RecordedResult(1, "3.5")),
        ("\u767d\u8ca0\u3051", RecordedResult(1)),
        ("Black and White lost", None),
        *((text, RecordedResult(0)) for text in ("Drawn", "\u5f15\u304d\u5206\u3051", "\u548c\u5c40")),
        ("\ubb34\uc2b9\ubd80", RecordedResult(0)),
        ("\ud751\ubc31 \ubb34\uc2b9\ubd80", None),
        ("Void", None),
        ("?", None),
        ("Both lose", None),
    ],
)
def test_the_result_as_programs_write_it(text, result):
    assert read_record(f"(;GM[1]SZ[9]RE[{text}];B[aa])").result == result


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("(;GM[1]SZ[9];B[aa]))(;GM[1]SZ[9];B[bb]))", ["A9", "B8"]),
        ("(;GM[1]SZ[9];B[aa](;GM[1]SZ[9];B[bb])", ["A9", "B8"]),
        ("(;GM[1]SZ[9];B[aa];C[cut off (;GM[1]SZ[9];B[bb])", ["A9", "B8"]),
        ("(;GM[1]SZ[9];B[aa](;W[bb](;FF[4]GM[1]SZ[9];B[bb]", ["A9", "B8"]),
        (r"(;GM[1]SZ[9]C[a pasted (;GM[1\];B[cc\])];B[aa])(;GM[1]SZ[9];B[bb]C[end\]", ["A9", "B8"]),
    ],
)
def test_a_bracket_too_few_or_too_many_harms_no_other_match(text, moves):
    records = read_records(text)
    assert [record.game.action_to_string(record.match.actions[0]) for record in records] == moves
    assert len(SGF.split(text)) == len(moves)


NAMES = {
    # The second byte of some of these characters is a backslash.
    "cp932": "\u80fd\u4ee3\u3001\u30bd\u30d5\u30c8\u3001\u8868\u793a\u3001\u9ed2\u756a",
    "cp950": "\u8a31\u529f\u84cb\u3001\u9ed1\u52dd\u3001\u540d\u4eba\u6230\u3001\u4e2d\u83ef\u6c11\u570b",
    "gb18030": "\u674e\u4e16\u77f3\u3001\u53e4\u529b\u3001\u4e2d\u56fd\u56f4\u68cb\u8054\u8d5b",
    "euc_kr": "\uc774\ucc3d\ud638 \uc870\ud6c8\ud604 \ubc14\ub451",
    "iso2022_jp": "\u672c\u56e0\u574a",
    "latin-1": "Jos\u00e9",
    "utf-16": "\u672c\u56e0\u574a",
}


@pytest.mark.parametrize(("charset", "name"), NAMES.items())
@pytest.mark.parametrize("said", [True, False])
def test_a_file_in_another_charset_is_read(tmp_path, charset, name, said):
    path = tmp_path / "match.sgf"
    named = f"CA[{charset}]" if said else ""
    path.write_bytes(f"(;GM[1]{named}SZ[5]PB[{name}];B[aa]C[{name}];W[bb])".encode(charset))
    record = read_record_file(path)
    assert (record.players[0], len(record.match.actions), record.comments[1]) == (name, 2, name)


@pytest.mark.parametrize("header", ["EV[LG杯决赛]PB[聂卫平]PW[古力]", "EV[弈城围棋]PB[曹薰铉]PW[党毅飞]"])
def test_the_result_of_a_chinese_file_that_names_no_charset_is_read(tmp_path, header):
    path = tmp_path / "match.sgf"
    path.write_bytes(f"(;GM[1]SZ[9]{header}BR[九段]WR[九段]RE[黑中盘胜]PC[北京];B[aa])".encode("gb18030"))
    assert read_record_file(path).result == RecordedResult(1, "R")


def test_a_file_that_names_a_wrong_or_a_dangerous_charset_is_read(tmp_path):
    path = tmp_path / "match.sgf"
    # Decoded as UTF-8, the second byte of each character would hide the end of the value and the move after it.
    path.write_bytes("(;GM[1]SZ[9]CA[UTF-8]PB[表十能];B[ee];W[cc])".encode("cp932"))
    assert len(read_record_file(path).match.actions) == 2
    # A byte that is broken leaves the rest as it is said to be.
    for name in (NAMES["gb18030"], "M\u00fcller"):
        path.write_bytes(f"(;GM[1]SZ[9]CA[UTF-8]PB[{name}];B[ee]C[".encode() + b"\xff];W[cc])")
        assert read_record_file(path).players[0] == name
    for charset in ("GB2312", "punycode", "none"):
        path.write_bytes(f"(;GM[1]CA[{charset}]SZ[5]PB[Jos\u00e9];B[aa])".encode())
        assert read_record_file(path).players[0] == "Jos\u00e9"


def test_whatever_a_reader_does_not_expect_is_an_error_of_one_line(monkeypatch):
    monkeypatch.setattr(SGF, "read", lambda *_: [][0])
    with pytest.raises(IllegalActionError, match="cannot be read: IndexError: list index out of range"):
        read_record("(;GM[1]SZ[9];B[aa])")


def test_a_series_of_matches_writes_them_with_names_in_their_seats_and_results(tmp_path):
    overrides = ["game=go_3x3", "first=tests.support.stub_players:FirstLegal", "second=random", "matches=2"]
    play_match_series(compose_settings_of(MatchSettings, "matches", [*overrides, f"sgf={tmp_path / 'out'}"]))
    one, other = (read_record_file(tmp_path / "out" / f"match_00000{number}.sgf") for number in (1, 2))
    assert one.players == other.players[::-1] == ("first legal", "random")
    assert bool(one.match.state.terminated)
    assert one.result.returned == int(one.match.state.returns)


def test_a_series_of_a_game_without_sgf_writes_the_format_of_other_programs(tmp_path):
    play_match_series(
        compose_settings_of(MatchSettings, "matches", ["game=breakthrough", "matches=1", f"sgf={tmp_path}"])
    )
    assert (tmp_path / "match_000001.txt").read_text().strip()


def test_matches_of_othello_are_read_with_passes_that_are_left_out_and_written_back():
    game = make_game("othello_4x4")
    moves = [
        game.string_to_action(move)
        for move in ("d3", "d4", "a2", "d2", "c4", "a3", "b4", "a4", "pass", "d1", "pass", "a1")
    ]
    written = written_record(Record(Match(game).play_all(moves)), "sgf").text
    assert "GM[2]" in written
    for text in (written, written.replace("B[]", "").replace("W[]", "")):
        record = read_record(text)
        assert (record.game.name, list(record.match.actions)) == ("othello_4x4", moves)
        assert record.result == RecordedResult(-1, "16")
    assert written_record(Record(Match(game).play_all(moves))).ending == ".ggf"


def test_where_white_makes_the_first_move_in_hex_and_gomoku_it_is_the_first_player():
    # As Little Golem writes matches of Hex.
    text = "(;FF[4]PB[Ann]PW[Bob]SZ[13]RE[B]SO[a server];W[ma];B[swap];W[jd];B[ej]C[good];W[resign])"
    record = read_record(text, make_game("hex"))
    moves = [record.game.action_to_string(action) for action in record.match.actions]
    assert (record.game.name, moves) == ("hex_13x13_swap=1", ["m1", "swap-pieces", "j4", "e10"])
    assert (record.players, record.result, record.comments) == (("Bob", "Ann"), RecordedResult(-1), {4: "good"})
    assert read_record(text).match == record.match  # only in Hex can the first stone be swapped
    record = read_record("(;GM[4]SZ[15]RE[W+];W[hh];B[ii])")
    assert (record.match.actions, record.result) == ((112, 128), RecordedResult(1))
    # In a position in which white is to move it is not.
    game = make_game("gomoku")
    start = game.set_up([0, 1] + [0] * 79, 1)
    assert read_record("(;GM[4]SZ[9];W[aa];B[bb])", game, start).match.actions == (0, 10)
    assert list(SGF.written("(;GM[4]SZ[15]RE[W+];W[hh];B[ii])", make_game("gomoku_15x15")).seats) == [0, 1]


def test_the_rules_decide_a_match_that_they_end_except_in_go():
    for text, result in (
        ("(;GM[4]SZ[5]RE[W+];B[aa];W[ab];B[ba];W[bb];B[ca];W[cb];B[da];W[db];B[ea])", RecordedResult(1)),
        ("(;GM[1]SZ[3]KM[0.5]RE[W+2];B[bb];W[];B[])", RecordedResult(-1, "2")),
    ):
        assert read_record(text).result == result
