"""The console: whole matches in scripted dialogues, invalid input, coordinates, quitting at any prompt."""

import re
import threading
from pathlib import Path

import pytest

from selfplay.games import make_game
from selfplay.playing import console_values
from selfplay.playing.console import Console, play_at_console
from selfplay.playing.session import Session
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.playing import DisplaySettings, PlaySettings
from selfplay.settings.run import Run
from tests.support.dialogue import GAME, PROMPT, SHORT, dialogue
from tests.support.pile import Pile
from tests.support.stub_players import FirstLegal, Learning, Valuing

# ---------------------------------------------------------------------- whole matches


def test_a_person_who_moves_first_wins_a_whole_match() -> None:
    written, prompts = dialogue(["y", "0,0", "1,1", "2,2", "n"], FirstLegal(GAME))
    # X O O
    # . X .
    # . . X
    counted = "You: 1, first legal: 0"
    assert written[0] == "Tic-tac-toe against first legal (help lists the commands, quit leaves)"
    assert written[-3:] == ["X O O\n. X .\n. . X", "You win.", counted]
    assert prompts == ["Do you want to go first? [Y/n] ", PROMPT, SHORT, SHORT, "Play again? [Y/n] "]


def test_a_person_who_moves_second_loses_and_plays_again() -> None:
    written, prompts = dialogue(["n", "1,0", "1,1", "", "no"], FirstLegal(GAME))
    assert "X X X\nO O .\n. . ." in written
    assert "You lose." in written
    assert prompts.count("Do you want to go first? [Y/n] ") == 2


def test_a_person_who_can_only_pass_is_informed_and_not_asked() -> None:
    written, prompts = dialogue(["y", "two", "one", "one", "one"], FirstLegal(Pile()), game=Pile())
    # first 2, second 1: the person waits; then 2 to 2, 3 to 3, 4 to 3.
    assert written.count("You can only pass.") == 1
    assert written[written.index("You can only pass.") + 1] == "It plays one."
    assert prompts[1:4] == ["Your action (one or two): ", SHORT, SHORT]
    assert "You win." in written
    written, _ = dialogue(["n", "one"], Valuing(Pile()), game=Pile(), values=False)
    assert "It can only pass." in written


def test_captures_and_the_points_of_go_are_said() -> None:
    game = make_game("go", 3, komi=2.5)
    written, _ = dialogue(["B2", "A2", "B1", "A1", "B3", "C3", "A3", "pass", "pass"], None, None, game=game)
    assert written.count("Captured stones: black 2, white 0.") == 1
    assert "Black wins. Points: black 6, white 3.5, with komi 2.5." in written
    assert written.index("Captured stones: black 2, white 0.") < len(written) - 3


def test_a_learning_opponent_learns_from_each_match() -> None:
    learner = Learning(GAME)
    written, _ = dialogue(["y", "0,0", "1,1", "2,2", "y", "n", "1,0", "1,1", "n"], learner)
    assert learner.seen == [(0, [0, 1, 4, 2, 8], 1.0, (1,)), (1, [0, 3, 1, 4, 2], 1.0, (0,))]
    # What it says of itself holds the match that has just ended.
    assert "You: 1, learning: 0; seen 1" in written
    assert written[-1] == "You: 1, learning: 1; seen 2"


# ---------------------------------------------------------------------- input


def test_invalid_input_is_explained_and_asked_again() -> None:
    written, prompts = dialogue(["maybe", "Y", "5,5", "hello", "1,1", "1,1"], FirstLegal(GAME))
    assert "Please answer y or n." in written
    assert "'5,5' is not a move; write row,column from 0 to 2, or 1 to 9, or the keys qwe/asd/zxc" in written
    assert "'hello' is not a move; write row,column from 0 to 2, or 1 to 9, or the keys qwe/asd/zxc" in written
    assert "action 1,1 is not legal here: it is occupied" in written
    assert len(prompts) == 7


@pytest.mark.parametrize("centre", ["5", "s"])
def test_a_square_can_be_written_in_three_ways(centre: str) -> None:
    written, _ = dialogue(["y", centre], FirstLegal(GAME))
    assert "O . .\n. X .\n. . ." in written


@pytest.mark.parametrize("answers", [[], ["exit"], ["y", "1,1", "quit"]])
def test_quitting_at_any_prompt_ends_without_an_error(answers: list[str]) -> None:
    written, _ = dialogue(answers, FirstLegal(GAME))
    assert written[-1] == ""


def test_ctrl_c_quits_without_an_error() -> None:
    def read(_: str) -> str:
        raise KeyboardInterrupt

    written: list[str] = []
    Console(Session(GAME, (None, FirstLegal(GAME)), 0), read, written.append, DisplaySettings(".")).play()
    assert written[-1] == ""


@pytest.mark.parametrize(("answer", "name"), [("y", "X"), ("n", "O")])
def test_the_person_is_told_which_side_is_theirs(answer: str, name: str) -> None:
    written, prompts = dialogue([answer, "1,1"], FirstLegal(GAME))
    assert f"You are {name}." in written
    assert prompts[1:3] == [PROMPT, SHORT]
    written, _ = dialogue([], FirstLegal(GAME), None)
    assert written[1] == "You are O."


def test_the_sign_of_the_stones_is_named_if_the_players_have_colours_and_the_columns_keep_their_numbers() -> None:
    game = make_game("connect_four")
    written, _ = dialogue(["values", "hint"], None, Valuing(game), game=game)
    assert written[0].startswith("Connect Four, red (X): human, yellow (O): valuing")
    assert written[1] == "You are red (X)."
    boards = [text.splitlines() for text in written if ". . ." in " ".join(text.split())]
    assert len(boards) == 2
    assert all(board[-1].split() == list("1234567") for board in boards)


def test_boards_have_coordinates() -> None:
    written, _ = dialogue(["y", "1,1"], FirstLegal(GAME), coordinates=True)
    assert "  0 1 2\n0 O . .\n1 . X .\n2 . . ." in written
    written, _ = dialogue(["y", "1,1"], FirstLegal(GAME), coordinates=True, board="boxed")
    assert "   0   1   2\n  -------------\n0 | O |   |   |\n" in "\n".join(written)


@pytest.mark.parametrize(
    ("game", "action", "opponent"),
    [("tictactoe", "1,1", "perfect"), pytest.param("othello_4x4", "b1", "negascout", marks=pytest.mark.slow)],
)
def test_until_there_is_a_run_the_opponent_is_a_strong_player_that_needs_none(
    tmp_path: Path, game: str, action: str, opponent: str
) -> None:
    settings = compose_settings_of(PlaySettings, "play", [f"run_dir={tmp_path}", f"game={game}"])
    written: list[str] = []
    answers = iter(["y", action, "quit"])
    play_at_console(Run.of(settings), lambda _: next(answers), written.append)
    said = "\n".join(written)
    assert f"{tmp_path} has no trained level yet; train some with " in said
    assert re.search(rf"What .*{opponent}.* expects of each action", said)
    # The values of perfect play are no estimates.
    assert ("Estimates for the player to move" in said) == (opponent != "perfect")


def test_a_notice_is_written_where_work_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    is_written = threading.Event()

    def write(notice: str) -> None:
        written.append(notice)
        is_written.set()

    monkeypatch.setattr(console_values, "QUIET_SECONDS", 60.0)
    with console_values.notice_when_slow(write):
        pass
    assert written == []
    monkeypatch.setattr(console_values, "QUIET_SECONDS", 0.01)
    with console_values.notice_when_slow(write):
        assert is_written.wait(60)
    assert written == [console_values.THINKING]
