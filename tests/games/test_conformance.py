"""check_game accepts every game, and refuses games with one deliberate fault each."""

import numpy as np
import pytest

from selfplay.compute.bit_algebra import rule
from selfplay.errors import ConformanceError
from selfplay.games import Symmetries, make_game
from selfplay.games.conformance import check_game, check_quickly
from selfplay.games.conformance_checks import CHECKS
from selfplay.games.conformance_matches import random_plies
from selfplay.games.tictactoe import TicTacToe
from tests.support.games import BOARDS, WITH_LONG_MATCHES, with_slow_sizes
from tests.support.pendulum import CountedPendulum, Pendulum

PERFT = {
    "tictactoe": (9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872, 0),
    # No line of four can be complete before the seventh ply: 16 * 15 * 14 * ...
    "tictactoe_4x4": (16, 240, 3_360, 43_680, 524_160),
    "tictactoe_8x8": (64, 64 * 63, 64 * 63 * 62, 64 * 63 * 62 * 61),
    # From the sums up to 90 all ten addends are legal, so nine plies branch by ten each.
    # A match is over after 9 plies at the soonest, so to this depth it does not matter how finished ones are counted.
    "othello": (4, 12, 56, 244, 1396, 8200, 55092, 390216),
    "othello_6x6": (4, 12, 56, 244, 1364, 7604, 47740, 308716),
    "othello_4x4": (4, 12, 44, 128, 424, 1256, 3624, 9112, 20032, 36412, 50268, 55112, 31396, 12920, 3416, 612, 48, 0),
    "connect_four": (7, 49, 343, 2_401, 16_807, 117_649, 823_536),
    # No chain of three is complete before the fifth ply.
    "hex_3x3": (9, 72, 504, 3024, 15120),
    # As OpenSpiel counts them; two passes end the match.
    "go_3x3": (10, 91, 738, 5281, 33_384),
    # No line of five is complete before the ninth ply.
    "gomoku": (81, 81 * 80, 81 * 80 * 79, 81 * 80 * 79 * 78),
    "breakthrough": (13, 156, 1924, 23084),
    "sumto100": (10, 100, 1_000, 10_000, 100_000),
    # No box is closed before the fourth ply, after which each of the other lines can still be drawn.
    "dots_and_boxes": (24, 24 * 23, 24 * 23 * 22, 24 * 23 * 22 * 21, 24 * 23 * 22 * 21 * 20),
    # From depth 7 on, fewer than whole moves, of which some are several plies.
    "draughts": (7, 49, 302, 1_469, 7_361, 36_768, 179_255, 838_248),
    # No mill is closed before the fifth ply.
    "nine_mens_morris": (24, 24 * 23, 24 * 23 * 22, 24 * 23 * 22 * 21),
}


@pytest.mark.parametrize("name", with_slow_sizes((*BOARDS, *WITH_LONG_MATCHES, "tictactoe_4x4", "tictactoe_8x8")))
def test_every_game_conforms(name):
    check_game(make_game(name), PERFT[name])


class CompiledTicTacToe(TicTacToe):
    """Tic-tac-toe whose compiled kernels stay correct whatever a subclass breaks."""

    kernels = property(lambda self: make_game("tictactoe").kernels)


# ---------------------------------------------------------------------- legality


class IllegalActionAllowed(CompiledTicTacToe):
    def step(self, state, action):
        return self.step_unchecked(state, action)


class LegalAfterTheEnd(CompiledTicTacToe):
    def legal_action_mask(self, state):
        return super().legal_action_mask(state) | state.terminated[:, None]


# ---------------------------------------------------------------------- perspective


class SamePlayerMovesOn(CompiledTicTacToe):
    def step(self, state, action):
        return super().step(state, action)._replace(current_player=state.current_player)


class ReturnsOfTheOther(CompiledTicTacToe):
    def step(self, state, action):
        following = super().step(state, action)
        return following._replace(returns=-following.returns)


class ObservedByThePlayerToMove(CompiledTicTacToe):
    def observation_bits(self, state):
        return super().observation_bits(state).roll(9, dims=1)


# ---------------------------------------------------------------------- symmetries


def with_symmetries(change):
    def symmetries(self):
        actions, observations = TicTacToe().symmetries
        return Symmetries(*change(actions.copy(), observations.copy()))

    return type("BrokenSymmetries", (CompiledTicTacToe,), {"symmetries": property(symmetries)})


@with_symmetries
def TwoSquaresSwapped(actions, observations):  # noqa: N802 - it makes a class
    squares = np.array([1, 0, 2, 3, 4, 5, 6, 7, 8])
    return np.stack([actions[0], squares]), np.stack([observations[0], np.concatenate([squares, squares + 9])])


# ---------------------------------------------------------------------- texts


class ColumnsAlone(CompiledTicTacToe):
    def action_to_string(self, action):
        return f"column {action % 3}"


class WrongErrorForText(CompiledTicTacToe):
    def string_to_action(self, text):
        row, column = text.split(",")
        return 3 * int(row) + int(column)


class ExampleBeyondTheEnd(CompiledTicTacToe):
    class presentation_class(TicTacToe.presentation_class):  # noqa: N801 - as games declare it
        def __init__(self, game):
            super().__init__(game)
            self.example += " 2,1"


