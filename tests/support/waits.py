"""A game whose observation hides a counter: each player fills one of four squares, or waits while waits are left.

Whoever fills the last square wins. The observation shows the stones, not how many waits are left.
"""

from typing import NamedTuple

from selfplay.compute.bit_algebra import Word, rule
from selfplay.compute.positions import number, position, squares
from selfplay.games.game import Game
from selfplay.games.rules import Rules

BOARD, WAIT, WAITS = 0b1111, 4, 2


@position
class Position(NamedTuple):
    own: Word = squares(4)
    opp: Word = squares(4)
    waits: int = number(2)


@rule
def legal_actions(p):
    free = BOARD & ~(p.own | p.opp)
    return free | 1 << WAIT if free != 0 and p.waits > 0 else free


@rule
def play(p, action):
    if action == WAIT:
        return Position(p.opp, p.own, p.waits - 1)
    return Position(p.opp, p.own | 1 << action, p.waits)


@rule
def is_terminal(p):
    return (p.own | p.opp) == BOARD


@rule
def return_to_move(p):
    return -1


@position
class Stones(NamedTuple):
    own: Word = squares(4)
    opp: Word = squares(4)


@rule
def observed(p):
    return Stones(p.own, p.opp)


class Waits(Game):
    name = "waits"
    num_distinct_actions = 5
    observation_shape = (2, 2, 2)
    max_game_length = 4 + WAITS
    rules = Rules(Position(0, 0, WAITS), legal_actions, play, is_terminal, return_to_move, observed)

    def action_to_string(self, action):
        return str(action)
