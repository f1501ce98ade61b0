"""Three men's morris: each player places three stones and then moves them along the lines to free points.

A line wins, and a match of LIMIT plies is a draw. Action i below 9 places a stone on point i; the others move a stone
between two neighbouring points, in either direction.
"""

from typing import NamedTuple

from selfplay.compute.bit_algebra import Word, bit_count, rule, word_of
from selfplay.compute.positions import number, position, squares
from selfplay.games.game import Game
from selfplay.games.presentation import Presentation
from selfplay.games.rules import Rules

POINTS, LIMIT = 9, 12
BOARD = (1 << POINTS) - 1
LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
MASKS = tuple(map(word_of, LINES))
PAIRS = tuple(sorted({(line[step], line[step + 1]) for line in LINES for step in (0, 1)}))


@position
class Position(NamedTuple):
    own: Word = squares(POINTS)
    opp: Word = squares(POINTS)
    plies: int = number(4)


@rule
def has_line(stones):
    found = False
    for line in range(len(MASKS)):
        found |= (stones & MASKS[line]) == MASKS[line]
    return found


@rule
def is_terminal(p):
    return has_line(p.opp) or p.plies == LIMIT


@rule
def legal_actions(p):
    if is_terminal(p):
        return 0
    free = BOARD & ~(p.own | p.opp)
    if bit_count(p.own) < 3:
        return free
    moves = 0
    for pair in range(len(PAIRS)):
        one, other = PAIRS[pair]
        if ((p.own >> one) & (free >> other) & 1) | ((p.own >> other) & (free >> one) & 1):
            moves |= 1 << (POINTS + pair)
    return moves


@rule
def play(p, action):
    if action < POINTS:
        changed = 1 << action
    else:
        one, other = PAIRS[action - POINTS]
        changed = 1 << one | 1 << other
    return Position(p.opp, p.own ^ changed, p.plies + 1)


@rule
def return_to_move(p):
    return -1 if has_line(p.opp) else 0


def point_name(point):
    return "abc"[point % 3] + "321"[point // 3]


class MorrisPresentation(Presentation):
    title = "Three men's morris"
    action_help = "a point, such as b2, or two points, such as b2c3"
    column_names, row_names = "abc", "321"
    moves_stones = True

    def pointed_squares(self, action):
        return [action] if action < POINTS else PAIRS[action - POINTS]


class Morris(Game):
    name = "morris"
    num_distinct_actions = POINTS + len(PAIRS)
    observation_shape = (6, 3, 3)
    max_game_length = LIMIT
    rules = Rules(Position(0, 0, 0), legal_actions, play, is_terminal, return_to_move)
    presentation_class = MorrisPresentation

    def action_to_string(self, action):
        return "".join(map(point_name, self.presentation_class.pointed_squares(None, action)))


class AskingPresentation(MorrisPresentation):
    """Every action points at its squares, as if no stone were moved: some clicks could mean several moves."""

    moves_stones = False


class AskingMorris(Morris):
    presentation_class = AskingPresentation


class UntoldMorris(AskingMorris):
    """Its actions have no texts."""

    action_to_string = Game.action_to_string
