"""What the console tells a person: their side, coordinates, a short prompt, the score, and that it is busy."""

from pathlib import Path

import pytest

from selfplay.errors import StageError
from selfplay.playing.open_session import open_session
from selfplay.settings.compose import compose_settings_of
from selfplay.settings.playing import PlaySettings
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


@pytest.mark.parametrize(("game", "advice"), [("tictactoe", "perfect"), ("othello_6x6", "search:negascout")])
def test_without_a_run_the_message_says_what_to_run_and_whom_to_play(tmp_path: Path, game: str, advice: str) -> None:
    settings = compose_settings_of(PlaySettings, "play", [f"run_dir={tmp_path}", f"game={game}"])
    with pytest.raises(StageError, match=r"train some with .*, or play against") as raised:
        open_session(settings)
    assert advice in str(raised.value)
