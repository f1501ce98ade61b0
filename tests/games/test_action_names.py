"""Actions without texts are known by the squares that they change."""

import numpy as np
import pytest

from selfplay import Game, make_game
from selfplay.games.action_names import NamedSquares, named_squares
from selfplay.playing.match_description import describe
from selfplay.playing.session import Session
from tests.support.amazons import Amazons
from tests.support.morris import UntoldMorris


def without_texts(name):
    kind = type(make_game(f"examples.{name}"))
    return type("Untold", (kind,), {"action_to_string": Game.action_to_string})()


@pytest.mark.parametrize(
    ("name", "action", "said"),
    [
        ("konane:Konane", 64 * 0 + 25, "b4 to d4"),
        ("domineering:Domineering", 26, "c4 and c5"),
        ("walls:Walls", 108 + 14, "wall c4"),
        ("walls:Walls", 24, "a2 to a3"),
    ],
)
def test_squares_are_named_in_the_order_of_clicks(name, action, said):
    game = without_texts(name)
    state = game.init()
    assert game.presentation.action_name(state, action) == said
    assert game.action_to_string(action) == str(action) == game.write_transcript([action])


def test_a_queen_and_its_arrow_are_named_in_two_plies():
    game = Amazons()
    game.presentation.column_names = "abcde"
    state = game.init()
    assert game.presentation.action_name(state, 25 * 1 + 6) == "b1 to b2"
    assert game.presentation.action_name(game.step(state, 25 * 1 + 6), 625 + 1) == "arrows b1"


def test_actions_that_change_the_same_squares_are_told_apart_by_their_numbers():
    game = without_texts("onitama:Onitama")
    # Two cards have the same steps of the man on c3.
    names = game.presentation.legal_names(game.follow([22, 301, 121, 6]))
    assert len({*names.values()}) == len(names) == 13
    assert [name for name in names.values() if "(" in name] == [
        "c3 to b4 (337)",
        "c3 to d4 (362)",
        "c3 to b4 (462)",
        "c3 to d4 (487)",
    ]


def test_an_action_that_is_illegal_or_has_a_text_is_known_by_that():
    game = UntoldMorris()
    assert game.presentation.action_name(game.init(), 9) == "9"
    assert make_game("othello").presentation.action_name(make_game("othello").init(), 37) == "f5"


def test_a_queen_that_moves_and_shoots_at_once_is_named_before_its_arrow():
    """The arrow may go where the queen came from."""
    boards = np.array([[1, 0, 0, -1], [1, 0, 0, -1]]), np.array([[0, 1, 3, -1], [3, 1, 0, -1]])
    expected = [NamedSquares([0], [1], [2]), NamedSquares([0], [1], [0])]
    assert named_squares(*boards, np.array([0, 0]), has_stones=True) == expected


def test_an_action_that_changes_the_whole_board_names_no_squares():
    boards = np.array([[1, 1, 1, -1, -1, -1]]), np.array([[-1, -1, -1, 1, 1, 1]])
    assert named_squares(*boards, np.array([0]), has_stones=True) == [NamedSquares([], [], [])]


def test_the_description_of_a_match_has_names_to_read_and_texts_to_write():
    game = UntoldMorris()
    session = Session(game, (None, None), 0)
    for action in (0, 1, 4, 8, 2, 6):
        session.play(action)
    described = describe(session)
    assert (described.moves, [ply.name for ply in described.plies]) == (
        "0 1 4 8 2 6",
        ["a3", "b3", "b2", "c1", "c3", "a1"],
    )
    moves = {one.text: one.name for one in described.legal}
    assert set(moves.values()) == {"a3 to a2", "b2 to a2", "b2 to c2", "b2 to b1", "c3 to c2"}
    assert all(text.isdecimal() and game.string_to_action(text) >= 9 for text in moves)
