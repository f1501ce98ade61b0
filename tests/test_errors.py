"""Error messages that repeat text from outside: one line, short, and nothing that controls the terminal."""

import errno
from pathlib import Path

import pytest

from selfplay.errors import (
    IllegalActionError,
    InvalidFileError,
    SelfPlayError,
    SettingError,
    StageError,
    line_of,
    shortened,
)
from selfplay.games import make_game
from selfplay.named_players.names import parse_name
from selfplay.settings.run import compose_settings

LONG = "x" * 100_000
CLEARS_THE_SCREEN = "\x1b[2J\x07a\u202eb\nc"


def test_text_from_outside_is_shortened_and_has_no_control_characters() -> None:
    assert shortened(CLEARS_THE_SCREEN) == r"\x1b[2J\x07a\u202eb c"
    assert f"{shortened(CLEARS_THE_SCREEN)!r}" == r"'\x1b[2J\x07a\u202eb c'"
    assert shortened("été 😀") == "été 😀"
    assert len(shortened(LONG)) == 80


def test_a_message_about_a_file_has_no_control_characters() -> None:
    message = str(InvalidFileError(Path("run"), f"is for {CLEARS_THE_SCREEN}"))
    assert message == r"run: is for \x1b[2J\x07a\u202eb c"


@pytest.mark.parametrize("kind", [SettingError, StageError, IllegalActionError])
def test_every_error_leaves_out_the_middle_of_long_texts(kind: type[SelfPlayError]) -> None:
    path = "/".join(["folder"] * 40)
    assert str(kind(f"{path} does not exist")) == f"{path} does not exist"
    for text in (LONG, "a " * 50_000):
        message = str(kind(f"{text}: set force=true"))
        assert len(message) <= 1000
        assert message.endswith(": set force=true")
    assert len(line_of(OSError(errno.ENAMETOOLONG, "File name too long", LONG)) or "") < 400


@pytest.mark.parametrize(
    "override", [f"device={LONG}", f"learner.expert=level:{LONG}", f"+seed={LONG}", f"game={LONG}"]
)
def test_a_long_value_of_a_setting_is_shortened(override: str) -> None:
    with pytest.raises((SelfPlayError, OSError)) as caught:
        compose_settings([override])
    assert len(line_of(caught.value) or "") < 700


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
