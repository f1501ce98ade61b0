"""Positions that are set up by hand, and lines that have won."""

import pytest
import torch

from selfplay.errors import IllegalActionError, SettingError
from selfplay.games import make_game
from selfplay.games.match import Match
from selfplay.games.othello_records import is_ggf
from selfplay.records import record_of, written_record
from tests.support.pile import Pile

SIGNS = {"X": 1, "O": -1, ".": 0}


def squares(board: str) -> list[int]:
    return [SIGNS[sign] for sign in board.replace("/", "")]


ACCEPTED = [
    ("tictactoe", "X../.O./...", 0),
    ("tictactoe", "X../.O./X..", 1),
    ("connect_four", 5 * "......./" + "...XO..", 0),
    ("othello_4x4", "..../.OX./.XXX/....", 1),
    # The player to move can only pass.
    ("othello_4x4", "..../.XX./.XX./..XO", 0),
]


@pytest.mark.parametrize(("name", "board", "to_move"), ACCEPTED)
def test_a_board_that_can_arise_is_set_up(name: str, board: str, to_move: int) -> None:
    game = make_game(name)
    state = game.set_up(squares(board), to_move)
    assert game.squares(state)[0].tolist() == squares(board)
    assert int(state.current_player) == to_move
    assert bool(game.legal_action_mask(state).any())


REFUSED = [
    ("tictactoe", "XX./.../...", 0, "X moves first, so it must have as many stones as O, or one more"),
    ("tictactoe", "X../.../...", 0, "with these stones it is the turn of O"),
    ("connect_four", 4 * "......./" + "X....../" + ".......", 1, "the stone in column 1, row 5 has no stone below it"),
    ("connect_four", 4 * "......./" + "OOO..../" + "XXXX...", 1, "a line has ended the match"),
    ("othello_4x4", "..../.OX./.X../....", 0, "the four squares in the centre are never empty"),
    ("othello", "X" + 26 * "." + "OX" + 6 * "." + "XO" + 27 * ".", 0, "every disc must be connected to the centre"),
]


@pytest.mark.parametrize(("name", "board", "to_move", "reason"), REFUSED)
def test_a_board_that_cannot_arise_is_refused_with_the_reason(name: str, board: str, to_move: int, reason: str) -> None:
    with pytest.raises(IllegalActionError, match=reason):
        make_game(name).set_up(squares(board), to_move)


def test_positions_without_a_board_cannot_be_set_up() -> None:
    assert not Pile().can_be_set_up
    assert make_game("othello").can_be_set_up
    with pytest.raises(SettingError, match="cannot be set up"):
        make_game("sumto100").set_up([], 0)


@pytest.mark.parametrize(
    ("name", "moves"),
    [
        ("tictactoe", "0,0 0,1 1,1 0,2 2,2"),
        ("othello", "e6 f4 e3 f6 g5 d6 e7 f5 c5"),
    ],
)
def test_moves_after_the_end_of_a_match_are_refused(name: str, moves: str) -> None:
    game = make_game(name)
    assert bool(game.position_after(moves).terminated)
    for transcript in (f"{moves} {moves.split()[1]}", moves + " " + moves):
        with pytest.raises(IllegalActionError, match="the match is over"):
            game.position_after(transcript)
        with pytest.raises(IllegalActionError, match="the match is over"):
            game.state_after(transcript.split())


def test_a_transcript_begins_in_the_given_position() -> None:
    game = make_game("othello_4x4")
    start = game.set_up(squares("..../.XX./.XX./..XO"), 0)
    passed = game.read_transcript("a1", start)
    assert passed[0] == game.pass_action


def test_a_match_of_othello_is_written_and_read_as_ggf() -> None:
    game = make_game("othello")
    actions = game.read_transcript("f5d6c3d3c4")
    made = written_record(record_of(Match(game).play_all(actions), ("you [1]", "level 3")))
    assert made.ending == ".ggf"
    assert "PB[you [1)]PW[level 3]RE[?]TY[8]BO[8 -------- -------- --------" in made.text
    assert made.text.endswith("*]B[f5]W[d6]B[c3]W[d3]B[c4];)\n")
    assert is_ggf(made.text)
    assert game.read_transcript(made.text) == actions
    # Other programs write more tags, and values and times after the moves.
    written = made.text.replace("B[f5]", "RB[1700]\nb[F5/1.5/2.1]").replace("TY[8]", "TY[s8r20]")
    assert game.read_transcript(written) == actions


def test_a_match_from_a_position_that_was_set_up_is_read_back() -> None:
    game = make_game("othello_4x4")
    start = game.set_up(squares("..../.XX./.XX./..XO"), 1)
    match = Match(game, start)
    match = match.play(match.legal_actions()[0])
    text = written_record(record_of(match, ("you", "random"))).text
    assert torch.equal(game.start_of_transcript(text).position, start.position)
    assert all(map(torch.equal, game.position_after(text)[:3], match.state[:3]))
    with pytest.raises(IllegalActionError, match="the transcript begins in another position"):
        game.read_transcript(text)


GGF = "(;GM[Othello]TY[8]BO[8 -------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *]B[f5]W[d6];)"


@pytest.mark.parametrize(
    ("written", "instead", "reason"),
    [
        ("GM[Othello]", "GM[Chess]", r"^GM\[Chess\]: not a match of Othello$"),
        ("TY[8]", "TY[10]", r"^TY\[10\]: not a match of Othello on 8x8 squares$"),
        ("TY[8]", "TY[8a]", r"^TY\[8a\]: not a match of Othello"),
        ("TY[8]", "TY[s8kr20]", r"^TY\[s8kr20\]: not a match of Othello"),
        ("W[d6]", "B[d6]", "^transcript, disc 2: d6 is not the move of black$"),
        ("W[d6];)", "W[d6", r"^a match in GGF ends with ;\)"),
        (GGF, "(;GM[Othello]TY[8]B[f5];)", "^a match in GGF needs the board"),
    ],
)
def test_a_match_in_ggf_of_another_game_board_or_player_is_refused(written: str, instead: str, reason: str) -> None:
    game = make_game("othello")
    assert len(game.read_transcript(GGF)) == 2
    with pytest.raises(IllegalActionError, match=reason):
        game.read_transcript(GGF.replace(written, instead))
