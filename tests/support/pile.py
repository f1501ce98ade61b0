"""A small game with passes: two players take coins from a pile of seven; whoever takes more wins.

Action 0 takes one coin, action 1 takes two. A player with more coins than the other can only pass (action 2).
"""

from typing import NamedTuple

from selfplay.compute.bit_algebra import rule
from selfplay.compute.positions import number, position
from selfplay.games.game import Game
from selfplay.games.presentation import Presentation
from selfplay.games.rules import Rules

COINS = 7
NAMES = ("one", "two", "pass")
PASS = 2


@position
class Position(NamedTuple):
    """The coins of the player to move, and of the other."""

    own: int = number(4)
    opp: int = number(4)


@rule
def legal_actions(p):
    left = COINS - p.own - p.opp
    if left == 0 or p.own > p.opp:
        return 0
    return 0b01 if left == 1 else 0b11


@rule
def play(p, action):
    return Position(p.opp, p.own if action == PASS else p.own + action + 1)


@rule
def is_terminal(p):
    return p.own + p.opp >= COINS


@rule
def return_to_move(p):
    return 1 if p.own > p.opp else -1


class PilePresentation(Presentation):
    action_help = "one or two"

    def board_text(self, state, row=0, values=None):
        to_move, other = self.game.positions(state)[row]
        first, second = (to_move, other) if int(state.current_player[row]) == 0 else (other, to_move)
        return f"first {first}, second {second}"


class Pile(Game):
    name = "pile"
    num_distinct_actions = 3
    pass_action = PASS
    observation_shape = (8,)
    max_game_length = 14
    rules = Rules(Position(0, 0), legal_actions, play, is_terminal, return_to_move)
    presentation_class = PilePresentation

    def action_to_string(self, action):
        return NAMES[action]
