"""Tic-tac-toe: three in a row on nine squares; on a larger board of n x n squares, n in a row.

Bit `n * row + column` of a word is the square (row, column):

    0 1 2
    3 4 5
    6 7 8

Player 0 is X, player 1 is O. Action i marks square i.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.bit_algebra import Word, rule, word_of
from selfplay.compute.positions import position, squares
from selfplay.errors import IllegalActionError
from selfplay.games.board_checks import check_no_line, check_turns
from selfplay.games.game import Game
from selfplay.games.presentation import Presentation
from selfplay.games.rules import Rules, Symmetries
from selfplay.games.state import State

NUMBERS = ("Three", "Four", "Five", "Six", "Seven", "Eight")
KEYS = ("123456789", "qweasdzxc")
"""On nine squares, the keys of each: 1 to 9 in reading order, and the block of letters at the left of a keyboard."""


@cache
def tictactoe_rules(width: int) -> Rules:
    """The rules on a board of `width` x `width` squares (3 to 8)."""
    size = width * width
    board = word_of(range(size))
    left_column, top_row = word_of(range(0, size, width)), word_of(range(width))
    top_left, top_right = 1, 1 << (width - 1)

    @position
    class Position(NamedTuple):
        own: Word = squares(size)
        opp: Word = squares(size)

    @rule
    def has_line(stones: Word) -> bool:
        """Whether `stones` fill a row, a column or a diagonal."""
        rows, columns = stones & left_column, stones & top_row
        diagonal, antidiagonal = stones & top_left, stones & top_right
        for step in range(1, width):
            rows, columns = rows & (stones >> step), columns & (stones >> (width * step))
            diagonal = diagonal & (stones >> ((width + 1) * step))
            antidiagonal = antidiagonal & (stones >> ((width - 1) * step))
        return (rows | columns | diagonal | antidiagonal) != 0

    @rule
    def legal_actions(p: Position) -> Word:
        """The empty squares, unless a line has ended the match."""
        if has_line(p.opp) or has_line(p.own):
            return 0
        return board & ~(p.own | p.opp)

    @rule
    def play(p: Position, action: int) -> Position:
        return Position(p.opp, p.own | 1 << action)

    @rule
    def return_to_move(p: Position) -> int:
        """-1 if the player who has just moved has completed a line, otherwise 0."""
        return has_line(p.own) - has_line(p.opp)

    return Rules(Position(0, 0), legal_actions, play, return_to_move=return_to_move)


class TicTacToePresentation(Presentation):
    player_names = ("X", "O")

    def __init__(self, game: "TicTacToe") -> None:
        self.game: TicTacToe = game
        width = self.line_length = game.width
        self.title = "Tic-tac-toe" if width == 3 else f"Tic-tac-toe {width}x{width}"
        number = NUMBERS[width - 3]
        self.aim = f"{number} of your signs in a row, a column or a diagonal win."
        self.how_to_play = (
            "X moves first; then the players take turns.",
            "A move puts your sign on an empty square, where it stays until the end.",
            f"The first line of {number.lower()} ends the match at once.",
            "If the board is full and there is no such line, the match is a draw.",
            "If neither player makes a mistake, it always ends in a draw.",
        )
        # X fills the diagonal; O plays two squares further to the right each time, so that it blocks nothing.
        moves = [f"{row},{column}" for row in range(width) for column in (row, (row + 2) % width)]
        self.example = " ".join(moves[:-1])
        self.example_caption = f"X has {number.lower()} on a diagonal and wins."
        self.edge_names = ("".join(map(str, range(width))),) * 2
        numbers = f"row,column from 0 to {width - 1}, or 1 to {width * width}"
        self.action_help = f"{numbers}, or the keys qwe/asd/zxc" if width == 3 else numbers

    def board_text(self, state: State, row: int = 0, values: NDArray[np.float32] | None = None) -> str:
        """Values are shown on the empty squares."""
        cells = self.stone_signs(state, row)
        if values is not None:
            shown = zip(cells, values.tolist(), strict=True)
            cells = [f"{value:+.2f}" if np.isfinite(value) else f"  {cell}  " for cell, value in shown]
        width = self.game.width
        return "\n".join(" ".join(cells[start : start + width]).rstrip() for start in range(0, len(cells), width))

    def action_written_like(self, action: int, example: str) -> str:
        keys = next((keys for keys in self.game.keys if example and example.lower() in keys), None)
        return super().action_written_like(action, example) if keys is None else keys[action]


class TicTacToe(Game):
    """Tic-tac-toe on `width` x `width` squares, X first."""

    name = "tictactoe"
    sizes = (3, 4, 5, 6, 7, 8)
    presentation_class = TicTacToePresentation

    def __init__(self, width: int = 3) -> None:
        self.width = width
        self.name = self.name_with(self.name, width)
        self.rules = tictactoe_rules(width)
        self.num_distinct_actions = self.max_game_length = width * width
        self.observation_shape = (2, width, width)
        numbers = [str(square + 1) for square in range(width * width)]
        self.keys = tuple(map(list, KEYS)) if width == 3 else (numbers,)

    @property
    def symmetries(self) -> Symmetries:
        """The eight of the square: four quarter turns, each also mirrored."""
        turned = [np.rot90(self.square_numbers, quarter) for quarter in range(4)]
        return self.symmetries_of([*turned, *(board.T for board in turned)])

    def state_of_squares(self, squares: Tensor) -> State:
        """X moves first, so the number of stones determines who is to move."""
        bits = torch.ones_like(squares, dtype=torch.int64) << torch.arange(self.num_distinct_actions)
        crosses, noughts = ((squares == stone) * bits for stone in (1, -1))
        lead = squares.sum(dim=1)
        if not ((lead == 0) | (lead == 1)).all():
            raise IllegalActionError(f"{self.name}: X moves first, so it must have as many stones as O or one more")
        to_move = lead[:, None] == 0
        own, opp = torch.where(to_move, crosses, noughts).sum(dim=1), torch.where(to_move, noughts, crosses).sum(dim=1)
        state = self.state_at(torch.stack([own, opp], dim=1))
        returns = torch.where(lead == 0, state.returns, -state.returns) + 0.0
        return state._replace(current_player=lead.to(torch.int8), returns=returns)

    def check_set_up(self, squares: NDArray[np.int8], to_move: int) -> None:
        check_turns(squares, to_move, self.presentation.player_names)
        check_no_line(squares, (self.width, self.width), self.width)

    def action_to_string(self, action: int) -> str:
        return f"{action // self.width},{action % self.width}"

    def other_texts(self, action: int) -> list[str]:
        spaced = (self.action_to_string(action).replace(",", comma) for comma in (", ", " ,", " , "))
        return [*spaced, *(keys[action] for keys in self.keys)]
