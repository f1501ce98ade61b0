"""Nine men's morris: three stones on a line are a mill, which removes a stone of the opponent.

The 24 points are drawn on a grid of 7 x 7 squares. Bit `7 * row + column` of a word is the square (row, column):

    7  .  -  -  .  -  -  .
    6  |  .  -  .  -  .  |
    5  |  |  .  .  .  |  |
    4  .  .  .     .  .  .
    3  |  |  .  .  .  |  |
    2  |  .  -  .  -  .  |
    1  .  -  -  .  -  -  .
       a  b  c  d  e  f  g

Player 0 is X, player 1 is O. The points are numbered in reading order. Action i in range(24) places a stone on point i
or, after a mill was closed, removes the stone there. Action 24 + 24 * i + j moves a stone from point i to point j.
Rules and numbers are those of OpenSpiel:

- Players place nine stones each in turns. Then they move a stone to a neighbouring point, with three stones to any.
- Who closes a mill removes a stone of the opponent at once, which is an action of its own: one that is not in a mill,
  if there is one.
- A player with fewer than three stones, or without a legal action, loses. After 200 turns the match is a draw.
"""

from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word, bit_count, rule, word_of
from selfplay.compute.positions import flag, number, position, squares
from selfplay.games.game import Game
from selfplay.games.presentation import Presentation
from selfplay.games.rules import Rules, Symmetries
from selfplay.games.state import State

WIDTH, STONES, TURNS = 7, 9, 200
ROWS = ".--.--.", "|.-.-.|", "||...||", "... ...", "||...||", "|.-.-.|", ".--.--."
DRAWN = "".join(ROWS)
SQUARES = tuple(square for square, sign in enumerate(DRAWN) if sign == ".")
"""The square of each point."""
POINTS = len(SQUARES)
BY_COLUMN = sorted(SQUARES, key=lambda square: (square % WIDTH, square))
LINES = [line[start : start + 3] for line in (list(SQUARES), BY_COLUMN) for start in range(0, POINTS, 3)]
"""The squares of each mill, in order."""
MILLS = tuple(map(word_of, LINES))
JOINED = [pair for line in LINES for pair in pairwise(line)]
"""The squares of neighbouring points."""
NAMES = [f"{'abcdefg'[square % WIDTH]}{WIDTH - square // WIDTH}" for square in SQUARES]


@cache
def nine_mens_morris_rules() -> Rules:
    points, size, lines = POINTS, WIDTH * WIDTH, len(MILLS)
    mills, square_of, board = MILLS, SQUARES, word_of(SQUARES)
    joined = {*JOINED, *(pair[::-1] for pair in JOINED)}
    neighbours = tuple(word_of(to for to in range(points) if (one, SQUARES[to]) in joined) for one in SQUARES)
    """The points beside each point, as bits of points."""
    none = word_of((), points + points * points)

    @position
    class Position(NamedTuple):
        own: Word = squares(size)
        opp: Word = squares(size)
        own_left: int = number(4)
        """The stones that the player to move has not placed yet."""
        opp_left: int = number(4)
        removing: int = flag()
        """Whether the player to move has closed a mill and removes a stone."""
        turns: int = number(8)

    @rule
    def numbered(stones: Word) -> Word:
        """The points of squares: bit i is point i."""
        found = stones & 0
        for point in range(points):
            found = found | (stones >> square_of[point] & 1) << point
        return found

    @rule
    def in_mills(stones: Word) -> Word:
        """The stones that are in a mill."""
        found = stones & 0
        for line in range(lines):
            if (stones & mills[line]) == mills[line]:
                found = found | mills[line]
        return found

    @rule
    def targets(p: Position, point: int, empty: Word) -> Word:
        """The empty points to which the stone of the player to move on this point can go."""
        return empty if bit_count(p.own) == 3 else empty & neighbours[point]

    @rule
    def has_lost(p: Position) -> bool:
        """Whether the player to move has too few stones, or cannot move."""
        if p.own_left > 0 or p.removing == 1:
            return bit_count(p.own) + p.own_left < 3
        empty, rest = numbered(board & ~(p.own | p.opp)), numbered(p.own)
        while rest != 0:
            if targets(p, bit_count((rest & -rest) - 1), empty) != 0:
                return bit_count(p.own) < 3
            rest = rest & (rest - 1)
        return True

    @rule
    def legal_actions(p: Position) -> Word:
        if p.turns == TURNS or bit_count(p.own) + p.own_left < 3:
            return none
        if p.removing == 1:
            single = p.opp & ~in_mills(p.opp)
            return none | numbered(single if single != 0 else p.opp)
        empty = numbered(board & ~(p.own | p.opp))
        if p.own_left > 0:
            return none | empty
        found, rest = none, numbered(p.own)
        while rest != 0:
            point = bit_count((rest & -rest) - 1)
            rest = rest & (rest - 1)
            found = found | (none | targets(p, point, empty)) << (points + points * point)
        return found

    @rule
    def play(p: Position, action: int) -> Position:
        if p.removing == 1:
            return Position(p.opp ^ 1 << square_of[action], p.own, p.opp_left, p.own_left, 0, p.turns + 1)
        left, origin, to = p.own_left, p.own & 0, action
        if action < points:
            left = left - 1
        else:
            point = (action - points) // points
            to = action - points - points * point
            origin = origin | 1 << square_of[point]
        stone = 1 << square_of[to]
        own = p.own & ~origin | stone
        if (in_mills(own) & stone) != 0:
            return Position(own, p.opp, left, p.opp_left, 1, p.turns)
        return Position(p.opp, own, p.opp_left, left, 0, p.turns + 1)

    @rule
    def moves_again(p: Position) -> bool:
        return p.removing == 1

    @rule
    def is_terminal(p: Position) -> bool:
        return p.turns == TURNS or has_lost(p)

    @rule
    def return_to_move(p: Position) -> Word:
        return -1 * has_lost(p)

    start = Position(0, 0, STONES, STONES, 0, 0)
    return Rules(start, legal_actions, play, is_terminal, return_to_move, moves_again=moves_again)


