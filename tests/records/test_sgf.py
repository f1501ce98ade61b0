"""Matches in the Smart Game Format: as other programs write them, and written and read back."""

import pytest
import torch

from selfplay.errors import IllegalActionError, SettingError
from selfplay.games import make_game
from selfplay.records import Record, Result, read_record, read_record_file, read_record_of, read_records, written_record
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.matches import MatchSettings
from selfplay.stages.match_series import play_match_series

OTHERS = r"""(;GM[1]FF[4]CA[UTF-8]AP[Sabaki:0.52.2]KM[0.5]SZ[9]DT[2026-01-02]
PB[a\]b]PW[w]HA[2]AB[cg][gc]RE[W+R]C[root
note];W[ee]C[good];B[ef](;B[ff];W[tt])(;W[de]))"""


def test_a_match_of_another_program_is_read_with_komi_handicap_passes_comments_and_its_main_line():
    record = read_record(OTHERS)
    assert (record.game.name, record.players) == ("go_komi=0.5", ("a]b", "w"))
    assert record.result == Result(-1, "R")
    assert record.comments == {0: "root\nnote", 1: "good"}
    # Black moves twice in a row, so white has passed between the two.
    assert [record.game.action_to_string(action) for action in record.actions] == ["E5", "E4", "pass", "F4", "pass"]
    stones = record.game.squares(record.states()[-1])[0].nonzero()[:, 0].tolist()
    assert [record.game.action_to_string(square) for square in stones] == ["G7", "E5", "E4", "F4", "C3"]


@pytest.mark.parametrize(
    "name", ["go", "go_5x5_komi=-3.5", "gomoku", "gomoku_15x15", "gomoku_exact=1", "hex", "hex_11x11_swap=1"]
)
def test_written_matches_are_read_back(name):
    game = make_game(name)
    actions = game.read_transcript(game.presentation.example)
    comments = {0: "the start", 2: "[0.25] a\\b:c]"}
    written = written_record(Record(game, actions, players=("level 3", "a]b"), comments=comments))
    assert written.ending == ".sgf"
    record = read_record(written.text)
    assert (record.game.name, list(record.actions), record.start) == (name, actions, None)
    assert (record.players, record.comments) == (("level 3", "a]b"), comments)
    over = bool(record.states()[-1].terminated)
    assert record.result == (Result(1) if over else None)
    assert read_record(written.text, game).game is game
    # The text names its board, so the game that is at hand changes nothing.
    assert read_record(written.text, make_game("othello")).game.name == name
    with pytest.raises(IllegalActionError, match=f"a match of {name}, not of go_3x3"):
        read_record_of(make_game("go_3x3"), written.text)


def test_a_handicap_and_a_position_that_was_set_up_are_read_back():
    game = make_game("go_7x7")
    squares = torch.zeros(49, dtype=torch.int8)
    squares[[8, 40]] = 1
    record = Record(game, [24], game.set_up(squares.tolist(), 1))
    text = written_record(record).text
    assert "AB[bb][ff]" in text
    assert "HA[2]" in text
    assert torch.equal(read_record(text).states()[-1].position, record.states()[-1].position)
    hex_game = make_game("hex_3x3")
    start = hex_game.set_up([1, -1, 0, 0, 0, 0, 0, 0, 0], 0)
    assert torch.equal(read_record(written_record(Record(hex_game, [8], start)).text).start.position, start.position)


def test_a_start_that_the_text_does_not_say_counts_with_its_komi():
    game = make_game("go_5x5")
    start = game.set_up([1] + [0] * 24, 1)
    states = read_record("(;FF[4]GM[1]SZ[5]KM[0.5];W[];B[])", game, start).states()
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
    ],
)
def test_variants_of_other_programs(text, name, moves):
    record = read_records(text, make_game("gomoku" if name == "gomoku" else "go"))[0]
    assert record.game.name == name
    assert [record.game.action_to_string(action) for action in record.actions] == moves


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("(;GM[1]SZ[9];B[zz])", r"move 1, B\[zz\]: 'zz' is not a point of a board of 9x9"),
        ("(;GM[1]SZ[9];B[aa];W[aa])", r"move 2, W\[aa\]: "),
        ("(;GM[11]SZ[11];B[a1];B[a2])", r"move 2, B\[a2\]: it is the other colour's turn"),
        ("(;GM[11]SZ[11];B[a1];W[a2];B[swap-pieces])", r"move 3, B\[swap-pieces\]: "),
        ("(;GM[1]SZ[9];B[aa];AW[bb])", "node 2 sets up stones"),
        ("(;GM[1]SZ[9]KM[x];B[aa])", "cannot be played here"),
        ("(;GM[1]SZ[9]KM[0.3];B[aa])", "multiple of 0.5"),
        ("(;GM[1]SZ[25];B[aa])", "size=25"),
        ("(;GM[1]SZ[a];B[aa])", "not a match in SGF"),
        ("(;GM[2]SZ[8];B[aa])", r"GM\[2\]: matches of 1 \(go\), 4 \(gomoku\), 11 \(hex\) can be read"),
        ("(;GM[1]SZ[9];B[aa]", "not a match in SGF"),
        ("(;GM[1]SZ[9])(;GM[1]SZ[9])", "2 matches"),
    ],
)
def test_a_broken_match_is_refused_with_its_reason(text, reason):
    with pytest.raises((IllegalActionError, SettingError), match=reason):
        read_record(text)


def test_a_file_in_another_charset_is_read(tmp_path):
    path = tmp_path / "match.sgf"
    path.write_bytes("(;GM[1]SZ[5]PB[Jos\u00e9];B[aa])".encode("latin-1"))
    assert read_record_file(path).players[0] == "Jos\u00e9"


def test_a_series_of_matches_writes_them_with_names_in_their_seats_and_results(tmp_path):
    overrides = ["game=go_3x3", "first=tests.support.stub_players:FirstLegal", "second=random", "matches=2"]
    play_match_series(compose_settings_of(MatchSettings, "matches", [*overrides, f"sgf={tmp_path / 'out'}"]))
    one, other = (read_record_file(tmp_path / "out" / f"match_00000{number}.sgf") for number in (1, 2))
    assert one.players == other.players[::-1] == ("first legal", "random")
    assert bool(one.states()[-1].terminated)
    assert one.result.returned == int(one.states()[-1].returns)
    with pytest.raises(SettingError, match="sgf: matches of othello can only be written as pgn, txt, ggf"):
        play_match_series(compose_settings_of(MatchSettings, "matches", ["game=othello", f"sgf={tmp_path}"]))
