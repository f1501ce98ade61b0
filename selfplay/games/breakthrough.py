"""Breakthrough (Troyka, 2000) on 5x5 squares: reach the other end of the board, or capture all stones.

Bit `5 * row + column` of a word is a square, rows counted from the top, as the board is drawn; a5 is bit 0, e1 bit 24:

    5  O O O O O
    4  O O O O O
    3  . . . . .
    2  X X X X X
    1  X X X X X
       a b c d e

Player 0 is X and moves up, player 1 is O and moves down, one square straight on or diagonally. Only a diagonal move
captures, and only a straight one needs an empty square. Bit 25 of `opp` is set where O has just moved, so that the
words say which way the player to move goes.

An action is a pair of squares in neighbouring rows that touch. X and O move between the same squares in opposite
directions, so they share these actions. Actions 0 to 19 are the straight pairs. In the next 16 the lower square is
further left, in the last 16 further right. Each group is ordered by the upper squares. Boards of 6x6 and more have more
than 64 pairs.
"""

from collections.abc import Iterable
from itertools import cycle, starmap

import numpy as np

from selfplay.compute.bit_algebra import Word, rule, word_of
from selfplay.errors import IllegalActionError, shortened
from selfplay.games.game import Game
from selfplay.games.presentation import Presentation
from selfplay.games.rules import Rules, Symmetries

WIDTH = 5
SQUARES = WIDTH * WIDTH
UPPER = SQUARES - WIDTH
"""The squares that are the upper one of a pair."""
DIAGONAL = UPPER - (WIDTH - 1)
"""The pairs of each diagonal direction."""
BOARD, TOP, BOTTOM = word_of(range(SQUARES)), word_of(range(WIDTH)), word_of(range(UPPER, SQUARES))
STRAIGHT, SLANTED, ROW = (1 << UPPER) - 1, (1 << DIAGONAL) - 1, (1 << (WIDTH - 1)) - 1
NOT_LEFT = word_of(square for square in range(SQUARES) if square % WIDTH > 0)
NOT_RIGHT = word_of(square for square in range(SQUARES) if square % WIDTH < WIDTH - 1)
COLUMNS = "abcde"

PAIRS = (
    *((square, square + WIDTH) for square in range(UPPER)),
    *((square, square + WIDTH - 1) for square in range(UPPER) if square % WIDTH > 0),
    *((square, square + WIDTH + 1) for square in range(UPPER) if square % WIDTH < WIDTH - 1),
)
"""The upper and the lower square of each action."""


@rule
def packed(squares: Word) -> Word:
    """The first four squares of each of four rows of five as 16 bits."""
    bits = squares & ROW
    for row in range(1, WIDTH - 1):
        bits = bits | (((squares >> (WIDTH * row)) & ROW) << ((WIDTH - 1) * row))
    return bits


@rule
def unpacked(bits: Word) -> Word:
    """The squares of which `packed` makes these 16 bits."""
    squares = bits & ROW
    for row in range(1, WIDTH - 1):
        squares = squares | (((bits >> ((WIDTH - 1) * row)) & ROW) << (WIDTH * row))
    return squares


@rule
def moves_up(opp: Word) -> Word:
    """1 if the player to move goes up, else 0."""
    return (opp >> SQUARES) & 1


@rule
def is_terminal(own: Word, opp: Word) -> Word:
    """The player who has just moved has reached the other end, or has captured all stones."""
    up = -1 * moves_up(opp)
    return (own == 0) | ((opp & (TOP ^ ((TOP ^ BOTTOM) & up))) != 0)


@rule
def legal_actions(own: Word, opp: Word) -> Word:
    """Moving up, a pair is legal if its lower square has an own stone and its upper one is free; moving down, in
    reverse."""
    up, free, empty = -1 * moves_up(opp), BOARD & ~own, BOARD & ~(own | opp)
    # The squares from which and to which a stone may move, above and below.
    above, below = own ^ ((own ^ free) & up), free ^ ((own ^ free) & up)
    straight = (own ^ ((own ^ empty) & up)) & ((empty ^ ((own ^ empty) & up)) >> WIDTH) & STRAIGHT
    to_left = above & NOT_LEFT & (below >> (WIDTH - 1)) & STRAIGHT
    to_right = above & NOT_RIGHT & (below >> (WIDTH + 1)) & STRAIGHT
    actions = straight | (packed(to_left >> 1) << UPPER) | (packed(to_right) << (UPPER + DIAGONAL))
    return actions * (is_terminal(own, opp) == 0)