# ---------------------------------------------------------------------- pointed squares


class PointsBesideTheBoard(CompiledTicTacToe):
    class presentation_class(TicTacToe.presentation_class):  # noqa: N801 - as games declare it
        def pointed_squares(self, action):
            return [action + 1]


class PlacesInsteadOfMoving(CompiledTicTacToe):
    class presentation_class(TicTacToe.presentation_class):  # noqa: N801
        moves_stones = True

        def pointed_squares(self, action):
            return [action, (action + 1) % 9]


# ---------------------------------------------------------------------- ends


class LongerThanItSays(CompiledTicTacToe):
    def __init__(self):
        super().__init__()
        self.max_game_length = 7


# ---------------------------------------------------------------------- two ways


play = make_game("tictactoe").rules.play


@rule
def play_keeps_own(p, action):
    return play(p, action)._replace(own=p.own)


class UncompiledPlayDiffers(CompiledTicTacToe):
    def __init__(self):
        super().__init__()
        self.rules = self.rules._replace(play=play_keeps_own)


# ---------------------------------------------------------------------- perft, and errors of the game's own


class WrongPerft(TicTacToe):
    kernels = property(
        lambda self: make_game("tictactoe").kernels._replace(perft=lambda position, depth, count_finished: 9**depth)
    )


class TextlessError(Exception):
    def __str__(self):
        raise RuntimeError


class RaisesWithoutText(CompiledTicTacToe):
    def observe(self, state):
        raise TextlessError


class Leaves(CompiledTicTacToe):
    def observe(self, state):
        raise SystemExit(0)


class OwnError(CompiledTicTacToe):
    def observe(self, state):
        raise ZeroDivisionError("first line\nsecond line")


BROKEN_GAMES = [
    (IllegalActionAllowed, "legality: step accepts the illegal action"),
    (LegalAfterTheEnd, "legality: an action is legal in a match that is over"),
    (SamePlayerMovesOn, "perspective: current_player does not alternate"),
    (ReturnsOfTheOther, "perspective: returns are not those of player 0"),
    (ObservedByThePlayerToMove, "perspective: channel 0 does not show the player who has just moved"),
    (TwoSquaresSwapped, "symmetries: symmetry 1 does not map legal actions to legal actions"),
    (ColumnsAlone, "texts: action 0 is written 'column 0', which"),
    (WrongErrorForText, "texts: ValueError"),
    (ExampleBeyondTheEnd, "texts: the example of the presentation cannot be played: the match is over after 5 actions"),
    (LongerThanItSays, "ends: a match is longer than max_game_length=7"),
    (UncompiledPlayDiffers, "two ways: the position after action . at ply .: compiled rules give Position"),
    (WrongPerft, "perft: depth 2 counts 81 sequences, not 72"),
    (
        PointsBesideTheBoard,
        r"pointed squares: pointed_squares\(8\) gives \[9\], which is not on the board: range\(0, 9\)",
    ),
    (
        PlacesInsteadOfMoving,
        r"pointed squares: .,. does not take a stone from one of two squares to the other \(boards and actions are",
    ),
    (RaisesWithoutText, "perspective: TextlessError: its message cannot be written"),
    (Leaves, "perspective: SystemExit: 0"),
    (OwnError, "perspective: ZeroDivisionError: first line second line"),
]


@pytest.mark.parametrize(("broken", "message"), BROKEN_GAMES, ids=[message for _, message in BROKEN_GAMES])
def test_a_broken_game_is_refused_with_one_line_that_names_the_fault(broken, message):
    with pytest.raises(ConformanceError, match=rf"^\w+: ({message})") as caught:
        check_game(broken(), PERFT["tictactoe"])
    assert "\n" not in str(caught.value)


def test_a_wrong_table_of_counts_is_refused():
    with pytest.raises(ConformanceError, match="perft: depth 3 counts 504 sequences, not 505"):
        check_game(make_game("tictactoe"), (9, 72, 505))


# ---------------------------------------------------------------------- positions that repeat


def test_a_game_whose_positions_repeat_is_refused_with_what_to_do():
    reason = "ends: the position after ply 0 is met again after ply 2: positions can repeat, .*; count the plies"
    for check in (check_game, check_quickly):
        with pytest.raises(ConformanceError, match=f"pendulum: {reason}"):
            check(Pendulum())
        check(CountedPendulum())


def test_of_many_legal_actions_some_are_tried_in_the_plies_that_are_checked_one_by_one(monkeypatch):
    tried = []

    class Counting(TicTacToe):
        def step(self, state, action):
            tried.append(len(action))
            return super().step(state, action)

    game = Counting()
    plies = random_plies(game)
    CHECKS["legality"](game, plies)
    assert [count for count in tried if count > 1] == [int(game.legal_action_mask(ply.state).sum()) for ply in plies]
    tried.clear()
    monkeypatch.setattr("selfplay.games.conformance_checks.MOST_LEGAL_TRIED", 100)
    monkeypatch.setattr("selfplay.games.conformance_checks.ALL_PLIES", 2)
    CHECKS["legality"](game, plies)
    some = [count for count in tried if count > 1]
    assert some[:2] == [116, 103]
    assert max(some[2:]) < 200
    assert len(some) < len(plies)
