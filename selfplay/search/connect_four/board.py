"""Connect Four positions in columns of seven bits, as the solver stores them.

Bit `7 * column + height` is a square, heights counted from 0 at the bottom. The seventh bit of each column is always
empty, so that shifted lines do not run into the next column:

     6 13 20 27 34 41 48
     5 12 19 26 33 40 47
     4 11 18 25 32 39 46
     3 10 17 24 31 38 45
     2  9 16 23 30 37 44
     1  8 15 22 29 36 43
     0  7 14 21 28 35 42

`own` holds the stones of the player to move, `stones` those of both players. The layout and the uses of `own` and
`stones` follow John Tromp's and Pascal Pons's published descriptions of their solvers.
"""

from selfplay.compute.bit_algebra import Word, rule, word_of
from selfplay.games.connect_four import COLUMNS, ROWS, SQUARES

STEP = ROWS + 1
"""The distance of the bits of two neighbouring squares of a row."""
BOTTOM_ROW = word_of(STEP * column for column in range(COLUMNS))
BOARD = word_of(STEP * column + height for column in range(COLUMNS) for height in range(ROWS))
COLUMN = word_of(range(ROWS))
"""The squares of the left column."""
COLUMN_BITS = (1 << STEP) - 1


@rule
def position_of(own: Word, opp: Word) -> tuple[Word, Word]:
    """(own, stones) of a position in the words of the game."""
    mine, others = in_columns(own), in_columns(opp)
    return mine, mine | others


@rule
def in_columns(word: Word) -> Word:
    """A word of the game in this layout."""
    squares = word & 0
    for square in range(SQUARES):
        squares |= ((word >> square) & 1) << (STEP * (square % COLUMNS) + ROWS - 1 - square // COLUMNS)
    return squares


@rule
def playable_squares(stones: Word) -> Word:
    """The lowest empty square of each column that is not full."""
    return (stones + BOTTOM_ROW) & BOARD


@rule
def winning_squares(own: Word, stones: Word) -> Word:
    """The empty squares that complete a line of four for the owner of `own`, whether or not they can be played now."""
    found = (own << 1) & (own << 2) & (own << 3)
    for step in (STEP - 1, STEP, STEP + 1):
        above, below = (own << step) & (own << 2 * step), (own >> step) & (own >> 2 * step)
        found |= above & ((own << 3 * step) | (own >> step))
        found |= below & ((own >> 3 * step) | (own << step))
    return found & (BOARD ^ stones)


@rule
def key_of(own: Word, stones: Word) -> Word:
    """A number of 49 bits that no other position has: in each column, the stones of `own` below a marking bit."""
    return own + stones + BOTTOM_ROW


@rule
def mirrored(key: Word) -> Word:
    """The key of the position with left and right exchanged."""
    image = key & (COLUMN_BITS << 3 * STEP)
    for column in range(3):
        distance = (COLUMNS - 1 - 2 * column) * STEP
        image |= ((key & (COLUMN_BITS << column * STEP)) << distance) | (
            (key >> distance) & (COLUMN_BITS << column * STEP)
        )
    return image
