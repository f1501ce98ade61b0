"""Connect Four: stones drop into seven columns of height six; four in a row, column or diagonal win.

Bit `7 * row + column` of a word is a square, rows counted from the top, as the board is drawn:

     0  1  2  3  4  5  6
     7  8  9 10 11 12 13
    14 15 16 17 18 19 20
    21 22 23 24 25 26 27
    28 29 30 31 32 33 34
    35 36 37 38 39 40 41

Player 0 is X (red), player 1 is O (yellow). Action i drops a stone into column i. Square i of the top row is bit i, the
bit of action i, so the legal actions are the empty squares of the top row.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word, rule, word_of
from selfplay.compute.positions import position, squares
from selfplay.errors import IllegalActionError
from selfplay.games.board_checks import check_no_line, check_turns
from selfplay.games.game import Game
from selfplay.games.move_texts import without_move_numbers
from selfplay.games.presentation import Presentation
from selfplay.games.rules import Rules, Symmetries
from selfplay.games.state import State

ROWS, COLUMNS = 6, 7
SQUARES = ROWS * COLUMNS
LINE = 4

FULL_BOARD = word_of(range(SQUARES))
TOP_ROW = word_of(range(COLUMNS))
BOTTOM_ROW = word_of(range(SQUARES - COLUMNS, SQUARES))
LEFT_COLUMN = word_of(range(0, SQUARES, COLUMNS))
ENDS_AT_LEFT = word_of(square for square in range(SQUARES) if square % COLUMNS <= COLUMNS - 4)
"""The squares from which a line of four fits to the right."""
ENDS_AT_RIGHT = word_of(square for square in range(SQUARES) if square % COLUMNS >= 3)
"""The squares from which a line of four fits to the left."""


@position
class Position(NamedTuple):
    own: Word = squares(SQUARES)
    opp: Word = squares(SQUARES)


@rule
def has_line(stones: Word) -> bool:
    """Whether four of `stones` are in a row, column or diagonal. Each line is tested from its top or left end."""
    across, upright = stones & (stones >> 1), stones & (stones >> COLUMNS)
    falling, rising = stones & (stones >> (COLUMNS + 1)), stones & (stones >> (COLUMNS - 1))
    to_right = ((across & (across >> 2)) | (falling & (falling >> 2 * (COLUMNS + 1)))) & ENDS_AT_LEFT
    to_left = rising & (rising >> 2 * (COLUMNS - 1)) & ENDS_AT_RIGHT
    return (to_right | to_left | (upright & (upright >> 2 * COLUMNS))) != 0


@rule
def legal_actions(p: Position) -> Word:
    """The columns whose top square is empty; none if the player who has just moved has completed a line."""
    if has_line(p.opp):
        return 0
    return TOP_ROW & ~(p.own | p.opp)


@rule
def play(p: Position, action: int) -> Position:
    """Drop a stone to the lowest empty square of its column."""
    stones = p.own | p.opp
    column, ground = LEFT_COLUMN << action, stones >> COLUMNS | BOTTOM_ROW
    return Position(p.opp, p.own | column & ground & ~stones)


@rule
def is_terminal(p: Position) -> bool:
    """Whether the player who has just moved has a line, or the board is full."""
    return has_line(p.opp) or (p.own | p.opp) == FULL_BOARD


@rule
def return_to_move(p: Position) -> int:
    """The other player's line is a loss for the player to move; a full board without one is a draw."""
    return -1 if has_line(p.opp) else 0


class ConnectFourPresentation(Presentation):
    title = "Connect Four"
    aim = "Drop discs into the columns; four of yours in a row, a column or a diagonal win."
    player_names = ("red", "yellow")
    stone_colours = ("red", "yellow")
    line_length = LINE
    column_names = "".join(str(column + 1) for column in range(COLUMNS))
    action_help = f"a column from 1 to {COLUMNS}"
    how_to_play = (
        "Red moves first; then the players take turns.",
        "A move drops one of your discs into a column that is not full.",
        "The disc falls to the lowest empty square of the column and stays there.",
        "Whoever first has four discs in a row without a gap wins at once.",
        "If the board is full and nobody has four in a row, the match is a draw.",
        "With perfect play, the player who moves first wins, and has to start in the middle column.",
    )
    example = "4523544544353554336"
    example_caption = "Red has four on a diagonal and wins."

    def pointed_squares(self, action: int) -> range:
        """Any square of the column."""
        return range(action, SQUARES, COLUMNS)

    def action_in_words(self, action: int) -> str:
        return f"column {action + 1}"

    def board_text(self, state: State, row: int = 0, values: NDArray[np.float32] | None = None) -> str:
        """The last line holds the numbers of the columns; the one above it their values, if they are shown."""
        cells = self.stone_signs(state, row)
        lines = [cells[start : start + COLUMNS] for start in range(0, SQUARES, COLUMNS)]
        size = 1
        if values is not None:
            lines.append([f"{value:+.2f}" if np.isfinite(value) else "-" for value in values])
            size = max(len("+0.00"), *map(len, lines[-1]))
        lines.append([self.game.action_to_string(action) for action in range(COLUMNS)])
        return "\n".join(" ".join(cell.center(size) for cell in line).rstrip() for line in lines)


class ConnectFour(Game):
    """Connect Four on seven columns of height six, X first."""

    name = "connect_four"
    num_distinct_actions = COLUMNS
    observation_shape = (2, ROWS, COLUMNS)
    max_game_length = SQUARES
    rules = Rules(Position(0, 0), legal_actions, play, is_terminal, return_to_move)
    presentation_class = ConnectFourPresentation
    exact_solver = "connect_four"

    @property
    def symmetries(self) -> Symmetries:
        """The identity, and the mirror that exchanges left and right."""
        board = self.square_numbers
        return self.symmetries_of([board, board[:, ::-1]], actions=np.stack([board[0], board[0, ::-1]]))

    def action_to_string(self, action: int) -> str:
        return str(action + 1)

    def check_set_up(self, squares: NDArray[np.int8], to_move: int) -> None:
        check_turns(squares, to_move, self.presentation.player_names)
        floating = (squares[:-COLUMNS] != 0) & (squares[COLUMNS:] == 0)
        if floating.any():
            name = self.presentation.square_name(int(floating.argmax()))
            raise IllegalActionError(f"the stone in {name} has no stone below it")
        check_no_line(squares, (ROWS, COLUMNS), LINE)

    def write_transcript(self, actions: Iterable[int]) -> str:
        return "".join(map(self.action_to_string, actions))

    def read_transcript(self, text: str, start: State | None = None) -> list[int]:
        """Columns from 1 to 7, with or without spaces between them: 4453."""
        return self._actions_of(column for column in without_move_numbers(text) if not column.isspace())
