"""Breakthrough (Troyka, 2000): reach the other end of the board, or capture all stones.

Bit `width * row + column` of a word is a square, rows counted from the top, as the board is drawn. On 5x5 squares, a5
is bit 0 and e1 bit 24:

    5  O O O O O
    4  O O O O O
    3  . . . . .
    2  X X X X X
    1  X X X X X
       a b c d e

Player 0 is X and moves up, player 1 is O and moves down, one square straight on or diagonally. Only a diagonal move
captures, and only a straight one needs an empty square. The bit after the squares is set in `opp` where O has just
moved, so that the words say which way the player to move goes.

An action is a pair of squares in neighbouring rows that touch. X and O move between the same squares in opposite
directions, so they share these actions. The straight pairs come first, then those whose lower square is further left,
then those whose lower square is further right. Each group is ordered by the upper squares. There are 52 on 5x5 squares,
80 on 6x6 and 154 on 8x8.
"""

from collections.abc import Iterable
from functools import cache
from itertools import cycle, starmap

import numpy as np

from selfplay.compute.bit_algebra import Word, rule, word_of
from selfplay.errors import IllegalActionError, shortened
from selfplay.games.game import Game
from selfplay.games.presentation import Presentation
from selfplay.games.rules import Rules, Symmetries

COLUMNS = "abcdefgh"
EXAMPLES = {
    5: "c2c3 e4d3 e2d3 d4c3 b2c3 d5d4 d3e4 a4a3 e4d5",
    6: "c2b3 c5c4 b3b4 a5a4 b4a5 f5f4 a5b6",
    8: "b2c3 a7b6 c3d4 c7d6 d4d5 e7e6 a2a3 a8a7 d5e6 d6c5 e6d7 a7a6 d7c8",
}
"""By the width of the board, a match that X wins."""


@cache
def pairs_of(width: int) -> tuple[tuple[int, int], ...]:
    """The upper and the lower square of each action on a board of `width` x `width` squares."""
    upper = range(width * (width - 1))
    return (
        *((square, square + width) for square in upper),
        *((square, square + width - 1) for square in upper if square % width > 0),
        *((square, square + width + 1) for square in upper if square % width < width - 1),
    )


@cache
def breakthrough_rules(width: int) -> Rules:
    """The rules on a board of `width` x `width` squares (5 to 8)."""
    squares, bits = width * width, len(pairs_of(width))
    upper = squares - width
    """The number of squares that are the upper one of a pair: they are the first ones."""
    diagonal = upper - (width - 1)
    """The number of pairs of each diagonal direction."""
    board, top, bottom = (word_of(part, bits) for part in (range(squares), range(width), range(upper, squares)))
    straight_pairs, slanted_pairs, row_but_one = (word_of(range(n), bits) for n in (upper, diagonal, width - 1))
    not_left = word_of((square for square in range(squares) if square % width > 0), bits)
    not_right = word_of((square for square in range(squares) if square % width < width - 1), bits)

    @rule
    def packed(word: Word) -> Word:
        """The first `width` - 1 squares of each of the upper rows, without gaps."""
        found = word & row_but_one
        for row in range(1, width - 1):
            found = found | (((word >> (width * row)) & row_but_one) << ((width - 1) * row))
        return found

    @rule
    def unpacked(word: Word) -> Word:
        """The squares of which `packed` makes this word."""
        found = word & row_but_one
        for row in range(1, width - 1):
            found = found | (((word >> ((width - 1) * row)) & row_but_one) << (width * row))
        return found

    @rule
    def moves_up(opp: Word) -> Word:
        """1 if the player to move goes up, else 0."""
        return (opp >> squares) & 1

    @rule
    def is_terminal(own: Word, opp: Word) -> Word:
        """The player who has just moved has reached the other end, or has captured all stones."""
        up = -1 * moves_up(opp)
        return (own == 0) | ((opp & (top ^ ((top ^ bottom) & up))) != 0)

    @rule
    def legal_actions(own: Word, opp: Word) -> Word:
        """Moving up, a pair is legal if its lower square has an own stone and its upper one is free; moving down, in
        reverse."""
        up, free, empty = -1 * moves_up(opp), board & ~own, board & ~(own | opp)
        # The squares from which and to which a stone may move, above and below.
        above, below = own ^ ((own ^ free) & up), free ^ ((own ^ free) & up)
        straight = (own ^ ((own ^ empty) & up)) & ((empty ^ ((own ^ empty) & up)) >> width) & straight_pairs
        to_left = above & not_left & (below >> (width - 1)) & straight_pairs
        to_right = above & not_right & (below >> (width + 1)) & straight_pairs
        actions = straight | (packed(to_left >> 1) << upper) | (packed(to_right) << (upper + diagonal))
        return actions * (is_terminal(own, opp) == 0)

    @rule
    def play(own: Word, opp: Word, move: Word) -> tuple[Word, Word]:
        """Move the stone from one square of the pair to the other, and capture what is there."""
        straight = move & straight_pairs
        to_left = unpacked((move >> upper) & slanted_pairs) << 1
        to_right = unpacked((move >> (upper + diagonal)) & slanted_pairs)
        pair = straight | to_left | to_right
        pair = pair | (straight << width) | (to_left << (width - 1)) | (to_right << (width + 1))
        return opp & board & ~pair, (own ^ pair) | ((1 - moves_up(opp)) << squares)

    @rule
    def return_to_move(own: Word, opp: Word) -> Word:
        """-1: the player who has just moved has won."""
        return -1 * is_terminal(own, opp)

    @rule
    def observation_entry(own: Word, opp: Word, index: Word) -> Word:
        """Channel 0: the stones of the player who has just moved; 1: the other's; 2: whether O has just moved."""
        is_own, is_last = (index >= squares) * 1, (index >= 2 * squares) * 1
        square = (index - squares * is_own) * (1 - is_last)
        just_moved, to_move = (opp >> square) & (1 - is_own), (own >> square) & (is_own - is_last)
        return just_moved | to_move | (moves_up(opp) & is_last)

    start = (1 << squares) - (1 << (squares - 2 * width)), (1 << (2 * width)) - 1 | 1 << squares
    return Rules(start, legal_actions, play, is_terminal, return_to_move, observation_entry, word_bits=bits)


