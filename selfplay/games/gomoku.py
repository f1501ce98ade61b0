"""Gomoku: five or more stones in a row, a column or a diagonal win; and m,n,k games on other boards.

Bit `columns * row + column` of a word is the crossing (row, column), rows counted from the top, as the board is drawn:

     3  0 1 2
     2  3 4 5
     1  6 7 8
        a b c

Player 0 is X and moves first, player 1 is O. Action i places a stone on crossing i. These are the rules of free-style
Gomoku, with no forbidden moves. With `exact`, longer lines do not win. A full board without a line is a draw.
"""

from collections.abc import Callable
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.checks import require
from selfplay.compute.bit_algebra import Word, rule, word_of
from selfplay.compute.compiled_words import bit_like
from selfplay.compute.positions import position, squares
from selfplay.games.board_checks import check_no_line, check_turns
from selfplay.games.game import Game
from selfplay.games.presentation import Presentation
from selfplay.games.rules import Rules, Symmetries

COLUMNS = "abcdefghijklmnopqrst"
FIVE = 5
NUMBERS = {2: "Two", 3: "Three", 4: "Four", 5: "Five", 6: "Six", 7: "Seven", 8: "Eight"}


@cache
def mnk_rules(rows: int, columns: int, length: int, exact: bool = False) -> Rules:
    """The rules of placing stones on `rows` x `columns` crossings until `length` (2 or more) in a line win.

    `exact`: only lines that have no more stones of the same player at their ends.
    """
    size = rows * columns
    numbers = np.arange(size).reshape(rows, columns)
    board = word_of(range(size), size)
    not_left, not_right = (word_of(part.reshape(-1).tolist(), size) for part in (numbers[:, 1:], numbers[:, :-1]))
    # A line is found by doubling: from the starts of 2 stones to those of 4, and so on, then to those of `length`.
    doublings = length.bit_length() - 1
    rest = length - (1 << doublings)

    @position
    class Position(NamedTuple):
        own: Word = squares(size)
        opp: Word = squares(size)

    def line_in(step: int, starts: NDArray[np.int64]) -> Callable[[Word], Word]:
        """The rule that finds lines in one direction, by their first square."""
        start_word = word_of(starts.reshape(-1).tolist(), size)

        @rule
        def line_starts(stones: Word) -> Word:
            found = stones
            for doubling in range(doublings):
                found = found & (found >> (step << doubling))
            found = found & (found >> (step * rest)) & start_word
            if exact:
                # A line of more stones has several of `length` next to each other.
                found = found & ~(found << step) & ~(found >> step)
            return found

        return line_starts

    across = line_in(1, numbers[:, : columns - length + 1])
    down = line_in(columns, numbers[: rows - length + 1])
    falling = line_in(columns + 1, numbers[: rows - length + 1, : columns - length + 1])
    rising = line_in(columns - 1, numbers[: rows - length + 1, length - 1 :])

    @rule
    def has_line(stones: Word) -> bool:
        """Whether `stones` have a line that wins."""
        return (across(stones) | down(stones) | falling(stones) | rising(stones)) != 0

    @rule
    def legal_actions(p: Position) -> Word:
        """The empty crossings, unless a line has ended the match."""
        if has_line(p.opp):
            return 0
        return board & ~(p.own | p.opp)

    @rule
    def play(p: Position, action: int) -> Position:
        return Position(p.opp, p.own | bit_like(board, action))

    @rule
    def is_terminal(p: Position) -> bool:
        """Whether the player who has just moved has a line, or the board is full."""
        return has_line(p.opp) or (p.own | p.opp) == board

    @rule
    def return_to_move(p: Position) -> int:
        """The other player's line is a loss for the player to move; a full board without one is a draw."""
        return -1 if has_line(p.opp) else 0

    @rule
    def with_neighbours(crossings: Word) -> Word:
        wide = crossings | ((crossings & not_right) << 1) | ((crossings & not_left) >> 1)
        return board & (wide | (wide << columns) | (wide >> columns))

    @rule
    def sensible(p: Position) -> Word:
        """The crossings at most two steps from a stone."""
        return legal_actions(p) & with_neighbours(with_neighbours(p.own | p.opp))

    return Rules(Position(0, 0), legal_actions, play, is_terminal, return_to_move, sensible=sensible)


