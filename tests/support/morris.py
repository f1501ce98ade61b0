"""Three men's morris: each player places three stones and then moves them along the lines to free points.

A line wins. The words count the plies above the squares, and a match of LIMIT plies is a draw. Action i below 9 places
a stone on point i; the others move a stone between two neighbouring points, in either direction.
"""

from selfplay.compute.bit_algebra import bit_count, rule, word_of
from selfplay.errors import IllegalActionError
from selfplay.games.game import Game
from selfplay.games.presentation import Presentation
from selfplay.games.rules import Rules

POINTS, LIMIT = 9, 12
BOARD = (1 << POINTS) - 1
LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
MASKS = tuple(map(word_of, LINES))
PAIRS = tuple(sorted({(line[step], line[step + 1]) for line in LINES for step in (0, 1)}))


@rule
def has_line(stones):
    found = 0
    for line in range(len(LINES)):
        points = MASKS[line]
        found = found | ((stones & points) == points)
    return found != 0


@rule
def plies(own, opp):
    return (own >> POINTS) + (opp >> POINTS)


@rule
def is_terminal(own, opp):
    return has_line(opp & BOARD) | (plies(own, opp) >= LIMIT)


@rule
def legal_actions(own, opp):
    free = ~(own | opp) & BOARD
    placing = free * (bit_count(own & BOARD) < 3)
    moving = 0
    for number in range(len(PAIRS)):
        one, other = PAIRS[number]
        is_open = ((own >> one) & (free >> other) & 1) | ((own >> other) & (free >> one) & 1)
        moving = moving | (is_open << (POINTS + number))
    return (placing | (moving * (bit_count(own & BOARD) == 3))) * (is_terminal(own, opp) == 0)


@rule
def play(own, opp, move):
    changed = move & BOARD
    for number in range(len(PAIRS)):
        one, other = PAIRS[number]
        changed = changed | (((move >> (POINTS + number)) & 1) * ((1 << one) | (1 << other)))
    return opp, (own ^ changed) + (1 << POINTS)


@rule
def return_to_move(own, opp):
    return -1 * has_line(opp & BOARD)


@rule
def observation_entry(own, opp, index):
    """The stones of the player who has just moved and those of the other; then the bits of both counters."""
    is_own, is_count = (index // POINTS) & 1, (index >= 2 * POINTS) * 1
    word = (own * is_own) | (opp * (1 - is_own))
    return (word >> (index % POINTS + POINTS * is_count)) & 1


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
    observation_shape = (4, 3, 3)
    max_game_length = LIMIT
    rules = Rules((0, 0), legal_actions, play, is_terminal, return_to_move, observation_entry)
    presentation_class = MorrisPresentation

    def action_to_string(self, action):
        return "".join(map(point_name, self.presentation_class.pointed_squares(None, action)))

    def string_to_action(self, text):
        for action in range(self.num_distinct_actions):
            if self.action_to_string(action) == text:
                return action
        raise IllegalActionError(f"{text!r} is not a move; write {self.presentation.action_help}")


class AskingPresentation(MorrisPresentation):
    """Every action points at its squares, as if no stone were moved: some clicks could mean several moves."""

    moves_stones = False


class AskingMorris(Morris):
    presentation_class = AskingPresentation
