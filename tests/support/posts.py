"""A game with a board between the squares: a stone goes on a square of 3x3, or a post on one of 2x2 crossings.

Stones do not go beside posts, nor posts beside stones; who cannot place anything loses. Actions 0 to 8 are stones, and
9 to 12 posts. Posts are on the board of squares, each on the one to its upper left.
"""

from typing import NamedTuple

from selfplay import Game, Rules, Word, position, rule, squares

CROSSINGS = (0, 1, 3, 4)
AROUND = tuple(sum(1 << crossing + step for step in (0, 1, 3, 4)) for crossing in CROSSINGS)


@position
class Position(NamedTuple):
    own: Word = squares(9)
    opp: Word = squares(9)
    posts: Word = squares(9)


@rule
def legal_actions(p):
    stones, found = p.own | p.opp, 0
    free = ~stones & 511
    for post in range(4):
        if (p.posts >> CROSSINGS[post]) & 1 == 1:
            free = free & ~AROUND[post]
        elif stones & AROUND[post] == 0:
            found = found | 1 << (9 + post)
    return found | free


@rule
def play(p, action):
    if action < 9:
        return Position(p.opp, p.own | 1 << action, p.posts)
    return Position(p.opp, p.own, p.posts | 1 << CROSSINGS[action - 9])


@rule
def is_terminal(p):
    return legal_actions(p) == 0


@rule
def return_to_move(p):
    return -1


class Posts(Game):
    name = "posts"
    num_distinct_actions = 13
    observation_shape = (3, 3, 3)
    max_game_length = 13
    rules = Rules(Position(0, 0, 0), legal_actions, play, is_terminal, return_to_move)