@rule
def play(own: Word, opp: Word, move: Word) -> tuple[Word, Word]:
    """Move the stone from one square of the pair to the other, and capture what is there."""
    straight = move & STRAIGHT
    to_left = unpacked((move >> UPPER) & SLANTED) << 1
    to_right = unpacked((move >> (UPPER + DIAGONAL)) & SLANTED)
    pair = straight | to_left | to_right
    pair = pair | (straight << WIDTH) | (to_left << (WIDTH - 1)) | (to_right << (WIDTH + 1))
    return opp & BOARD & ~pair, (own ^ pair) | ((1 - moves_up(opp)) << SQUARES)


@rule
def return_to_move(own: Word, opp: Word) -> Word:
    """-1: the player who has just moved has won."""
    return -1 * is_terminal(own, opp)


@rule
def observation_entry(own: Word, opp: Word, index: Word) -> Word:
    """Channel 0: the stones of the player who has just moved; 1: those of the other; 2: whether O has just moved."""
    is_own, is_last = (index >= SQUARES) * 1, (index >= 2 * SQUARES) * 1
    square = (index - SQUARES * is_own) * (1 - is_last)
    just_moved, to_move = (opp >> square) & (1 - is_own), (own >> square) & (is_own - is_last)
    return just_moved | to_move | (moves_up(opp) & is_last)


class BreakthroughPresentation(Presentation):
    title = "Breakthrough 5x5"
    aim = "Reach the other end of the board: row 5 for X, row 1 for O."
    player_names = ("X", "O")
    how_to_play = (
        "X moves first; then the players take turns. Nobody may pass, and there always is a move.",
        "A move takes one of your stones one square ahead: straight or diagonally, towards the other end.",
        "Straight ahead, the square must be empty.",
        "A diagonal move may also go to a square with a stone of the opponent, which is captured and leaves the board.",
        "You may capture, but you do not have to.",
        "The first stone that reaches the other end wins. A player who captures all stones of the opponent also wins.",
        "There are no draws.",
    )
    example = "c2c3 e4d3 e2d3 d4c3 b2c3 d5d4 d3e4 a4a3 e4d5"
    example_caption = "X has moved from e4 to d5, which is on row 5, and wins."
    column_names, row_names = COLUMNS, "54321"
    action_help = "the two squares of a move, such as c2c3"
    moves_stones = turns_for_second = True

    def pointed_squares(self, action: int) -> tuple[int, int]:
        return PAIRS[action]


class Breakthrough(Game):
    """Breakthrough on 5x5 squares, X first."""

    name = "breakthrough"
    num_distinct_actions = len(PAIRS)
    observation_shape = (3, WIDTH, WIDTH)
    # Each ply takes a stone one row on.
    max_game_length = 2 * WIDTH * (2 * WIDTH - 3)
    start = word_of(range(3 * WIDTH, SQUARES)), word_of([*range(2 * WIDTH), SQUARES])
    rules = Rules(start, legal_actions, play, is_terminal, return_to_move, observation_entry)
    presentation_class = BreakthroughPresentation

    @property
    def symmetries(self) -> Symmetries:
        """The identity, and the mirror that exchanges left and right."""
        mirrored = np.arange(SQUARES).reshape(WIDTH, WIDTH)[:, ::-1].reshape(-1).tolist()
        actions = [PAIRS.index((mirrored[upper], mirrored[lower])) for upper, lower in PAIRS]
        entries = np.arange(3 * SQUARES).reshape(self.observation_shape)
        images = np.stack([entries.reshape(-1), entries[:, :, ::-1].reshape(-1)])
        return Symmetries(np.stack([np.arange(len(PAIRS)), actions]), images)

    def action_to_string(self, action: int) -> str:
        """As X takes it, the lower square first: c2c3."""
        return self.action_text(action, player=0)

    def action_text(self, action: int, player: int) -> str:
        """The square that the stone leaves first: c2c3 for X, c4c3 for O."""
        squares = PAIRS[action] if player == 1 else reversed(PAIRS[action])
        return "".join(map(square_name, squares))

    def write_transcript(self, actions: Iterable[int]) -> str:
        """As the players take them: X moves first, and nobody passes."""
        return " ".join(starmap(self.action_text, zip(actions, cycle((0, 1)), strict=False)))

    def string_to_action(self, text: str) -> int:
        """The two squares in either order, because they name one action."""
        written = text.strip().lower()
        for action in range(len(PAIRS)):
            if self.action_to_string(action) in (written, written[2:] + written[:2]):
                return action
        raise IllegalActionError(f"{shortened(text)!r} is not a move; write {self.presentation.action_help}")


def square_name(square: int) -> str:
    return f"{COLUMNS[square % WIDTH]}{WIDTH - square // WIDTH}"
