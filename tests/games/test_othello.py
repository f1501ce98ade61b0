"""Othello on all three boards: counts, boards, texts, and random matches against an independent implementation."""

import numpy as np
import pytest
import torch

from selfplay import play_matches
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import IllegalActionError
from selfplay.games import make_game
from selfplay.games.match import Match
from selfplay.games.othello import Othello
from selfplay.games.othello_notation import written_position
from selfplay.games.othello_records import read_problems
from selfplay.games.state import MATCH_OVER
from selfplay.players.player import RandomPlayer
from selfplay.records import Record
from selfplay.records.checked_matches import checked_matches
from selfplay.records.match_files import MatchFiles
from selfplay.records.moves import GGF

WIDTHS = [8, 6, 4]
DIRECTIONS = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right]


def flipped(discs: list[int], width: int, square: int, player: int) -> list[int]:
    """The squares whose discs are flipped, found by walking from `square`; discs are 1 and -1, empty squares 0."""
    turned: list[int] = []
    for down, right in DIRECTIONS:
        run, (row, column) = [], divmod(square, width)
        while True:
            row, column = row + down, column + right
            if not (0 <= row < width and 0 <= column < width) or discs[width * row + column] == 0:
                break
            if discs[width * row + column] == player:
                turned += run
                break
            run.append(width * row + column)
    return turned


def walk(width: int, actions: list[int]) -> tuple[list[int], int]:
    """The discs after the actions of a whole match, and the score; every action and every pass is checked."""
    middle = width // 2
    discs = [0] * width * width
    for row, column, player in ((-1, -1, -1), (0, 0, -1), (-1, 0, 1), (0, -1, 1)):
        discs[width * (middle + row) + middle + column] = player

    def legal(player: int) -> list[int]:
        return [s for s in range(width * width) if discs[s] == 0 and flipped(discs, width, s, player)]

    player = 1
    for action in actions:
        if action == width * width:
            assert not legal(player)
            assert legal(-player)
        else:
            assert action in legal(player)
            for square in [action, *flipped(discs, width, action, player)]:
                discs[square] = player
        player = -player
    assert not legal(player)
    assert not legal(-player)
    difference = sum(discs)
    return discs, difference + discs.count(0) * ((difference > 0) - (difference < 0))


def random_records(game: Othello, matches: int, batch_size: int):
    player, key = RandomPlayer(game), stream_key(3, 0, Activity.GENERATION)
    return play_matches(game, (player, player), range(matches), key, alternate=False, batch_size=batch_size)


def actions_of(sequence: torch.Tensor) -> list[int]:
    return [action for action in sequence.tolist() if action != MATCH_OVER]


@pytest.mark.parametrize("width", [8, pytest.param(6, marks=pytest.mark.slow), 4])
def test_random_matches_agree_with_an_independent_implementation(width):
    game = Othello(width)
    for record in random_records(game, 30, 30):
        last = record.states[-1]
        finals, scores, points = game.squares(last).tolist(), game.score(last), game.points(last)
        for row, sequence in enumerate(record.action_sequences()):
            actions = actions_of(sequence)
            discs, score = walk(game.width, actions)
            assert finals[row] == discs
            assert float(record.states[-1].returns[row]) == np.sign(score)
            # Squares that stay empty count for the winner, in everything that says or learns a score.
            assert float(scores[row]) == score
            assert (points[row, 0] - points[row, 1]).item() == score
            assert f"RE[{score:+d}]" in GGF.write(Record(Match(game).play_all(actions)))


def test_the_small_board_has_60060_matches():
    game = Othello(4)
    assert game.kernels.perft(game.rules.initial, game.max_game_length, True) == 60_060


def test_a_pass_is_legal_only_without_another_move():
    # White's b1 stands between Black's a1 and the empty c1; nothing of Black's stands between White's and an empty one.
    game = Othello()
    state = game.read_board("XO" + "-" * 62, "O")
    mask = game.legal_action_mask(state)[0]
    assert mask.nonzero()[:, 0].tolist() == [game.pass_action]
    after = game.step(state, torch.tensor([game.pass_action]))
    assert game.squares(after).tolist() == game.squares(state).tolist()
    assert int(after.current_player) == 0
    with pytest.raises(IllegalActionError, match="action pass is not legal here; legal actions: d3, c4, f5, e6"):
        game.step(game.init(), torch.tensor([game.pass_action]))


def test_a_match_ends_when_neither_player_can_move_and_most_discs_win():
    for board, black_return in (("XX-O", 1.0), ("X-OO", -1.0), ("X--O", 0.0)):
        for side in "XO":
            state = Othello().read_board(board + "-" * 60, side)
            assert bool(state.terminated)
            assert float(state.returns) == black_return


def test_boards_are_read_as_they_are_drawn():
    game = Othello(6)
    for record in random_records(game, 2, 2):
        for state in record.states[:-1]:
            for row in range(2):
                side = "XO"[int(state.current_player[row])]
                written = "".join("-XO"[disc] for disc in game.squares(state)[row].tolist())
                again = game.read_board(written, side)
                assert [field.tolist() for field in again] == [field[row : row + 1].tolist() for field in state]


@pytest.mark.parametrize(
    ("text", "side"),
    [
        ("-----XX--XX---XO", "O"),
        ("-----xX--XX---xo", "o"),
        ("-----XX--XX---XO O", None),
        (".... .**. .**.\n..*o o", None),
        (".....**..**...*oO", None),
    ],
)
def test_boards_are_read_as_people_and_programs_write_them(text, side):
    game, state = written_position(text if side is None else f"{text} {side}")
    assert game.name == "othello_4x4"
    assert "".join("-XO"[disc] for disc in game.squares(state)[0].tolist()) == "-----XX--XX---XO"
    assert int(state.current_player) == 1


