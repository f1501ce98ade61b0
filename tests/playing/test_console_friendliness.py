"""What the console tells a person: their side, coordinates, a short prompt, the score, and that it is busy."""

import time
from pathlib import Path

import numpy as np
import pytest

from selfplay.errors import StageError
from selfplay.games import make_game
from selfplay.playing import console_values
from selfplay.playing.board_text import ValueColumn, boards_side_by_side
from selfplay.playing.console_values import THINKING, notice_when_slow
from selfplay.playing.open_session import open_session
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.playing import PlaySettings
from tests.playing.test_resuming import InPoints
from tests.support.dialogue import GAME, PROMPT, SHORT, dialogue
from tests.support.stub_players import FirstLegal


@pytest.mark.parametrize(("answer", "name"), [("y", "X"), ("n", "O")])
def test_the_person_is_told_which_side_is_theirs(answer: str, name: str) -> None:
    written, prompts = dialogue([answer, "1,1"], FirstLegal(GAME))
    assert f"You are {name}." in written
    assert prompts[1:3] == [PROMPT, SHORT]
    written, _ = dialogue([], FirstLegal(GAME), None)
    assert written[1] == "You are O."


def test_boards_have_coordinates() -> None:
    written, _ = dialogue(["y", "1,1"], FirstLegal(GAME), coordinates=True)
    assert "  0 1 2\n0 O . .\n1 . X .\n2 . . ." in written
    written, _ = dialogue(["y", "1,1"], FirstLegal(GAME), coordinates=True, board="boxed")
    assert "   0   1   2\n  -------------\n0 | O |   |   |\n" in "\n".join(written)


def test_values_in_points_have_one_decimal_and_no_minus_zero() -> None:
    written, _ = dialogue(["n"], InPoints(GAME))
    assert "It plays 2,2, value +4.0 points." in written
    assert written[2].startswith("What valuing expects of each action, in points:\n 0.0  +0.5")
    othello = make_game("othello_4x4")
    values = [float("nan")] * 17
    values[1], values[4] = -0.04, -5.26
    column = ValueColumn("Values:", np.array(values, dtype=np.float32), in_points=True)
    shown = boards_side_by_side(othello, othello.init(), [column])
    assert " 0.0 " in shown
    assert "-5.3" in shown
    assert "-0.0" not in shown


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console_values, "QUIET_SECONDS", 0.05)


@pytest.mark.usefixtures("quickly")
def test_a_notice_is_written_where_work_takes_long() -> None:
    written: list[str] = []
    with notice_when_slow(written.append):
        pass
    for _ in range(2):
        with notice_when_slow(written.append):
            time.sleep(0.3)
    time.sleep(0.1)
    assert written == [THINKING, THINKING]


@pytest.mark.parametrize(("game", "advice"), [("tictactoe", "perfect"), ("othello_6x6", "search:negascout")])
def test_without_a_run_the_message_says_what_to_run_and_whom_to_play(tmp_path: Path, game: str, advice: str) -> None:
    settings = compose_settings_of(PlaySettings, "play", [f"run_dir={tmp_path}", f"game={game}"])
    with pytest.raises(StageError, match=r"train some with .*, or play against") as raised:
        open_session(settings)
    assert advice in str(raised.value)
