"""Tic-tac-toe, on boards that are drawn."""

import pytest
import torch

from selfplay.errors import IllegalActionError
from selfplay.games.distinct_positions import distinct_positions
from selfplay.games.tictactoe import TicTacToe

GAME = TicTacToe()

LINES = ["XXX......", "...XXX...", "......XXX", "X..X..X..", ".X..X..X.", "..X..X..X", "X...X...X", "..X.X.X.."]


def word(board, stone):
    return sum(1 << square for square, cell in enumerate(board) if cell == stone)


def position(board, to_move="X"):
    """The position drawn as nine cells, row by row, as a state with player 0 to move."""
    other = "O" if to_move == "X" else "X"
    return GAME.state_at(torch.tensor([[word(board, to_move), word(board, other)]]))


def test_three_stones_win_only_on_the_eight_lines():
    own = torch.tensor([bits for bits in range(512) if bits.bit_count() == 3])
    won = GAME.state_at(torch.stack([own, torch.zeros_like(own)], dim=1)).terminated
    assert set(own[won].tolist()) == {word(line, "X") for line in LINES}


def test_a_played_match_alternates_and_gives_the_winner_the_return():
    # X X X
    # O O .
    # . . .
    after_four = GAME.state_after(["0,0", "1,0", "0,1", "1,1"])
    assert after_four.current_player.tolist() == [0]
    assert GAME.presentation.board_text(after_four) == "X X .\nO O .\n. . ."
    final = GAME.step(after_four, torch.tensor([2]))
    assert GAME.presentation.board_text(final) == "X X X\nO O .\n. . ."
    assert (final.terminated.tolist(), final.returns.tolist()) == ([True], [1.0])
    assert final.returns_to(torch.tensor([1])).tolist() == [-1.0]


def test_the_observation_shows_the_player_who_has_just_moved_in_channel_0():
    # X . .
    # . O .     O has just moved
    # . . .
    seen = GAME.observe(GAME.state_after(["0,0", "1,1"]))
    assert seen.dtype == torch.float32
    assert seen.tolist() == [[[[0, 0, 0], [0, 1, 0], [0, 0, 0]], [[1, 0, 0], [0, 0, 0], [0, 0, 0]]]]


def test_an_occupied_square_is_refused_and_the_legal_ones_are_named():
    state = GAME.state_after(["0,0"])
    with pytest.raises(IllegalActionError, match=r"action 0,0 is not legal here: it is occupied"):
        GAME.step(state, torch.tensor([0]))


@pytest.mark.parametrize(("text", "action"), [("0,0", 0), ("0,2", 2), ("1,0", 3), (" 2 , 1 ", 7)])
def test_a_square_is_read_as_row_and_column(text, action):
    assert GAME.string_to_action(text) == action


@pytest.mark.parametrize("keys", ["123456789", "qweasdzxc", "QWEASDZXC"])
def test_a_square_is_read_as_a_key_in_reading_order(keys):
    assert [GAME.string_to_action(key) for key in keys] == list(range(9))
    assert GAME.string_to_action(f" {keys[4]} ") == 4


def test_a_text_that_is_not_a_square_is_refused():
    for text in ("3,0", "0"):
        with pytest.raises(IllegalActionError, match="is not a move"):
            GAME.string_to_action(text)


# ---------------------------------------------------------------------- boards of squares


def test_squares_of_a_board_are_those_of_x_and_o():
    # X . O
    # . X .
    # O . .
    state = GAME.state_after(["0,0", "0,2", "1,1", "2,0"])
    assert GAME.num_squares == 9
    assert GAME.squares(state).tolist() == [[1, 0, -1, 0, 1, 0, -1, 0, 0]]
    assert GAME.squares(GAME.step(state, torch.tensor([8]))).tolist() == [[1, 0, -1, 0, 1, 0, -1, 0, 1]]


def test_every_position_is_recovered_from_its_squares():
    state = GAME.init()
    for _ in range(9):
        parents, actions = GAME.legal_action_mask(state).nonzero(as_tuple=True)
        state = GAME.step(state.select(parents), actions)
        state = state.select(distinct_positions(state.position)[0])
        assert all(map(torch.equal, GAME.state_of_squares(GAME.squares(state)), state))
