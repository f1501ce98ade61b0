"""English draughts: the published counts of moves, captures and ends, the texts of moves and the board."""

import pytest
import torch

from selfplay.compute.positions import packed_array
from selfplay.errors import IllegalActionError
from selfplay.games import make_game
from selfplay.games.conformance import check_quickly
from selfplay.games.draughts import DARK, QUIET, number_of
from selfplay.games.state import State

GAME = make_game("draughts")
RULES = GAME.rules
PERFT = [7, 49, 302, 1_469, 7_361, 36_768, 179_740, 845_931, 3_963_680]
"""Sequences of whole moves by depth, a capture of several pieces being one move; https://damforum.nl, A. Bik."""
SQUARE = {number_of(square): square for square in DARK}


def position(black: list[int], white: list[int], kings: list[int] = [], quiet: int = 0):  # noqa: B006
    """A position in which black, whose men move up, is to move."""
    boards = (sum(1 << SQUARE[number] for number in numbers) for numbers in (black, white, kings))
    return RULES.position(*boards, 0, 1, quiet)


def state_of(p) -> State:
    return GAME.state_at(torch.from_numpy(packed_array([p])))


def legal(state: State) -> set[str]:
    return {GAME.action_to_string(action) for action in GAME.legal_action_mask(state)[0].nonzero()[:, 0].tolist()}


def after_each_move(state: State) -> State:
    """The positions after each whole move, in which the other player is to move."""
    done = list[State]()
    while state.batch_size:
        rows, actions = GAME.legal_action_mask(state).nonzero().T
        before, state = state, GAME.step_unchecked(state.select(rows), actions)
        goes_on = state.current_player == before.current_player[rows]
        done.append(state.select(~goes_on))
        state = state.select(goes_on)
    return State(*(torch.cat(fields) for fields in zip(*done, strict=True)))


@pytest.mark.parametrize("depth", [6, pytest.param(9, marks=pytest.mark.slow)])
def test_whole_moves_are_as_many_as_published(depth: int) -> None:
    state, counts = GAME.init(), []
    for _ in range(depth):
        state = after_each_move(state)
        counts.append(state.batch_size)
    assert counts == PERFT[:depth]


def test_a_capture_is_compulsory_and_goes_on_with_the_same_piece() -> None:
    state = state_of(position([11, 4], [15, 16, 24]))
    # 11 can capture 15 or 16; 4 cannot move, because a capture must be made.
    assert legal(state) == {"11x18", "11x20"}
    state = GAME.follow([GAME.string_to_action("11x20")], state)
    assert state.current_player.tolist() == [0]
    assert legal(state) == {"20x27"}
    state = GAME.follow([GAME.string_to_action("20x27")], state)
    assert state.current_player.tolist() == [1]
    assert legal(state) == {"15-10", "15-11"}


def test_a_man_that_becomes_a_king_by_a_capture_stops_and_kings_move_backwards() -> None:
    state = GAME.follow([GAME.string_to_action("22x31")], state_of(position([22], [26, 27])))
    # The king could go on over 27.
    assert state.current_player.tolist() == [1]
    assert int(GAME.positions(state)[0].kings) == 1 << SQUARE[31]
    assert legal(state) == {"27-23", "27-24"}
    assert legal(state_of(position([18], [32], kings=[18]))) == {"18-14", "18-15", "18-22", "18-23"}
    assert legal(state_of(position([18], [32]))) == {"18-22", "18-23"}


def test_a_player_who_cannot_move_loses_and_quiet_moves_end_in_a_draw() -> None:
    blocked = position([12], [16, 19])
    assert RULES.is_terminal(blocked)
    assert RULES.return_to_move(blocked) == -1
    assert RULES.return_to_move(position([], [16])) == -1
    almost = state_of(position([1, 6], [32], kings=[1, 32], quiet=QUIET - 1))
    drawn = GAME.follow([GAME.string_to_action("1-5")], almost)
    assert (drawn.terminated.tolist(), drawn.returns.tolist()) == ([True], [0.0])
    # The move of a man begins the count again.
    assert not bool(GAME.follow([GAME.string_to_action("6-10")], almost).terminated)


def test_moves_are_written_in_pdn_and_kings_are_capitals() -> None:
    check_quickly(GAME)
    state = GAME.position_after(GAME.presentation.example)
    assert GAME.presentation.board_text(state).splitlines() == [
        "   1 2 3 4 5 6 7 8",
        " 1   o   o   o   o",
        " 2 o   o   o   o",
        " 3   o   o   x   o",
        " 4 .   .   .   .",
        " 5   .   .   .   .",
        " 6 x   .   x   x",
        " 7   x   x   x   x",
        " 8 x   x   x   x",
    ]
    assert "X" in GAME.presentation.board_text(state_of(position([18], [32], kings=[18])))
    for text in ("11x15", "15-22", "1-33", "11", ""):
        with pytest.raises(IllegalActionError, match="is not a move; write a step such as 11-15"):
            GAME.string_to_action(text)
