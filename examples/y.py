"""Y on a triangle with nine cells a side: a chain that touches all three sides wins.

Cell (row, column) is bit 9 * row + column; row r has the columns 0 to r, so bits with column > row are not on the
board. A cell touches those beside it in its row, and two cells each in the rows above and below. Action i is cell i.

    selfplay learn game=y:Y
"""

from typing import NamedTuple

from selfplay import Game, Presentation, Rules, Word, position, rule, squares, word_of

WIDTH = 9
SIZE = WIDTH * WIDTH
BOARD = word_of((WIDTH * row + column for row in range(WIDTH) for column in range(row + 1)), SIZE)
LEFT = word_of((WIDTH * row for row in range(WIDTH)), SIZE)
RIGHT = word_of((WIDTH * row + row for row in range(WIDTH)), SIZE)
LOWER = word_of(range(SIZE - WIDTH, SIZE), SIZE)
NOT_FIRST = word_of((i for i in range(SIZE) if i % WIDTH > 0), SIZE)
NOT_LAST = word_of((i for i in range(SIZE) if i % WIDTH < WIDTH - 1), SIZE)
ONE = word_of([0], SIZE)


@position
class Position(NamedTuple):
    own: Word = squares(SIZE)
    opp: Word = squares(SIZE)


@rule
def beside(cells: Word) -> Word:
    right, left = (cells & NOT_LAST) << 1, (cells & NOT_FIRST) >> 1
    below = (cells | right) << WIDTH
    above = (cells | left) >> WIDTH
    return (left | right | below | above) & BOARD


@rule
def has_won(stones: Word) -> bool:
    """Whether a chain of the stones touches all three sides."""
    waiting = stones & LEFT
    while waiting != 0:
        chain = waiting & -waiting
        while True:
            grown = chain | (beside(chain) & stones)
            if grown == chain:
                break
            chain = grown
        if (chain & RIGHT) != 0 and (chain & LOWER) != 0:
            return True
        waiting = waiting & ~chain
    return False


@rule
def legal_actions(p: Position) -> Word:
    if has_won(p.opp):
        return 0
    return BOARD & ~(p.own | p.opp)


@rule
def play(p: Position, action: int) -> Position:
    return Position(p.opp, p.own | (ONE << action))


class YPresentation(Presentation):
    title = "Y"
    player_names = ("X", "O")
    aim = "Connect all three sides of the triangle by a chain of your stones."
    action_help = "a cell, such as a1 or c5"
    how_to_play = (
        "X moves first; then the players take turns.",
        "A move places one stone on an empty cell. Stones never move, and none is ever captured.",
        "Stones on cells that share a side are connected. A corner belongs to two sides.",
        "The first chain that touches all three sides wins. There are no draws.",
    )
    column_names = "abcdefghi"
    unused_squares = frozenset(row * WIDTH + column for row in range(WIDTH) for column in range(row + 1, WIDTH))


class Y(Game):
    name = "y"
    num_distinct_actions = SIZE
    observation_shape = (2, WIDTH, WIDTH)
    max_game_length = WIDTH * (WIDTH + 1) // 2
    rules = Rules(Position(0, 0), legal_actions, play)
    presentation_class = YPresentation

    def action_to_string(self, action: int) -> str:
        return f"{'abcdefghi'[action % WIDTH]}{action // WIDTH + 1}"
