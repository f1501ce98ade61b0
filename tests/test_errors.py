"""Error messages that repeat text from outside: one line, short, and nothing that controls the terminal."""

from pathlib import Path

import pytest

from selfplay.errors import InvalidFileError, shortened
from selfplay.games import make_game
from selfplay.named_players.names import parse_name

LONG = "x" * 100_000
CLEARS_THE_SCREEN = "\x1b[2J\x07a\u202eb\nc"


def test_text_from_outside_is_shortened_and_has_no_control_characters() -> None:
    assert shortened(CLEARS_THE_SCREEN) == r"\x1b[2J\x07a\u202eb c"
    assert shortened("été 😀") == "été 😀"
    assert len(shortened(LONG)) == 80


def test_a_message_about_a_file_has_no_control_characters() -> None:
    message = str(InvalidFileError(Path("run"), f"is for {CLEARS_THE_SCREEN}"))
    assert message == r"run: is for \x1b[2J\x07a\u202eb c"


@pytest.mark.parametrize(
    "name",
    [
        LONG,
        f"level:1?{LONG}",
        f"random?{LONG}=1",
    ],
)
def test_a_long_name_of_a_player_is_shortened(name: str) -> None:
    with pytest.raises(ValueError, match="player") as caught:
        parse_name(name)
    assert len(str(caught.value)) < 700


@pytest.mark.parametrize("game", ["tictactoe", "sumto100"])
def test_a_long_action_is_shortened(game: str) -> None:
    with pytest.raises(ValueError, match=r"x{77}\.\.\.' is not") as caught:
        make_game(game).string_to_action(LONG)
    assert len(str(caught.value)) < 300
