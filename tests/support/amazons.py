"""Amazons: a queen moves, then shoots an arrow to a square that stays blocked; who cannot move loses.

A turn is two plies of one player. Actions `squares * origin + target` move a queen, and `squares**2 + square` shoots.
"""

from functools import cache
from typing import NamedTuple

from selfplay import Game, Rules, Word, position, rule, squares, word_of

STARTS = {5: ((1, 15), (9, 23)), 6: ((2, 18), (17, 33))}
"""The squares of the queens of both players, by the width of the board."""
RAYS = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))


@cache
def amazons_rules(width: int) -> Rules:
    size = width * width
    actions = size * size + size
    steps = tuple(width * down + right for down, right in RAYS)
    columns = tuple(right for _, right in RAYS)
    one = word_of([0], actions)

    @position
    class Position(NamedTuple):
        own: Word = squares(size)
        opp: Word = squares(size)
        arrows: Word = squares(size)
        moved: Word = squares(size)
        """The queen of the player to move that has just moved and must shoot, or 0."""

    @rule
    def reached(blocked: Word, square: int) -> Word:
        """The squares that a queen on this square reaches."""
        found = blocked & 0
        for ray in range(8):
            at = square
            while True:
                column = at % width + columns[ray]
                at += steps[ray]
                if column < 0 or column >= width or at < 0 or at >= size or (blocked >> at) & 1 == 1:
                    break
                found = found | 1 << at
        return found

    @rule
    def legal_actions(p):
        found, blocked = one & 0, p.own | p.opp | p.arrows
        movers = p.own if p.moved == 0 else p.moved
        for square in range(size):
            if (movers >> square) & 1 == 1:
                targets = one & 0 | reached(blocked, square)
                first = size * square if p.moved == 0 else size * size
                found = found | targets << first
        return found

    @rule
    def play(p, action):
        if action >= size * size:
            return Position(p.opp, p.own, p.arrows | 1 << (action - size * size), 0)
        to = 1 << (action % size)
        return Position(p.own ^ 1 << (action // size) ^ to, p.opp, p.arrows, to)

    @rule
    def moves_again(p):
        return p.moved != 0

    @rule
    def is_terminal(p):
        return legal_actions(p) == 0

    @rule
    def return_to_move(p):
        return -1

    own, opp = (sum(1 << square for square in queens) for queens in STARTS[width])
    start = Position(own, opp, 0, 0)
    return Rules(start, legal_actions, play, is_terminal, return_to_move, moves_again=moves_again)


class Amazons(Game):
    """Two queens of each player; by default on 5x5 squares."""

    name = "amazons"
    sizes = (5, 6)

    def __init__(self, width: int = 5) -> None:
        self.name = self.name_with("amazons", width)
        self.rules = amazons_rules(width)
        self.num_distinct_actions = width**4 + width**2
        self.max_game_length = 2 * width * width
