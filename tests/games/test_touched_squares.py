"""The squares that actions touch, found in random positions."""

import numpy as np
import pytest

from selfplay.games import make_game
from selfplay.games.touched_squares import actions_are_squares
from tests.support.amazons import Amazons
from tests.support.clobber import Clobber
from tests.support.kalah import Kalah
from tests.support.posts import Posts
from tests.support.slides import Slides


def touched(game, action):
    """The role and the square of each touched square."""
    found, squares = game.touched_squares, game.num_squares
    return [divmod(place, squares) for place in found.places[action].tolist() if place < found.num_roles * squares]


def test_a_move_touches_the_squares_from_which_and_to_which_it_goes():
    """From square 7 to 8: the mover loses a stone on one, and gains one on the other, where the opponent loses one."""
    game = Clobber()
    roles = touched(game, 4 * 7 + 2)
    assert sorted(square for _, square in roles) == [7, 8, 8]
    assert len({role for role, _ in roles}) == game.touched_squares.num_roles == 3
    assert sorted(square for _, square in touched(game, 4 * 8 + 1)) == [7, 7, 8]
    assert {role for role, square in roles if square == 7} == {
        role for role, square in touched(game, 33) if square == 8
    }


def test_boards_besides_those_of_the_stones_have_roles():
    game = Amazons()
    moves = touched(game, 25 * 1 + 6)
    assert sorted(square for _, square in moves) == [1, 6, 6]
    ((role, square), *lost) = (one for one in touched(game, 625 + 12) if one[1] == 12)
    assert (square, lost) == (12, [])
    assert role not in {role for role, _ in moves}


def test_an_action_that_is_never_legal_touches_nothing():
    assert touched(Amazons(), 0) == []


def test_actions_that_change_no_square_always_touch_all_that_they_change():
    game = make_game("connect_four")
    assert [square for _, square in touched(game, 3)] == [3, 10, 17, 24, 31, 38]


@pytest.mark.parametrize("name", ["tictactoe", "othello_6x6", "gomoku", "hex_3x3", "dots_and_boxes"])
def test_actions_of_games_that_place_stones_actions_are_squares(name):
    game = make_game(name)
    assert actions_are_squares(game)
    assert all(touched(game, action) in ([], [(0, action)]) for action in range(game.num_squares))


def test_actions_that_touch_the_same_squares_in_the_same_roles_are_numbered():
    for game in (Clobber(), Posts(), make_game("tictactoe")):
        found, kinds = game.touched_squares, {}
        for action in range(game.num_distinct_actions):
            if places := touched(game, action):
                kinds.setdefault(tuple(places), []).append(int(found.kinds[action]))
        assert all(sorted(numbers) == list(range(len(numbers))) for numbers in kinds.values())
        assert found.num_kinds == max(map(len, kinds.values()))


def test_moves_are_not_squares():
    assert not actions_are_squares(Clobber())


def test_an_image_of_an_action_touches_the_images_of_its_squares():
    for game in (Clobber(), Slides()):
        for actions, seen in zip(*game.symmetries, strict=True):
            goes_to = np.argsort(seen[: game.num_squares])
            for action in range(game.num_distinct_actions):
                expected = {(role, goes_to[square]) for role, square in touched(game, action)}
                assert set(touched(game, int(actions[action]))) == expected


def test_a_post_touches_the_square_that_holds_it_in_a_role_of_its_own():
    game = Posts()
    assert [touched(game, action) for action in (0, 9, 12)] == [[(0, 0)], [(1, 0)], [(1, 4)]]


def test_a_game_without_a_board_has_no_touched_squares():
    assert Kalah().touched_squares is None