def test_a_value_of_a_problem_is_a_whole_number():
    board = "--XXXXX--OOOXX-O-OOOXXOX-OXOXOXXOXXXOXX--XOXOXX-XXXOOO--OOOOO-- X"
    (problem,) = read_problems(f"{board}; g8:+18; h7:-12.00; % fforum-1\n")
    assert problem.stated == {"g8": 18, "h7": -12}
    assert read_problems(f"{board}; g8:+1e1; h7:0x12;")[0].stated == {}


def test_a_match_in_ggf_is_read_on_its_own_board():
    moves = ["c4", "d2", "b1", "b4", "d1", "a3", "d4", "a2", "a1", "c1", "d3", "PA", "A4"]
    tags = "".join(f"{'BW'[ply % 2]}[{move}/1.5/2]" for ply, move in enumerate(moves))
    game, state = written_position(f"(;GM[Othello]TY[4]BO[4 ---- -O*- -*O- ---- *]{tags};)")
    assert game.name == "othello_4x4"
    assert torch.equal(state.position, game.state_after(moves).position)
    assert bool(state.terminated)


GGF_TAGS = f"(;GM[Othello]TY[8]BO[8 {'-' * 27}O*{'-' * 6}*O{'-' * 27} *]"


@pytest.mark.parametrize("written", ["pass", "PASS", "pa", "PA", "ps", "--"])
def test_passes_are_read_as_people_and_programs_write_them(written):
    game = make_game("othello_4x4")
    start = game.read_board(".....XX..XX...XO", "X")
    assert game.string_to_action(written) == game.pass_action
    assert game.read_transcript(f"{written} a1", start) == [game.pass_action, 0]
    assert game.read_transcript(written, start) == [game.pass_action]
    # After the end of a match they mean nothing.
    wipeout = "e6f4e3f6g5d6e7f5c5"
    assert Othello().read_transcript(f"{wipeout} {written}{written}") == Othello().read_transcript(wipeout)


def test_transcripts_are_read_back_as_written():
    game = Othello(4)
    for record in random_records(game, 4, 4):
        for sequence in record.action_sequences():
            # A pass stays out of the text, and comes back where the rules demand it.
            actions = actions_of(sequence)
            assert game.read_transcript(game.write_transcript(actions)) == actions


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("f5x6", "transcript, disc 2: 'x6' is not a move; write a square from a1 to h8, or pass"),
        (
            "f5a1",
            "transcript, disc 2: action a1 is not legal here: a disc has to enclose and turn at least one of the other",
        ),
        ("e6f4e3f6g5d6e7f5c5a1", "transcript, disc 10: the match is over before it"),
        ("F5 D6 PASS c3", "transcript, pass after disc 2: action pass is not legal here"),
        ("f5d6 pass", "transcript, pass after disc 2: action pass is not legal here"),
        ("1. -- f5", "transcript, pass after disc 0: action pass is not legal here"),
        (GGF_TAGS + "B[f5]W[d6]B[pa];)", "transcript, pass after disc 2: action pass is not legal here"),
        (GGF_TAGS + "B[x9];)", "transcript, disc 1: 'x9' is not a move"),
    ],
)
def test_bad_transcripts_are_refused(text, reason):
    with pytest.raises(IllegalActionError, match=reason):
        Othello().read_transcript(text)


def test_a_pass_that_is_not_legal_is_an_error_where_many_matches_are_read_together(tmp_path):
    path = tmp_path / "matches.txt"
    path.write_text("f5d6c3 +2\nf5 d6 pass c3 +2\ne6f4e3f6g5d6e7f5c5 pass pass\n")
    game = Othello()
    checked = checked_matches(game, MatchFiles([path], game).moves(range(3)), torch.arange(3))
    assert checked.broken == {1: "move 3, pass, is not legal"}


def test_a_text_that_is_not_a_square_is_refused():
    for text in ("", "a9", "i1"):
        with pytest.raises(IllegalActionError, match="is not a move"):
            Othello().string_to_action(text)


def test_a_board_is_drawn_with_names_discs_and_values():
    game = Othello(4)
    assert game.presentation.board_text(game.init()).splitlines() == [
        "   a b c d",
        " 1 . . . .",
        " 2 . O X .",
        " 3 . X O .",
        " 4 . . . .",
        "black (X) 2, white (O) 2",
    ]
    values = np.full(17, np.nan, dtype=np.float32)
    values[[1, 4]] = 0.5, -0.25
    assert game.presentation.board_text(game.init(), 0, values).splitlines()[:3] == [
        "     a     b     c     d",
        " 1   .   +0.50   .     .",
        " 2 -0.25   O     X     .",
    ]


@pytest.mark.parametrize(
    ("moves", "name"),
    [
        ("f5d6c3d3c4", "Tiger"),
        ("d3c5f6f5e6", "Tiger"),
        ("c4e3f6e6f5b4", "Tiger"),
        ("e6f4", "Perpendicular"),
        ("", None),
    ],
)
def test_openings_are_named_on_every_side_of_the_board(moves: str, name: str | None) -> None:
    game = Othello()
    assert game.presentation.opening(game.read_transcript(moves)) == name
    assert Othello(6).presentation.opening([]) is None
