"""Breakthrough with walls on 6x6 squares: reach the other end, or build one of three walls instead of a move.

Bit i of a board is square i, rows from the top. Player 0 is X and moves up, player 1 is O and moves down: one square
straight on or diagonally, and only diagonally onto a stone of the other player, which is captured. A wall stays on its
square for the rest of the match. Action 36 * k + i moves the stone on square i straight on (k = 0), to the left or to
the right; action 108 + i builds a wall on square i.

    selfplay learn game=walls:Walls
"""

from types import MappingProxyType
from typing import NamedTuple

from selfplay import Game, Presentation, Rules, Word, flag, number, position, rule, squares, word_of

WIDTH, WALLS = 6, 3
SQUARES = WIDTH * WIDTH
BOARD, TOP = word_of(range(SQUARES)), word_of(range(WIDTH))
BOTTOM = word_of(range(SQUARES - WIDTH, SQUARES))
NOT_LEFT = word_of(i for i in range(SQUARES) if i % WIDTH > 0)
NOT_RIGHT = word_of(i for i in range(SQUARES) if i % WIDTH < WIDTH - 1)
BUILD = 3 * SQUARES
NONE, ONE = word_of([], BUILD + SQUARES), word_of([0], SQUARES)


@position
class Position(NamedTuple):
    own: Word = squares(SQUARES)
    opp: Word = squares(SQUARES)
    walls: Word = squares(SQUARES)
    own_walls: int = number(2)  # that the player to move can still build
    opp_walls: int = number(2)
    up: int = flag()  # whether the player to move is X


@rule
def has_arrived(p: Position) -> bool:
    """The player who has just moved is at the other end, or has captured all stones."""
    return p.own == 0 or (p.opp & (BOTTOM if p.up else TOP)) != 0


@rule
def legal_actions(p: Position) -> Word:
    if has_arrived(p):
        return NONE
    free = BOARD & ~(p.own | p.opp | p.walls)
    target = free | p.opp
    if p.up:
        straight = p.own & (free << WIDTH)
        left, right = p.own & NOT_LEFT & (target << (WIDTH + 1)), p.own & NOT_RIGHT & (target << (WIDTH - 1))
    else:
        straight = p.own & (free >> WIDTH)
        left, right = p.own & NOT_LEFT & (target >> (WIDTH - 1)), p.own & NOT_RIGHT & (target >> (WIDTH + 1))
    found = NONE | straight | ((NONE | left) << SQUARES) | ((NONE | right) << (2 * SQUARES))
    if p.own_walls > 0:
        # Not on the first and the last row, where a wall could shut the board.
        found = found | ((NONE | (free & ~TOP & ~BOTTOM)) << BUILD)
    return found


@rule
def play(p: Position, action: int) -> Position:
    way, square = action // SQUARES, action % SQUARES
    if action >= BUILD:
        return Position(p.opp, p.own, p.walls | (ONE << square), p.opp_walls, p.own_walls - 1, 1 - p.up)
    target = square + (-WIDTH if p.up else WIDTH)
    if way == 1:
        target -= 1
    if way == 2:
        target += 1
    stone = ONE << target
    own = (p.own ^ (ONE << square)) | stone
    return Position(p.opp & ~stone, own, p.walls, p.opp_walls, p.own_walls, 1 - p.up)


class WallsPresentation(Presentation):
    title = "Breakthrough with walls"
    player_names = ("X", "O")
    aim = "Reach the other end of the board: row 6 for X, row 1 for O."
    action_help = "a square and s (straight), l (left) or r (right), such as a2r, or the square of a wall, such as c4"
    how_to_play = (
        "X moves first; then the players take turns.",
        "A stone moves one square ahead: straight or diagonally, towards the other end.",
        "Only a diagonal move may capture a stone of the other player.",
        f"Instead of moving, you may build a wall on an empty square of rows 2 to 5. You have {WALLS} walls.",
        "Nobody can enter the square of a wall.",
        "The first stone at the other end wins. Who has no stone or no move loses.",
    )
    column_names, row_names = "abcdef", "654321"
    square_marks = MappingProxyType({"walls": "wall"})
    hidden_fields = ("up",)


class Walls(Game):
    name = "walls"
    num_distinct_actions = BUILD + SQUARES
    observation_shape = (3 + 2 + 2 + 1, WIDTH, WIDTH)
    max_game_length = 150
    rules = Rules(
        Position(word_of(range(24, 36)), word_of(range(12)), 0, WALLS, WALLS, 1),
        legal_actions,
        play,
    )
    presentation_class = WallsPresentation

    def action_to_string(self, action: int) -> str:
        way, name = action // SQUARES, square_name(action % SQUARES)
        return name if action >= BUILD else name + "slr"[way]


def square_name(square: int) -> str:
    return f"{'abcdef'[square % WIDTH]}{WIDTH - square // WIDTH}"
