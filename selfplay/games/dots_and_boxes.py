"""Dots and Boxes: draw lines between dots, and close more boxes than the other player.

The board of n x n boxes is drawn on a grid of (2 n + 1) x (2 n + 1) squares: dots (+), lines and boxes. Bit
`width * row + column` of a word is the square (row, column). With n = 2:

    1  +  1  +  3  +
    2  5  X  7  .  9
    3  + 11  + 13  +
    4 15  . 17  . 19
    5  + 21  + 23  +
       a  b  c  d  e

Player 0 is X, player 1 is O. Action i draws the line on square i, which is an odd number; no other action is ever
legal. Whoever draws the fourth line of a box owns it and moves again.
"""

from functools import cache
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from selfplay.compute.bit_algebra import Word, bit_count, rule, word_of
from selfplay.compute.positions import flag, position, squares
from selfplay.games.game import Game
from selfplay.games.presentation import Presentation
from selfplay.games.rules import Features, Position, Rules, Symmetries
from selfplay.games.state import State

COLUMNS = "abcdefghijk"


@cache
def dots_and_boxes_rules(boxes: int) -> Rules:
    """The rules on `boxes` x `boxes` boxes."""
    width = 2 * boxes + 1
    size = width * width
    every_line = word_of(range(1, size, 2), size)
    every_box = word_of((width * row + column for row in range(1, width, 2) for column in range(1, width, 2)), size)
    one = word_of([0], size)

    @position
    class Position(NamedTuple):
        own: Word = squares(size)
        """The boxes of the player to move."""
        opp: Word = squares(size)
        lines: Word = squares(size)
        again: int = flag()
        """Whether the player to move has just closed a box."""

    @rule
    def legal_actions(p: Position) -> Word:
        return every_line & ~p.lines

    @rule
    def play(p: Position, action: int) -> Position:
        lines = p.lines | one << action
        closed = every_box & (lines << 1) & (lines >> 1) & (lines << width) & (lines >> width) & ~(p.own | p.opp)
        if closed != 0:
            return Position(p.own | closed, p.opp, lines, 1)
        return Position(p.opp, p.own, lines, 0)

    @rule
    def moves_again(p: Position) -> bool:
        return p.again == 1

    @rule
    def margin(p: Position) -> Word:
        return bit_count(p.own) - bit_count(p.opp)

    @rule
    def points(p: Position) -> tuple[int, int]:
        return bit_count(p.own), bit_count(p.opp)

    @rule
    def return_to_move(p: Position) -> int:
        return (margin(p) > 0) * 1 - (margin(p) < 0) * 1

    return Rules(
        Position(0, 0, 0, 0),
        legal_actions,
        play,
        return_to_move=return_to_move,
        moves_again=moves_again,
        margin=margin,
        points=points,
    )


@rule
def lead_in_boxes(p: Position) -> tuple[Word, ...]:
    return (bit_count(p.own) - bit_count(p.opp),)


class DotsAndBoxesPresentation(Presentation):
    player_names = ("X", "O")
    point_name = "boxes"
    aim = "Close more boxes than the other player."
    how_to_play = (
        "X moves first.",
        "A move draws one line between two neighbouring dots, wherever there is none.",
        "Who draws the fourth line of a box owns the box, and must move again.",
        "If no box is closed, it is the other player's turn.",
        "A line can close two boxes at once. Both belong to the player who has drawn it.",
        "The match ends when all lines are drawn. Equal numbers of boxes are a draw.",
    )
    draws_lines = True
    square_marks = MappingProxyType({"lines": "line"})
    hidden_fields = ("again",)
    example = "b1 d1 a2 b3 c2"
    example_caption = "X has drawn the fourth line of the first box and moves again."

    def __init__(self, game: "DotsAndBoxes") -> None:
        width = game.width
        self.title = f"Dots and Boxes {game.boxes}x{game.boxes}"
        self.column_names = COLUMNS[:width]
        self.action_help = f"the place of a line, from b1 to {COLUMNS[width - 2]}{width}"
        super().__init__(game)

    def square_signs(self, state: State, row: int = 0) -> list[str]:
        """The boxes of both players, dots and lines; the places of other lines and open boxes are empty."""
        signs, width = self.stone_signs(state, row), self.game.observation_shape[2]
        for square, is_drawn in enumerate(self.marks(state)[row].tolist()):
            is_across, is_odd_row = square % width % 2, square // width % 2
            if is_across == is_odd_row:
                signs[square] = signs[square].replace(".", " ") if is_odd_row else "+"
            elif is_drawn:
                signs[square] = "-" if is_across else "|"
        return signs

    def pointed_squares(self, action: int) -> list[int]:
        return [action]


class DotsAndBoxes(Game):
    """Dots and Boxes on `boxes` x `boxes` boxes, X first."""

    name = "dots_and_boxes"
    sizes = (3, 4, 5)
    presentation_class = DotsAndBoxesPresentation
    usual_evaluation = "boxes"

    def __init__(self, boxes: int = 3) -> None:
        self.boxes, self.width = boxes, 2 * boxes + 1
        self.name = self.name_with(self.name, boxes)
        self.rules = dots_and_boxes_rules(boxes)
        self.features = Features(("boxes",), lead_in_boxes)
        self.num_distinct_actions = self.width**2
        self.observation_shape = (4, self.width, self.width)
        self.max_game_length = 2 * boxes * (boxes + 1)
        self.most_points = float(boxes * boxes)

    @property
    def symmetries(self) -> Symmetries:
        """The eight of a square."""
        turned = [np.rot90(self.square_numbers, turns) for turns in range(4)]
        return self.symmetries_of([image for one in turned for image in (one, one.T)])

    def action_to_string(self, action: int) -> str:
        row, column = divmod(action, self.width)
        return f"{COLUMNS[column]}{row + 1}"
