"""Tic-tac-toe: three in a row on nine squares.

Bit `3 * row + column` of a word is the square (row, column):

    0 1 2
    3 4 5
    6 7 8

Player 0 is X, player 1 is O. Action i marks square i.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.bit_algebra import Word, rule
from selfplay.errors import IllegalActionError, shortened
from selfplay.games.board_checks import check_no_line, check_turns
from selfplay.games.game import Game
from selfplay.games.presentation import Presentation
from selfplay.games.rules import Rules, Symmetries
from selfplay.games.state import State

FULL_BOARD = 0o777
LEFT_COLUMN = 0o111
TOP_ROW = 0o7
TOP_LEFT = 0o1
LINE = 3
TOP_RIGHT = 0o4

KEYS = ("123456789", "qweasdzxc")
SQUARE_OF_KEY = {key: square for keys in KEYS for square, key in enumerate(keys)}
"""The square of each key: 1 to 9 in reading order, and the block of letters at the left of a keyboard."""


@rule
def has_line(stones: Word) -> Word:
    """Whether three of `stones` are in a row, column or diagonal."""
    rows = stones & (stones >> 1) & (stones >> 2) & LEFT_COLUMN
    columns = stones & (stones >> 3) & (stones >> 6) & TOP_ROW
    diagonal = stones & (stones >> 4) & (stones >> 8) & TOP_LEFT
    antidiagonal = stones & (stones >> 2) & (stones >> 4) & TOP_RIGHT
    return (rows | columns | diagonal | antidiagonal) != 0


@rule
def legal_actions(own: Word, opp: Word) -> Word:
    """The empty squares, unless a line has ended the match."""
    return (~(own | opp) & FULL_BOARD) * ((has_line(own) | has_line(opp)) == 0)


@rule
def play(own: Word, opp: Word, move: Word) -> tuple[Word, Word]:
    """Mark one square; then it is the other's turn."""
    return opp, own | move


@rule
def is_terminal(own: Word, opp: Word) -> Word:
    """Whether there is a line, or the board is full."""
    return has_line(opp) | has_line(own) | ((own | opp) == FULL_BOARD)


@rule
def return_to_move(own: Word, opp: Word) -> Word:
    """-1 if the player who has just moved has completed a line, otherwise 0."""
    return has_line(own) * 1 - has_line(opp) * 1


@rule
def observation_entry(own: Word, opp: Word, index: Word) -> Word:
    """Channel 0: the squares of the player who has just moved; channel 1: those of the player to move."""
    return ((opp | (own << 9)) >> index) & 1


def _square_symmetries() -> NDArray[np.int64]:
    """int64[8, 9]: symmetry `s` moves square `s[i]` of the original board to square i."""
    board = np.arange(9).reshape(3, 3)
    turned = [np.rot90(board, quarter) for quarter in range(4)]
    return np.stack([b.reshape(9) for b in turned] + [b.T.reshape(9) for b in turned])


class TicTacToePresentation(Presentation):
    title = "Tic-tac-toe"
    aim = "Three of your signs in a row, a column or a diagonal win."
    player_names = ("X", "O")
    line_length = LINE
    edge_names = ("012", "012")
    action_help = "row,column from 0 to 2, or 1 to 9, or the keys qwe/asd/zxc"

    def board_text(self, state: State, row: int = 0, values: NDArray[np.float32] | None = None) -> str:
        """Values are shown on the empty squares."""
        cells = self.stone_signs(state, row)
        if values is not None:
            shown = zip(cells, values.tolist(), strict=True)
            cells = [f"{value:+.2f}" if np.isfinite(value) else f"  {cell}  " for cell, value in shown]
        return "\n".join(" ".join(cells[start : start + 3]).rstrip() for start in (0, 3, 6))

    def action_written_like(self, action: int, example: str) -> str:
        keys = next((keys for keys in KEYS if example and example.lower() in keys), None)
        return super().action_written_like(action, example) if keys is None else keys[action]


class TicTacToe(Game):
    """Tic-tac-toe, X first."""

    name = "tictactoe"
    num_distinct_actions = 9
    observation_shape = (2, 3, 3)
    max_game_length = 9
    rules = Rules((0, 0), legal_actions, play, is_terminal, return_to_move, observation_entry)
    presentation_class = TicTacToePresentation

    @property
    def symmetries(self) -> Symmetries:
        """The eight of the square: four quarter turns, each also mirrored."""
        sources = _square_symmetries()
        return Symmetries(np.argsort(sources, axis=1), np.concatenate([sources, sources + 9], axis=1))

    def state_of_squares(self, squares: Tensor) -> State:
        """X moves first, so the number of stones determines who is to move."""
        bits = torch.ones(9, dtype=torch.int64) << torch.arange(9)
        crosses, noughts = ((squares == stone) * bits for stone in (1, -1))
        lead = (crosses > 0).sum(dim=1) - (noughts > 0).sum(dim=1)
        if not ((lead == 0) | (lead == 1)).all():
            raise IllegalActionError(f"{self.name}: X moves first, so it must have as many stones as O or one more")
        to_move = lead[:, None] == 0
        own, opp = torch.where(to_move, crosses, noughts).sum(dim=1), torch.where(to_move, noughts, crosses).sum(dim=1)
        state = self.state_at(own, opp)
        returns = torch.where(lead == 0, state.returns, -state.returns) + 0.0
        return state._replace(current_player=lead.to(torch.int8), returns=returns)

    def check_set_up(self, squares: NDArray[np.int8], to_move: int) -> None:
        check_turns(squares, to_move, self.presentation.player_names)
        check_no_line(squares, (3, 3), LINE)

    def action_to_string(self, action: int) -> str:
        return f"{action // 3},{action % 3}"

    def string_to_action(self, text: str) -> int:
        text_alone = text.replace(" ", "").lower()
        if text_alone in SQUARE_OF_KEY:
            return SQUARE_OF_KEY[text_alone]
        row, _, column = text_alone.partition(",")
        if row not in {"0", "1", "2"} or column not in {"0", "1", "2"}:
            raise IllegalActionError(f"{shortened(text)!r} is not a square; write {self.presentation.action_help}")
        return 3 * int(row) + int(column)