class NineMensMorrisPresentation(Presentation):
    title = "Nine men's morris"
    aim = "Close mills, three of your stones on a line, to leave the opponent two stones or no move."
    player_names = ("X", "O")
    how_to_play = (
        "X moves first. First both players place nine stones in turns, on any empty points.",
        "Then a move takes one of your stones along a line to a neighbouring empty point.",
        "A player with only three stones left may move a stone to any empty point.",
        "Three of your stones on a straight line are a mill. Whenever you close one, you remove an opposing stone.",
        "Stones in a mill can be removed only if all stones of the opponent are in mills.",
        "A player with two stones left loses, and so does one who cannot move.",
        f"After {TURNS} turns the match is a draw.",
    )
    example = "d6 d2 b6 b4 f6"
    example_caption = "X has closed a mill on the middle square and removes a stone of O."
    action_help = "a point such as d6 to place or remove a stone, or two points such as d6-d7 to move one"
    column_names, row_names = "abcdefg", "7654321"
    moves_stones = is_on_crossings = True
    joined_squares = JOINED
    unused_squares = tuple(square for square, sign in enumerate(DRAWN) if sign != ".")

    def square_signs(self, state: State, row: int = 0) -> list[str]:
        """The stones, and the lines between the points."""
        return [
            drawn if drawn != "." else sign for drawn, sign in zip(DRAWN, self.stone_signs(state, row), strict=True)
        ]

    def numbers_text(self, state: State, row: int = 0) -> str:
        """How many stones are to be placed, and whether one is to be removed."""
        p, player = self.game.positions(state)[row], int(state.current_player[row])
        if p.removing:
            return f"{self.player_names[player]} removes a stone"
        left = (p.own_left, p.opp_left) if player == 0 else (p.opp_left, p.own_left)
        return "to place: X {}, O {}".format(*left) if any(left) else ""

    def pointed_squares(self, action: int) -> list[int]:
        return [SQUARES[point] for point in _points_of(action)]


class NineMensMorris(Game):
    """Nine men's morris, X first."""

    name = "nine_mens_morris"
    presentation_class = NineMensMorrisPresentation
    num_distinct_actions = POINTS + POINTS * POINTS
    observation_shape = (19, WIDTH, WIDTH)
    # Each stone of a player but two can be removed.
    max_game_length = TURNS + 2 * (STONES - 2)

    def __init__(self) -> None:
        self.rules = nine_mens_morris_rules()

    @property
    def symmetries(self) -> Symmetries:
        """The eight of a square, each also with the inner and the outer points exchanged."""
        turned = [np.rot90(self.square_numbers, turns) for turns in range(4)]
        boards = [image.reshape(-1) for one in turned for image in (one, one.T)]
        boards += [board[_inside_out()] for board in boards]
        targets = np.stack([np.searchsorted(SQUARES, np.argsort(board)[list(SQUARES)]) for board in boards])
        moves = POINTS + POINTS * targets[:, :, None] + targets[:, None]
        return self.symmetries_of(boards, np.concatenate([targets, moves.reshape(len(boards), -1)], axis=1))

    def action_to_string(self, action: int) -> str:
        return "-".join(NAMES[point] for point in _points_of(action))


def _points_of(action: int) -> list[int]:
    """The point of an action or, if it moves a stone, both points."""
    return [action] if action < POINTS else list(divmod(action - POINTS, POINTS))


def _inside_out() -> NDArray[np.int64]:
    """int64[49]: the square that each square is exchanged with, so that the inner points become the outer ones."""
    exchanged = np.arange(WIDTH * WIDTH)
    middle = WIDTH // 2
    for square in SQUARES:
        down, right = square // WIDTH - middle, square % WIDTH - middle
        distance = max(abs(down), abs(right))
        factor = (4 - distance) / distance
        exchanged[square] = WIDTH * (middle + round(down * factor)) + middle + round(right * factor)
    return exchanged