class GomokuPresentation(Presentation):
    player_names = ("black", "white")
    stone_colours = ("black", "white")
    is_on_crossings = True
    option_names = MappingProxyType({"exact": "Longer lines do not win"})

    def __init__(self, game: "Gomoku") -> None:
        rows, columns = game.height, game.width
        self.title = f"Gomoku {columns}x{rows}" if game.length == FIVE else f"{game.length} in a row, {columns}x{rows}"
        if game.exact:
            self.title += f", exactly {game.length}"
        number = NUMBERS.get(game.length, str(game.length))
        self.aim = f"{number}{'' if game.exact else ' or more'} of your stones in a row, a column or a diagonal win."
        self.how_to_play = (
            "Black moves first; then the players take turns.",
            "A move places one stone on an empty crossing. Stones never move, and none is ever captured.",
            f"The first line of exactly {number.lower()} ends the match at once. Longer lines do not win."
            if game.exact
            else f"The first line of {number.lower()} or more ends the match at once.",
            "If the board is full and there is no such line, the match is a draw.",
        )
        # Black fills a diagonal; white plays two crossings further to the right each time, so that it blocks nothing.
        cells = [(row, column) for row in range(game.length) for column in (row, (row + 2) % columns)][:-1]
        self.example = " ".join(game.action_to_string(row * columns + column) for row, column in cells)
        self.example_caption = f"Black has {number.lower()} on a diagonal and wins."
        self.line_length, self.line_is_exact = game.length, game.exact
        self.column_names = COLUMNS[:columns]
        self.row_names = [str(row) for row in range(rows, 0, -1)]
        self.action_help = f"a crossing from a1 to {COLUMNS[columns - 1]}{rows}"
        super().__init__(game)


class Gomoku(Game):
    """Gomoku on `width` x `width` crossings, or another m,n,k game: Gomoku(4, height=3, length=3).

    Args:
        width: the number of columns, from 2 to 20.
        height: the number of rows, from 2 to 20; None: as many as columns.
        length: the number of stones in a line that win, from 2 to the longer side; None: 5, on smaller boards `width`.
        exact: whether longer lines do not win.

    Raises SettingError if an argument is out of range.
    """

    name = "gomoku"
    sizes = (9, 13, 15)
    other_sizes = range(2, len(COLUMNS) + 1)
    counting_parameters = frozenset({"exact"})
    presentation_class = GomokuPresentation

    @classmethod
    def usual_parameters(cls, size: int | None) -> dict[str, float]:
        width = size or cls.sizes[0]
        return {"height": width, "length": min(FIVE, width), "exact": False}

    def __init__(
        self, width: int = 9, height: int | None = None, length: int | None = None, exact: bool = False
    ) -> None:
        self.width, self.height = width, width if height is None else height
        self.length = min(FIVE, width) if length is None else length
        require("height", height, 2 <= self.height <= len(COLUMNS), f"from 2 to {len(COLUMNS)}")
        longest = max(width, self.height)
        require("length", self.length, 2 <= self.length <= longest, f"from 2 to {longest}, the longer side")
        self.exact = exact
        self.name = self.name_with(self.name, width, {"height": self.height, "length": self.length, "exact": exact})
        self.rules = mnk_rules(self.height, self.width, self.length, exact)
        self.num_distinct_actions = self.max_game_length = self.width * self.height
        self.observation_shape = (2, self.height, self.width)

    @property
    def symmetries(self) -> Symmetries:
        """The eight of a square, four of them turns; the four of another rectangle."""
        board = self.square_numbers
        images = [board, board[::-1], board[:, ::-1], board[::-1, ::-1]]
        if self.width == self.height:
            images += [image.T for image in images]
        return self.symmetries_of(images)

    def check_set_up(self, squares: NDArray[np.int8], to_move: int) -> None:
        check_turns(squares, to_move, self.presentation.player_names)
        check_no_line(squares, (self.height, self.width), self.length, self.exact)

    def action_to_string(self, action: int) -> str:
        row, column = divmod(action, self.width)
        return f"{COLUMNS[column]}{self.height - row}"
