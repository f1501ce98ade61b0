"""A small game with passes: two players take coins from a pile of seven; whoever takes more wins.

Action 0 takes one coin, action 1 takes two. A player with more coins than the other can only pass (action 2).
"""

from selfplay.compute.bit_algebra import rule
from selfplay.errors import IllegalActionError
from selfplay.games.game import Game
from selfplay.games.presentation import Presentation
from selfplay.games.rules import Rules

COINS = 7
NAMES = ("one", "two", "pass")


@rule
def legal_actions(own, opp):
    left = COINS - own - opp
    return ((left >= 1) * 1 | (left >= 2) * 2) * (own <= opp)


@rule
def play(own, opp, move):
    return opp, own + move


@rule
def is_terminal(own, opp):
    return own + opp >= COINS


@rule
def return_to_move(own, opp):
    return (own > opp) * 2 - 1


@rule
def observation_entry(own, opp, index):
    """Bits 0 to 3 of the coins of the player who has just moved, then those of the player to move."""
    to_move, bit = index >> 2, index & 3
    return (((opp >> bit) & (1 - to_move)) | ((own >> bit) & to_move)) & 1


class PilePresentation(Presentation):
    action_help = "one or two"

    def board_text(self, state, row=0, values=None):
        to_move, other = int(state.own[row]), int(state.opp[row])
        first, second = (to_move, other) if int(state.current_player[row]) == 0 else (other, to_move)
        return f"first {first}, second {second}"


class Pile(Game):
    name = "pile"
    num_distinct_actions = 3
    pass_action = 2
    observation_shape = (8,)
    max_game_length = 14
    rules = Rules((0, 0), legal_actions, play, is_terminal, return_to_move, observation_entry)
    presentation_class = PilePresentation

    def action_to_string(self, action):
        return NAMES[action]

    def string_to_action(self, text):
        if text not in NAMES:
            raise IllegalActionError(f"{text!r} takes nothing; write {self.presentation.action_help}")
        return NAMES.index(text)
