"""Dots and Boxes on 2x2 boxes: whoever closes a box gets a point and moves again, while the other one passes.

The grid has dots where row and column are even, boxes where both are odd, and edges elsewhere. A word has the edges and
the boxes of its player, as stones; the bit above them says that the player to move has to pass.
"""

from selfplay.compute.bit_algebra import bit_count, rule, word_of
from selfplay.errors import IllegalActionError
from selfplay.games.game import Game
from selfplay.games.presentation import Presentation
from selfplay.games.rules import Rules

SIDE = 5
SQUARES = SIDE * SIDE
EDGES = tuple(square for square in range(SQUARES) if (square // SIDE + square % SIDE) % 2)
BOXES = tuple(square for square in range(SQUARES) if square // SIDE % 2 and square % SIDE % 2)
NUM_EDGES, NUM_BOXES = len(EDGES), len(BOXES)
ALL_BOXES, PASSES = word_of(BOXES), 1 << SQUARES
AROUND = tuple(word_of((box - SIDE, box - 1, box + 1, box + SIDE)) for box in BOXES)


@rule
def legal_actions(own, opp):
    free = 0
    for number in range(NUM_EDGES):
        free = free | ((~((own | opp) >> EDGES[number]) & 1) << number)
    return free * ((own >> SQUARES) == 0)


@rule
def play(own, opp, move):
    drawn, closed, before = 0, 0, own | opp
    for number in range(NUM_EDGES):
        drawn = drawn | (((move >> number) & 1) << EDGES[number])
    for number in range(NUM_BOXES):
        around = AROUND[number]
        is_closed = (((before | drawn) & around) == around) & ((before & around) != around)
        closed = closed | ((is_closed * 1) << BOXES[number])
    return opp | ((closed != 0) * PASSES), (own & (PASSES - 1)) | drawn | closed


@rule
def is_terminal(own, opp):
    return ((own | opp) & ALL_BOXES) == ALL_BOXES


@rule
def points(own, opp):
    return bit_count(own & ALL_BOXES)


@rule
def margin(own, opp):
    return points(own, opp) - points(opp, own)


@rule
def return_to_move(own, opp):
    lead = margin(own, opp)
    return (lead > 0) * 1 - (lead < 0) * 1


@rule
def observation_entry(own, opp, index):
    """Channel 0: the player who has just moved; 1: the player to move; 2: whether this one has to pass."""
    channel = index // SQUARES
    stones = (opp * (channel == 0)) | (own * (channel == 1))
    return ((stones >> (index - channel * SQUARES)) & 1) | ((own >> SQUARES) * (channel == 2))


class DotsPresentation(Presentation):
    title = "Dots and Boxes"
    point_name = "boxes"

    def pointed_squares(self, action):
        return [] if action == NUM_EDGES else [EDGES[action]]


class Dots(Game):
    name = "dots"
    num_distinct_actions = NUM_EDGES + 1
    pass_action = NUM_EDGES
    observation_shape = (3, SIDE, SIDE)
    max_game_length = 2 * len(EDGES)
    rules = Rules((0, 0), legal_actions, play, is_terminal, return_to_move, observation_entry, margin, points=points)
    presentation_class = DotsPresentation

    def action_to_string(self, action):
        return "pass" if action == self.pass_action else "abcde"[EDGES[action] % SIDE] + str(EDGES[action] // SIDE + 1)

    def string_to_action(self, text):
        texts = [self.action_to_string(action) for action in range(self.num_distinct_actions)]
        if text not in texts:
            raise IllegalActionError(f"{text!r} is not an edge; write {self.presentation.action_help}")
        return texts.index(text)


class LeadOnly(Dots):
    """The same without the points of each player."""

    rules = Dots.rules._replace(points=None)
