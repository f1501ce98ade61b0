"""Dots and Boxes: whoever closes a box gets a point and moves again.

The grid has dots where row and column are even, boxes where both are odd, and edges elsewhere. Action i draws edge i in
reading order.
"""

from functools import cache
from typing import NamedTuple

from selfplay.compute.bit_algebra import Word, bit_count, rule, word_of
from selfplay.compute.positions import flag, position, squares
from selfplay.games.game import Game
from selfplay.games.presentation import Presentation
from selfplay.games.rules import Features, Rules


def edges_of(rows, columns):
    """The squares of the edges, in the grid of this number of rows and columns of boxes."""
    width = 2 * columns + 1
    return tuple(square for square in range((2 * rows + 1) * width) if (square // width + square % width) % 2)


@cache
def dots_rules(rows, columns):
    height, width = 2 * rows + 1, 2 * columns + 1
    grid, edges = height * width, edges_of(rows, columns)
    boxes = tuple(row * width + column for row in range(1, height, 2) for column in range(1, width, 2))
    around = tuple(word_of((box - width, box - 1, box + 1, box + width)) for box in boxes)
    num_edges, num_boxes, all_edges = len(edges), len(boxes), word_of(edges)

    @position
    class Position(NamedTuple):
        own: Word = squares(grid)
        opp: Word = squares(grid)
        edges: Word = squares(grid)
        again: int = flag()

    @rule
    def legal_actions(p):
        free = 0
        for number in range(num_edges):
            if (p.edges >> edges[number]) & 1 == 0:
                free |= 1 << number
        return free

    @rule
    def play(p, action):
        drawn, closed = p.edges | 1 << edges[action], 0
        for number in range(num_boxes):
            if (drawn & around[number]) == around[number] and (p.edges & around[number]) != around[number]:
                closed |= 1 << boxes[number]
        if closed != 0:
            return Position(p.own | closed, p.opp, drawn, 1)
        return Position(p.opp, p.own, drawn, 0)

    @rule
    def is_terminal(p):
        return p.edges == all_edges

    @rule
    def margin(p):
        return bit_count(p.own) - bit_count(p.opp)

    @rule
    def points(p):
        return bit_count(p.own), bit_count(p.opp)

    @rule
    def return_to_move(p):
        lead = margin(p)
        return 1 if lead > 0 else -1 if lead < 0 else 0

    @rule
    def moves_again(p):
        return p.again == 1

    rules = Rules(Position(0, 0, 0, 0), legal_actions, play, is_terminal, return_to_move)
    return rules._replace(moves_again=moves_again, margin=margin, points=points)


class DotsPresentation(Presentation):
    title = "Dots and Boxes"
    point_name = "boxes"

    def pointed_squares(self, action):
        return [self.game.edges[action]]


class Dots(Game):
    """Two rows of two boxes."""

    name = "dots"
    shape = (2, 2)
    presentation_class = DotsPresentation

    def __init__(self):
        rows, columns = self.shape
        self.edges, self.rules = edges_of(rows, columns), dots_rules(rows, columns)
        self.num_distinct_actions = self.max_game_length = len(self.edges)
        self.observation_shape = (4, 2 * rows + 1, 2 * columns + 1)

    def action_to_string(self, action):
        row, column = divmod(self.edges[action], self.observation_shape[2])
        return "abcdefg"[column] + str(row + 1)


class LeadOnly(Dots):
    """The same without the points of each player."""

    def __init__(self):
        super().__init__()
        self.rules = self.rules._replace(points=None)


class TwoBoxes(Dots):
    """A row of two boxes."""

    name = "two_boxes"
    shape = (1, 2)


class CountedDots(Dots):
    """Two rows of two boxes, with the lead so far as a feature."""

    name = "counted_dots"

    @property
    def features(self):
        margin = self.rules.margin
        return Features(("lead",), lead_alone(margin))


@cache
def lead_alone(margin):
    @rule
    def lead(p):
        return (margin(p),)

    return lead
