"""selfplay solve: one line per move, the best first, and one line for an error."""

import json

import pytest

from selfplay.search.endgame.solver import EndgameSolver
from tests.support.runs import COMMAND, PROJECT, interrupted_when_there_is, run_forked

FFO = json.loads((PROJECT / "tests/data/ffo.json").read_text())["positions"]
FIRST = FFO[0]


@pytest.mark.slow
def test_moves_are_listed_with_their_values_best_first():
    result = run_forked(COMMAND, "solve", f"moves={FIRST['board']} {FIRST['side']}")
    assert result.stdout == "g8 +18\nh1 +12\na2 +6\nh7 +6\na3 +4\nb1 -4\na4 -22\ng2 -24\n"
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (["game=othello_4x4", "moves=b1"], "a1 +10\na3 -12\nc1 -14\n"),
        (["--game=othello_4x4", "moves=B1", "raw_discs=true"], "a1 +8\nc1 -8\na3 -9\n"),
        (["moves=XXXXXXXXXXXXXXX- O"], "the match is over: black has won by 16\n"),
        (["moves=--xo" + 12 * "x" + " o"], "b1 -10\n"),
        pytest.param(
            ["--moves", "XXXXXXXXXXXXXXX- white"], "the match is over: black has won by 16\n", marks=pytest.mark.slow
        ),
        (["moves=XXXXXXXXXXXXXXX- X; d4:+1; --:-2; % a problem"], "the match is over: black has won by 16\n"),
        pytest.param(
            ["moves=XXXXXXXXXXXXXXX- X d4:+1 a2:-3"], "the match is over: black has won by 16\n", marks=pytest.mark.slow
        ),
        pytest.param(
            ["moves=XXXXXXXXXXXXXXX- Black % 16"], "the match is over: black has won by 16\n", marks=pytest.mark.slow
        ),
        (["moves=1 (;GM[Othello]TY[4]BO[4 ---- -O*- -*O- ---- *]B[b1];)"], "a1 +10\na3 -12\nc1 -14\n"),
        (["game=othello_4x4"], "a2 -10\nb1 -10\nc4 -10\nd3 -10\n"),
        pytest.param(["game=othello_4x4", ""], "a2 -10\nb1 -10\nc4 -10\nd3 -10\n", marks=pytest.mark.slow),
        (["b1", "game=othello_4x4"], "a1 +10\na3 -12\nc1 -14\n"),
        (["--xo" + 12 * "x" + " o"], "b1 -10\n"),
        pytest.param(["--moves", "--xo" + 12 * "x" + " o"], "b1 -10\n", marks=pytest.mark.slow),
        pytest.param(["----" + 12 * "X" + " O"], "the match is over: black has won by 16\n", marks=pytest.mark.slow),
        pytest.param(
            ["1 (;GM[Othello]TY[4]BO[4 ---- -O*- -*O- ---- *]CO[a=b]B[b1];)"],
            "a1 +10\na3 -12\nc1 -14\n",
            marks=pytest.mark.slow,
        ),
        # Black has taken all discs.
        pytest.param(["moves=e6f4e3f6g5d6e7f5c5"], "the match is over: black has won by 64\n", marks=pytest.mark.slow),
    ],
)
def test_positions_are_accepted_in_every_notation(arguments, output):
    result = run_forked(COMMAND, "solve", *arguments)
    assert (result.stdout, result.stderr, result.returncode) == (output, "", 0)


def test_a_file_of_problems_is_solved_and_compared_with_what_it_says(tmp_path):
    boards = ["--xo" + 12 * "x" + " o; b1:-10; % one", "", "% a comment", "--xo" + 12 * "x" + " o; a1:-64; b1:-8;"]
    (tmp_path / "two.OBF").write_text("\n".join([*boards, "XXXXXXXXXXXXXXX- X % over"]))
    result = run_forked(COMMAND, "solve", str(tmp_path / "two.OBF"))
    assert result.stderr == ""
    assert result.stdout.splitlines() == [
        "one: b1 -10",
        "line 4: b1 -10; the file says -8",
        "over: the match is over +16",
        "3 problems, 2 as the file says",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("--xo" + 12 * "x" + " o\nxxxx", "line 2: after a board comes the side to move, X or O"),
        ("% nothing\n", "has no problems; each is a line such as BOARD X; g8:+18; % a comment"),
        (27 * "-" + "OX" + 6 * "-" + "XO" + 27 * "-" + " X", "line 1: 60 squares are empty"),
    ],
)
def test_a_file_of_problems_that_cannot_be_solved_is_refused_before_the_first(text, said, tmp_path):
    (tmp_path / "some.obf").write_text(text)
    result = run_forked(COMMAND, "solve", str(tmp_path / "some.obf"))
    assert result.stderr.startswith(f"error: {tmp_path / 'some.obf'}: {said}")
    assert (result.stdout, result.returncode, result.stderr.count("\n")) == ("", 1, 1)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["f5"], ["59 squares are empty"]),
        (["f5", "moves=d6"], ["moves is set twice"]),
        (["--moves", "--time-limit"], ["--moves needs a value"]),
        (["game=othello_6x6", f"moves={FIRST['board']} X"], ["othello_6x6", "36 signs", "64 signs"]),
        (["moves=f5d6a1"], ["disc 3", "a1", "not legal", "has to enclose"]),
        (["game=connect_four", "moves=41424344"], ["the match is over after 7 actions"]),
        ([f"moves={FIRST['board']}"], ["after a board comes the side to move, X or O"]),
        ([f"moves={FIRST['board']} X 18"], ["the side to move", "'18'"]),
        (["moves=2 (;GM[Othello]TY[4]BO[4 ---- -O*- -*O- ---- *];)(;GM[Othello]TY[4];)"], ["several matches in GGF"]),
        (["moves="], ["60 squares are empty"]),
        (["game=tictactoe", "moves=f5"], ["game=tictactoe", "othello_4x4", "connect_four"]),
        (["moves=f5", "--time-limit", "0"], ["time_limit=0", "above 0"]),
    ],
)
def test_wrong_arguments_are_reported_in_one_line(arguments, named):
    result = run_forked(COMMAND, "solve", *arguments)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1), result.stderr
    assert result.stderr.startswith("error: ")
    assert all(text in result.stderr for text in named), result.stderr


def test_ctrl_c_ends_the_program_without_a_traceback(tmp_path, monkeypatch):
    solve, searching = EndgameSolver.action_values, tmp_path / "searching"

    def action_values(*arguments, **options):
        searching.touch()
        while True:
            solve(*arguments, **options)

    monkeypatch.setattr(EndgameSolver, "action_values", action_values)
    done = interrupted_when_there_is(searching, COMMAND, "solve", "game=othello_4x4", "moves=b1")
    assert done.returncode == 130
    # It begins again, if it is run again.
    assert done.stderr == "error: interrupted\n"
