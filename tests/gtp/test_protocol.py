"""The Go Text Protocol: commands, answers, colours and vertices."""

import pytest

from selfplay.errors import IllegalActionError, SettingError
from selfplay.games import make_game
from selfplay.gtp.protocol import Answer, Command, Vertices, read_answer, read_command


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("name\n", Command("", "name", ())),
        ("  12\tplay  b\tD3 # the centre\r\n", Command("12", "play", ("b", "D3"))),
        ("na\x07me\x7f", Command("", "name", ())),
        ("", None),
        (" \t\r\n", None),
        ("# name", None),
        ("7", Command("7", "", ())),
    ],
)
def test_lines_are_parsed_according_to_the_protocol(line: str, command: Command | None) -> None:
    assert read_command(line) == command


def test_answers_are_written_with_their_sign_their_number_and_an_empty_line() -> None:
    assert Answer(True, "").written() == "=\n\n"
    assert Answer(True, "D3").written("12") == "=12 D3\n\n"
    assert Answer(False, "illegal move").written() == "? illegal move\n\n"
    # A board begins on its own line, and an empty line in it would end the answer.
    assert Answer(True, "  a b\n\n1 . .\n").written("3") == "=3\n  a b\n1 . .\n\n"


@pytest.mark.parametrize("text", ["", "= x", "  a b\n1 . .", "12"])
@pytest.mark.parametrize("is_success", [True, False])
def test_written_answers_can_be_read(is_success: bool, text: str) -> None:
    written = Answer(is_success, text).written("12")
    assert written.endswith("\n\n")
    assert "\n\n" not in written[:-2]
    assert read_answer(written[:-2].split("\n")) == Answer(is_success, text.rstrip())


def test_squares_of_othello_have_their_usual_names() -> None:
    game = make_game("othello")
    vertices = Vertices(game)
    for action in range(65):
        assert vertices.text(action) == game.action_to_string(action).upper()
        assert vertices.action(game.action_to_string(action)) == action


@pytest.mark.parametrize("text", ["", "i1", "a9", "33"])
def test_a_text_that_is_not_a_vertex_is_refused(text: str) -> None:
    with pytest.raises(IllegalActionError, match="not a vertex"):
        Vertices(make_game("othello")).action(text)


@pytest.mark.parametrize("name", ["connect_four", "sumto100"])
def test_games_whose_actions_are_not_squares_are_refused(name: str) -> None:
    with pytest.raises(SettingError, match=f"game={name}"):
        Vertices(make_game(name))
