"""Clobber: a stone captures a stone of the other player beside it; who cannot capture loses.

Action `4 * square + way` moves the stone on a square up, left, right or down.
"""

from functools import cache
from typing import NamedTuple

from selfplay import Game, Rules, Word, position, rule, squares, word_of

WAYS = ((-1, 0), (0, -1), (0, 1), (1, 0))


@cache
def clobber_rules(rows: int, columns: int) -> Rules:
    size = rows * columns
    targets = tuple(
        columns * (square // columns + down) + square % columns + right
        if 0 <= square // columns + down < rows and 0 <= square % columns + right < columns
        else -1
        for square in range(size)
        for down, right in WAYS
    )
    one = word_of([0], 4 * size)

    @position
    class Position(NamedTuple):
        own: Word = squares(size)
        opp: Word = squares(size)

    @rule
    def legal_actions(p):
        found = one & 0
        for action in range(4 * size):
            if targets[action] >= 0 and (p.own >> (action // 4)) & (p.opp >> targets[action]) & 1 == 1:
                found = found | one << action
        return found

    @rule
    def play(p, action):
        to = 1 << targets[action]
        return Position(p.opp ^ to, p.own ^ 1 << (action // 4) ^ to)

    @rule
    def is_terminal(p):
        return legal_actions(p) == 0

    @rule
    def return_to_move(p):
        return -1

    own = sum(1 << s for s in range(size) if (s // columns + s % columns) % 2 == 0)
    return Rules(Position(own, (1 << size) - 1 - own), legal_actions, play, is_terminal, return_to_move)


class Clobber(Game):
    """On 5x5 squares by default, and on other boards of this many columns."""

    name = "clobber"
    rows = 5
    sizes = (5, 6)

    def __init__(self, columns: int = 5) -> None:
        rows = columns if self.rows == 5 else self.rows
        self.name = self.name_with(type(self).name, columns)
        self.rules = clobber_rules(rows, columns)
        self.num_distinct_actions = 4 * rows * columns
        self.observation_shape = (2, rows, columns)
        self.max_game_length = rows * columns


class LongClobber(Clobber):
    """On 4x5 squares, whose board has four images."""

    name = "long_clobber"
    rows = 4
