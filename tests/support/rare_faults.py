"""A game with faults that one match in thousands meets: players place stones on 16 squares until all are full.

The fault is in the play that makes the stones of a player RARE; `p.fault` is its number.
"""

from typing import NamedTuple

from selfplay.compute.bit_algebra import rule
from selfplay.compute.positions import number, position, squares
from selfplay.games.game import Game
from selfplay.games.rules import Rules

FULL, RARE, TABLE = 0xFFFF, 0b0100_0011_1000_0101, (1, 2, 3)


@position
class Position(NamedTuple):
    own: int = squares(16)
    opp: int = squares(16)
    extra: int = number(3)
    fault: int = number(2)


@rule
def legal_actions(p):
    return ~(p.own | p.opp) & FULL


@rule
def play(p, action):
    stones, extra = p.own | 1 << action, 1
    if stones == RARE and p.fault == 0:
        extra = 9
    if stones == RARE and p.fault == 1:
        stones = stones | 1 << 17
    if stones == RARE and p.fault == 2:
        extra = TABLE[action + 20]
    if stones == RARE and p.fault == 3:
        extra = 7 // (p.extra - 1)
    return Position(p.opp, stones, extra, p.fault)


@rule
def is_terminal(p):
    return p.own | p.opp == FULL


@rule
def return_to_move(p):
    return 0


class RareFaults(Game):
    name = "rare_faults"
    num_distinct_actions = 16
    observation_shape = (7, 4, 4)
    max_game_length = 16
    rules = Rules(Position(0, 0, 1, 0), legal_actions, play, is_terminal, return_to_move)