class BreakthroughPresentation(Presentation):
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
    action_help = "the two squares of a move, such as c2c3"
    moves_stones = turns_for_second = True

    def __init__(self, game: "Breakthrough") -> None:
        self.title, self.pairs = f"Breakthrough {game.width}x{game.width}", game.pairs
        self.aim = f"Reach the other end of the board: row {game.width} for X, row 1 for O."
        self.example = EXAMPLES[game.width]
        origin, target = self.example[-4:-2], self.example[-2:]
        self.example_caption = f"X has moved from {origin} to {target}, which is on row {game.width}, and wins."
        self.column_names, self.row_names = COLUMNS[: game.width], "87654321"[-game.width :]
        super().__init__(game)

    def pointed_squares(self, action: int) -> tuple[int, int]:
        return self.pairs[action]


class Breakthrough(Game):
    """Breakthrough on `width` x `width` squares, X first."""

    name = "breakthrough"
    sizes = (5, 6, 8)
    presentation_class = BreakthroughPresentation

    def __init__(self, width: int = 5) -> None:
        self.width = width
        self.name = self.name_with(self.name, width)
        self.rules, self.pairs = breakthrough_rules(width), pairs_of(width)
        self.num_distinct_actions = len(self.pairs)
        self.observation_shape = (3, width, width)
        # Each ply takes a stone one row on.
        self.max_game_length = 2 * width * (2 * width - 3)

    @property
    def symmetries(self) -> Symmetries:
        """The identity, and the mirror that exchanges left and right."""
        mirrored = np.arange(self.width**2).reshape(self.width, self.width)[:, ::-1].reshape(-1).tolist()
        actions = [self.pairs.index((mirrored[upper], mirrored[lower])) for upper, lower in self.pairs]
        entries = np.arange(3 * self.width**2).reshape(self.observation_shape)
        images = np.stack([entries.reshape(-1), entries[:, :, ::-1].reshape(-1)])
        return Symmetries(np.stack([np.arange(len(self.pairs)), actions]), images)

    def action_to_string(self, action: int) -> str:
        """As X takes it, the lower square first: c2c3."""
        return self.action_text(action, player=0)

    def action_text(self, action: int, player: int) -> str:
        """The square that the stone leaves first: c2c3 for X, c4c3 for O."""
        squares = self.pairs[action] if player == 1 else reversed(self.pairs[action])
        return "".join(map(self.square_name, squares))

    def write_transcript(self, actions: Iterable[int]) -> str:
        """As the players take them: X moves first, and nobody passes."""
        return " ".join(starmap(self.action_text, zip(actions, cycle((0, 1)), strict=False)))

    def string_to_action(self, text: str) -> int:
        """The two squares in either order, because they name one action."""
        written = text.strip().lower()
        for action in range(len(self.pairs)):
            if self.action_to_string(action) in (written, written[2:] + written[:2]):
                return action
        raise IllegalActionError(f"{shortened(text)!r} is not a move; write {self.presentation.action_help}")

    def square_name(self, square: int) -> str:
        return f"{COLUMNS[square % self.width]}{self.width - square // self.width}"
