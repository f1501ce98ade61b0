"""Col on hexagonal cells: a stone goes on an empty cell that touches none of its player's; who cannot place one loses.

A cell touches the four beside it, and the one a row below and `leaning` columns further right with its opposite; 0: the
cells are squares.
"""

from functools import cache
from typing import NamedTuple

from selfplay import Game, Rules, Word, position, rule, squares, word_of

HEXAGON = frozenset((row, column) for row in range(5) for column in range(5) if 2 <= row + column <= 6)
TRIANGLE = frozenset((row, column) for row in range(5) for column in range(row + 1))


@cache
def col_rules(cells: frozenset[tuple[int, int]], leaning: int) -> Rules:
    steps = ((0, 1), (1, 0), *([(1, leaning)] if leaning else []))
    beside = tuple(
        sum(
            1 << 5 * (row + sign * down) + column + sign * right
            for down, right in steps
            for sign in (1, -1)
            if (row + sign * down, column + sign * right) in cells
        )
        for row in range(5)
        for column in range(5)
    )
    board = word_of(5 * row + column for row, column in cells)

    @position
    class Position(NamedTuple):
        own: Word = squares(25)
        opp: Word = squares(25)

    @rule
    def legal_actions(p):
        free = board & ~(p.own | p.opp)
        for cell in range(25):
            if p.own >> cell & 1 == 1:
                free = free & ~beside[cell]
        return free

    @rule
    def play(p, action):
        return Position(p.opp, p.own | 1 << action)

    return Rules(Position(0, 0), legal_actions, play)


class Col(Game):
    name = "col"
    num_distinct_actions = max_game_length = 25

    def __init__(self, cells: frozenset[tuple[int, int]] = HEXAGON, leaning: int = -1) -> None:
        self.name, self.rules = f"col_{len(cells)}_{leaning}", col_rules(cells, leaning)
