"""A game with more actions than squares: stones on 36 squares move one step in four ways, for six plies."""

from typing import NamedTuple

from selfplay.compute.bit_algebra import Word, rule
from selfplay.compute.positions import number, position, squares
from selfplay.games.game import Game
from selfplay.games.rules import Rules

SIZE, PLIES = 6, 6
BOARD = (1 << SIZE * SIZE) - 1
LEFT = sum(1 << SIZE * row for row in range(SIZE))
RIGHT = LEFT << SIZE - 1
STEPS = (-SIZE, SIZE, -1, 1)


@position
class Position(NamedTuple):
    own: Word = squares(36)
    opp: Word = squares(36)
    plies: int = number(3)


@rule
def legal_actions(p):
    if p.plies == PLIES:
        return 0
    empty = ~(p.own | p.opp) & BOARD
    up, down = p.own & empty << SIZE, p.own & empty >> SIZE
    left, right = p.own & ~LEFT & empty << 1, p.own & ~RIGHT & empty >> 1
    return up | (down << 36) | (left << 72) | (right << 108)


@rule
def play(p, action):
    square = action % 36
    return Position(p.opp, p.own ^ 1 << square ^ 1 << square + STEPS[action // 36], p.plies + 1)


@rule
def is_terminal(p):
    return p.plies == PLIES


@rule
def return_to_move(p):
    return 0


class Slides(Game):
    name = "slides"
    num_distinct_actions = 144
    observation_shape = (5, 6, 6)
    max_game_length = PLIES
    rules = Rules(
        Position(0b101010 << 30 | 0b010101 << 12, 0b010101 | 0b101010 << 18, 0),
        legal_actions,
        play,
        is_terminal,
        return_to_move,
    )


def moves(own: frozenset[int], opp: frozenset[int]) -> list[tuple[int, frozenset[int]]]:
    """The actions of a player with these squares, and the squares after each, without words."""
    found = []
    for way, (down, right) in enumerate(((-1, 0), (1, 0), (0, -1), (0, 1))):
        for square in own:
            row, column = square // SIZE + down, square % SIZE + right
            to = SIZE * row + column
            if 0 <= row < SIZE and 0 <= column < SIZE and to not in own | opp:
                found.append((36 * way + square, own - {square} | {to}))
    return found


def counted(own: frozenset[int], opp: frozenset[int], depth: int) -> int:
    """The number of sequences of `depth` plies."""
    following = moves(own, opp)
    return len(following) if depth == 1 else sum(counted(opp, after, depth - 1) for _, after in following)
