"""A game whose positions can repeat: a stone on five squares is moved left or right; who moves it to an end wins.

In `CountedPendulum` a field counts the plies, and the match is drawn after `LIMIT`.
"""

from typing import NamedTuple

from selfplay.compute.bit_algebra import Word, rule
from selfplay.compute.positions import number, position, squares
from selfplay.games.game import Game
from selfplay.games.rules import Rules

SQUARES, LIMIT, COUNTER_BITS = 5, 8, 4
NAMES = ("left", "right")


@position
class Position(NamedTuple):
    stone: Word = squares(SQUARES)


@rule
def is_at_end(p):
    return (p.stone & 0b10001) != 0


@rule
def legal_actions(p):
    return 0 if is_at_end(p) else 0b11


@rule
def moved(stone, action):
    if action == 0:
        return stone >> 1
    return stone << 1


@rule
def play(p, action):
    return Position(moved(p.stone, action))


@rule
def return_to_move(p):
    return -1 if is_at_end(p) else 0


class Pendulum(Game):
    name = "pendulum"
    num_distinct_actions = 2
    observation_shape = (SQUARES,)
    max_game_length = 400
    rules = Rules(Position(0b00100), legal_actions, play, is_at_end, return_to_move)

    def action_to_string(self, action):
        return NAMES[action]


@position
class CountedPosition(NamedTuple):
    stone: Word = squares(SQUARES)
    plies: int = number(COUNTER_BITS)


@rule
def is_over(p):
    return is_at_end(p) or p.plies == LIMIT


@rule
def counted_legal_actions(p):
    return 0 if is_over(p) else 0b11


@rule
def counted_play(p, action):
    return CountedPosition(moved(p.stone, action), p.plies + 1)


class CountedPendulum(Pendulum):
    max_game_length = LIMIT
    observation_shape = (SQUARES + COUNTER_BITS,)
    rules = Rules(CountedPosition(0b00100, 0), counted_legal_actions, counted_play, is_over, return_to_move)
