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
captures, and only a straight one needs an empty square.

An action is a pair of squares in neighbouring rows that touch. X and O move between the same squares in opposite
directions, so they share these actions. The straight pairs come first, then those whose lower square is further left,
then those whose lower square is further right. Each group is ordered by the upper squares. There are 52 on 5x5 squares,
80 on 6x6 and 154 on 8x8.
"""

from collections.abc import Iterable
from functools import cache
from itertools import cycle, starmap
from typing import NamedTuple

import numpy as np

from selfplay.compute.bit_algebra import Word, rule, word_of
from selfplay.compute.positions import flag, position, squares
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
    size, pairs = width * width, pairs_of(width)
    upper_squares, lower_squares = zip(*pairs, strict=True)
    upper = size - width
    """The number of squares that are the upper one of a pair: they are the first ones."""
    diagonal = upper - (width - 1)
    """The number of pairs of each diagonal direction."""
    board, top, bottom = (word_of(part) for part in (range(size), range(width), range(upper, size)))
    row_but_one = (1 << (width - 1)) - 1
    not_left = word_of(square for square in range(size) if square % width > 0)
    not_right = word_of(square for square in range(size) if square % width < width - 1)
    no_actions, one = word_of([], len(pairs)), word_of([0])

    @position
    class Position(NamedTuple):
        own: Word = squares(size)
        opp: Word = squares(size)
        up: int = flag()
        """Whether the player to move is X, who moves up."""

    @rule
    def without_gaps(word: Word) -> Word:
        """The first `width` - 1 squares of each of the upper rows, as actions."""
        found = no_actions
        for row in range(width - 1):
            found = found | (((word >> (width * row)) & row_but_one) << ((width - 1) * row))
        return found

    @rule
    def is_terminal(p: Position) -> bool:
        """The player who has just moved has reached the other end, or has captured all stones."""
        return p.own == 0 or (p.opp & (bottom if p.up else top)) != 0

    @rule
    def legal_actions(p: Position) -> Word:
        """Moving up, a pair is legal if its lower square has an own stone and its upper one is free; moving down, in
        reverse."""
        if is_terminal(p):
            return 0
        empty = board & ~(p.own | p.opp)
        # The squares from which or to which a stone may move, above and below.
        if p.up:
            above, below, straight = board & ~p.own, p.own, empty & (p.own >> width)
        else:
            above, below, straight = p.own, board & ~p.own, p.own & (empty >> width)
        to_left = (above & not_left & (below >> (width - 1))) >> 1
        to_right = above & not_right & (below >> (width + 1))
        return straight | (without_gaps(to_left) << upper) | (without_gaps(to_right) << (upper + diagonal))

    @rule
    def play(p: Position, action: int) -> Position:
        """Move the stone from one square of the pair to the other, and capture what is there."""
        pair = one << upper_squares[action] | one << lower_squares[action]
        return Position(p.opp & ~pair, p.own ^ pair, 1 - p.up)

    @rule
    def return_to_move(p: Position) -> int:
        """The player who has just moved has won."""
        return -1

    start = word_of(range(size - 2 * width, size)), word_of(range(2 * width))
    return Rules(Position(*start, 1), legal_actions, play, is_terminal, return_to_move)


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
    hidden_fields = ("up",)

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
        mirrored = self.square_numbers[:, ::-1]
        squares = mirrored.reshape(-1).tolist()
        actions = [self.pairs.index((squares[upper], squares[lower])) for upper, lower in self.pairs]
        return self.symmetries_of([self.square_numbers, mirrored], np.stack([np.arange(len(self.pairs)), actions]))

    def action_to_string(self, action: int) -> str:
        """As X takes it, the lower square first: c2c3."""
        return self.action_text(action, player=0)

    def action_text(self, action: int, player: int) -> str:
        """The square that the stone leaves first: c2c3 for X, c4c3 for O."""
        squares = self.pairs[action] if player == 1 else reversed(self.pairs[action])
        return "".join(map(self.square_name, squares))

    def other_texts(self, action: int) -> list[str]:
        """With a sign between the squares: c2-c3, c2xd3."""
        texts = (self.action_text(action, player) for player in (0, 1))
        return [f"{text[:2]}{sign}{text[2:]}" for text in texts for sign in "-x"]

    def write_transcript(self, actions: Iterable[int]) -> str:
        """As the players take them: X moves first, and nobody passes."""
        return " ".join(starmap(self.action_text, zip(actions, cycle((0, 1)), strict=False)))

    def square_name(self, square: int) -> str:
        return f"{COLUMNS[square % self.width]}{self.width - square // self.width}"
