"""A game whose positions can repeat: a stone on five squares is moved left or right; who moves it to an end wins.

In `CountedPendulum` the second word counts the plies, and the match is drawn after `LIMIT`.
"""

from selfplay.compute.bit_algebra import rule
from selfplay.errors import IllegalActionError
from selfplay.games.game import Game
from selfplay.games.rules import Rules

SQUARES, LIMIT, COUNTER_BITS = 5, 8, 4
NAMES = ("left", "right")


@rule
def is_at_end(own, opp):
    return (own & 0b10001) != 0


@rule
def legal_actions(own, opp):
    return 0b11 * (1 - is_at_end(own, opp) * 1)


@rule
def play(own, opp, move):
    left = move & 1
    return ((own >> 1) * left) | ((own << 1) * (1 - left)), opp


@rule
def return_to_move(own, opp):
    return -1 * is_at_end(own, opp)


@rule
def observation_entry(own, opp, index):
    return (own >> index) & 1


class Pendulum(Game):
    name = "pendulum"
    num_distinct_actions = 2
    observation_shape = (SQUARES,)
    max_game_length = 400
    rules = Rules((0b00100, 0), legal_actions, play, is_at_end, return_to_move, observation_entry)

    def action_to_string(self, action):
        return NAMES[action]

    def string_to_action(self, text):
        if text not in NAMES:
            raise IllegalActionError(f"{text!r} is not left or right")
        return NAMES.index(text)


@rule
def is_over(own, opp):
    return is_at_end(own, opp) | (opp == LIMIT)


@rule
def counted_legal_actions(own, opp):
    return 0b11 * (1 - is_over(own, opp) * 1)


@rule
def counted_play(own, opp, move):
    moved, plies = play(own, opp, move)
    return moved, plies + 1


@rule
def counted_observation_entry(own, opp, index):
    """The squares, then the bits of the counter."""
    of_counter = (index >= SQUARES) * 1
    return (((own >> index) & (1 - of_counter)) | ((opp >> (index - SQUARES * of_counter)) & of_counter)) & 1


class CountedPendulum(Pendulum):
    max_game_length = LIMIT
    observation_shape = (SQUARES + COUNTER_BITS,)
    rules = Rules((0b00100, 0), counted_legal_actions, counted_play, is_over, return_to_move, counted_observation_entry)
