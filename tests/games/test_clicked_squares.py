"""The squares that a person clicks, found in random positions, in games that do not declare them."""

from typing import NamedTuple

import numpy as np
import pytest

from selfplay import Game, Presentation, Rules, Word, flag, make_game, position, rule, squares
from selfplay.games.clicked_squares import ClickedSquares, changes, clicked_squares, squares_in_position
from selfplay.games.connect_four import ConnectFour
from selfplay.games.tictactoe import TicTacToe
from tests.support.clobber import Clobber

ROW = 5


@position
class Position(NamedTuple):
    own: Word = squares(ROW)
    opp: Word = squares(ROW)
    passed: int = flag()


@rule
def legal_actions(p):
    if p.own | p.opp == (1 << ROW) - 1:
        return 0
    return ~(p.own | p.opp) & (1 << ROW + 1) - 1


@rule
def play(p, action):
    if action == ROW:
        return Position(p.opp, p.own, 1)
    return Position(p.opp, p.own | 1 << action, 0)


class Row(Game):
    """Stones are placed on a row of named squares; a player may pass."""

    name, num_distinct_actions, board, max_game_length, chosen_pass = "row", ROW + 1, (1, ROW), 100, ROW
    rules = Rules(Position(0, 0, 0), legal_actions, play)

    def action_to_string(self, action):
        return "pass" if action == ROW else f"{'abcde'[action]}1"


def test_stones_do_not_fall_on_a_row_whose_columns_have_the_names_of_its_squares():
    show = Row().presentation
    assert not show.drops_stones
    assert show.board_text(show.game.init()).splitlines()[:2] == ["   a b c d e", " 1 . . . . ."]
    assert [show.square_name(square) for square in range(ROW)] == ["a1", "b1", "c1", "d1", "e1"]


def found(*done):
    """What is found on a board of 2x3 squares from triples of an action, and what is on the squares before it and after
    it; player 0 acts."""
    actions, before, after = (np.array(one) for one in zip(*done, strict=True))
    seats = np.zeros(len(actions), dtype=np.int64)
    return clicked_squares(changes(before, after, seats), actions, (2, 3), max(actions) + 1)


def test_a_jump_goes_from_a_square_to_another_whatever_it_captures():
    jump = (0, [1, -1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0]), (0, [4, -4, 0, 1, 0, 0], [0, 0, 4, 1, 0, 0])
    assert found(*jump) == ClickedSquares([[0, 2]], [True], True)


def test_stones_that_are_turned_do_not_matter_beside_the_one_that_is_placed():
    assert found((1, [0, -1, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0])) == ClickedSquares([[], [0]], [False, True], False)


def test_a_stone_is_taken_away_and_a_mark_placed_by_a_click_on_it():
    taken, mark = ([1, -1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]), ([1, -1, 0, 0, 0, 0], [1, -1, 0, 3, 0, 0])
    assert found((0, *taken), (1, *mark)).squares == [[1], [3]]


def test_a_swap_that_takes_over_the_stone_of_the_other_wherever_it_is_is_a_button():
    """Mirrored, in the game with two places; its square belongs to no single action."""
    one, other = ([0, -1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0]), ([0, 0, 0, 0, -1, 0], [0, 1, 0, 0, 0, 0])
    place = [0, -1, 0, 0, 0, 0], [1, -1, 0, 0, 0, 0]
    assert found((0, *place), (1, *one), (1, *other)).squares == [[0], []]


def test_stones_that_are_pushed_into_a_row_are_placed_by_a_click_anywhere_in_it():
    row = (0, [0] * 6, [0, 0, 1, 0, 0, 0]), (0, [0, 0, 1, 0, 0, 0], [0, 1, 1, 0, 0, 0])
    both = (1, [0] * 6, [0, 1, 0, 0, 0, 0]), (1, [0, 1, 0, 0, 0, 0], [0, 1, 0, 0, 1, 0])
    assert found(*row).squares == [[1, 2]]
    assert found(*row, *both).squares == [[], []]


def test_two_stones_that_are_placed_are_chosen_by_either():
    done = changes(np.array([[0, 0, 0, 1]]), np.array([[-1, -1, 0, 1]]), np.array([1]))
    for usual in ([0], [0, 1]):
        assert squares_in_position(ClickedSquares([usual], [True], False), [0], done) == [[0, 1]]


def test_an_action_that_was_legal_in_no_random_position_is_taken_by_what_it_does():
    done = changes(np.array([[1, 0, -1], [1, 0, -1]]), np.array([[0, 0, 1], [1, 0, 0]]), np.array([0, 0]))
    assert squares_in_position(ClickedSquares([[]], [False], True), [0, 0], done) == [[0, 2], []]


def test_a_capture_by_a_step_is_clicked_from_and_to():
    show = Clobber().presentation
    assert show.moves_stones
    assert show.pointed_squares(4 * 7 + 2) == [7, 8]


def test_stones_that_fall_are_dropped_by_a_click_anywhere_in_a_column():
    show = type("Undeclared", (ConnectFour,), {"presentation_class": Presentation})().presentation
    assert show.pointed_squares(3) == [3, 10, 17, 24, 31, 38]
    assert (show.drops_stones, show.moves_stones) == (True, False)
    state = show.game.state_after(["4", "4"])
    assert show.pointed_in(state, [3]) == [[3, 10, 17, 24, 31, 38]]
    assert show.placed_squares(state, [3]) == [24]


@pytest.mark.parametrize(
    ("name", "moves", "text", "placed"),
    [
        ("othello", "f5", "d6", (43, -1)),
        ("connect_four", "44", "4", (24, 1)),
        ("breakthrough", "", "b2b3", (11, 1)),
        ("examples.konane:Konane", "", "b4d4", (27, 1)),
        # A wall is a mark without a stone.
        ("examples.walls:Walls", "", "c4", (14, 3)),
        # The other half of a domino is on another square.
        ("examples.domineering:Domineering", "", "c4", (26, None)),
    ],
)
def test_what_an_action_puts_on_a_square_is_said_unless_it_puts_more_elsewhere(name, moves, text, placed):
    game = make_game(name)
    assert game.presentation.placed(game.state_after(moves), [game.string_to_action(text)]) == [placed]


def test_the_target_of_a_move_can_depend_on_the_position():
    done = changes(np.array([[1, -1, 0], [1, 0, -1]]), np.array([[0, 1, 0], [0, 0, 1]]), np.array([0, 0]))
    assert squares_in_position(ClickedSquares([[0]], [True], True), [0, 0], done) == [[0, 1], [0, 2]]


class OfPairs(Presentation):
    def pointed_squares(self, action):
        return [action // 2]


def test_values_stand_on_squares_of_single_actions_and_those_of_others_below_the_board():
    game = type("Pairs", (TicTacToe,), {"presentation_class": OfPairs})()
    text = game.presentation.board_text(game.init(), 0, np.full(9, 0.25, dtype=np.float32))
    assert [line.count("+0.25") for line in text.splitlines()[1:]] == [0, 1, 0, *[1] * 8]
