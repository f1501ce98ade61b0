"""Havannah (Freeling 1981) on a hexagon with five cells a side: a ring, a bridge or a fork of one's own stones wins.

Cell (row, column) is bit 9 * row + column of a rhombus of 9x9 cells, of which two corners are not on the board. A cell
touches those at (row, column - 1 and + 1), (row - 1, column and + 1) and (row + 1, column - 1 and column). Action i is
cell i. A ring is a loop around at least one cell, a bridge connects two corners, a fork three sides; corners belong to
no side.

    selfplay learn game=havannah:Havannah
"""

from typing import NamedTuple

from selfplay import Game, Presentation, Rules, Word, bit_count, flag, position, rule, squares, word_of

BASE = 5
WIDTH = 2 * BASE - 1
SIZE = WIDTH * WIDTH
CELLS = tuple(i for i in range(SIZE) if BASE - 1 <= i // WIDTH + i % WIDTH <= 3 * (BASE - 1))
EDGES = (
    tuple(i for i in CELLS if i // WIDTH == 0),
    tuple(i for i in CELLS if i // WIDTH == WIDTH - 1),
    tuple(i for i in CELLS if i % WIDTH == 0),
    tuple(i for i in CELLS if i % WIDTH == WIDTH - 1),
    tuple(i for i in CELLS if i // WIDTH + i % WIDTH == BASE - 1),
    tuple(i for i in CELLS if i // WIDTH + i % WIDTH == 3 * (BASE - 1)),
)
"""The cells at each edge of the hexagon, with the corners, which are at two."""
BOARD, BORDER = word_of(CELLS, SIZE), word_of((i for edge in EDGES for i in edge), SIZE)
CORNERS = word_of((i for i in CELLS if sum(i in edge for edge in EDGES) == 2), SIZE)
SIDES = tuple(word_of(edge, SIZE) & ~CORNERS for edge in EDGES)
NOT_FIRST = word_of((i for i in range(SIZE) if i % WIDTH > 0), SIZE)
NOT_LAST = word_of((i for i in range(SIZE) if i % WIDTH < WIDTH - 1), SIZE)
ONE = word_of([0], SIZE)


@position
class Position(NamedTuple):
    own: Word = squares(SIZE)
    opp: Word = squares(SIZE)
    lost: int = flag()  # whether the last stone of the other player has won


@rule
def beside(cells: Word) -> Word:
    right, left = (cells & NOT_LAST) << 1, (cells & NOT_FIRST) >> 1
    below, above = (cells | left) << WIDTH, (cells | right) >> WIDTH
    return (left | right | below | above) & BOARD


@rule
def connected(start: Word, cells: Word) -> Word:
    """Those of `cells` that are connected to the ones of `start` among them."""
    found = start & cells
    while True:
        grown = found | (beside(found) & cells)
        if grown == found:
            return found
        found = grown


@rule
def has_ring(stones: Word) -> bool:
    """Whether a cell without a stone is cut off from the border, or all six cells around a stone have stones."""
    others = BOARD & ~stones
    if connected(BORDER, others) != others:
        return True
    after, before = stones & ((stones & NOT_LAST) << 1), stones & ((stones & NOT_FIRST) >> 1)
    return (after & before & (before << WIDTH) & (after >> WIDTH)) != 0


@rule
def wins(stones: Word, stone: Word) -> bool:
    """Whether the last stone of these has made a ring, a bridge or a fork."""
    chain = connected(stone, stones)
    if bit_count(chain & CORNERS) >= 2:
        return True
    sides = 0
    for side in SIDES:
        sides += 1 if (chain & side) != 0 else 0
    if sides >= 3:
        return True
    return bit_count(beside(stone) & stones) >= 2 and has_ring(stones)


@rule
def legal_actions(p: Position) -> Word:
    if p.lost:
        return 0
    return BOARD & ~(p.own | p.opp)


@rule
def play(p: Position, action: int) -> Position:
    stone = ONE << action
    return Position(p.opp, p.own | stone, 1 if wins(p.own | stone, stone) else 0)


@rule
def return_to_move(p: Position) -> int:
    """The other player has won, or the board is full: a draw."""
    return -1 if p.lost else 0


class HavannahPresentation(Presentation):
    title = "Havannah"
    player_names = ("X", "O")
    aim = "Make a ring, connect two corners, or connect three sides by a chain of your stones."
    action_help = "a cell, such as e5"
    how_to_play = (
        "X moves first; then the players take turns.",
        "A move places one stone on an empty cell. Stones never move, and none is ever captured.",
        "Stones on cells that share a side are connected.",
        "A ring around one or more cells wins, whatever is on them.",
        "A bridge between two of the six corners wins, and so does a fork between three of the six sides. A corner "
        "belongs to no side.",
        "If the board is full without any, the match is a draw.",
    )
    example = "e5 a5 f3 i5 f4 e9 e3 a9 d4 e1 d5"
    example_caption = "X has made a ring."
    column_names = "abcdefghi"
    is_rhombus = True
    unused_squares = frozenset(range(SIZE)) - frozenset(CELLS)
    hidden_fields = ("lost",)


class Havannah(Game):
    name = "havannah"
    num_distinct_actions = SIZE
    max_game_length = len(CELLS)
    rules = Rules(Position(0, 0, 0), legal_actions, play, return_to_move=return_to_move)
    presentation_class = HavannahPresentation

    def action_to_string(self, action: int) -> str:
        return f"{'abcdefghi'[action % WIDTH]}{action // WIDTH + 1}"
