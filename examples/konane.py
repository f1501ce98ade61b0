"""Konane, checkers of Hawaii, on 8x8 squares: stones jump and capture; who cannot move loses.

Bit i of a board is square i, rows from the top. At the start the board is full but for two squares in the middle. A
move jumps over a stone of the other player, straight on to the empty square behind it, one to three times in the same
direction. Action 64 * (3 * direction + jumps - 1) + i moves the stone on square i.

    selfplay learn game=konane:Konane
"""

from typing import NamedTuple

from selfplay import Game, Presentation, Rules, Word, position, rule, squares, word_of

WIDTH = 8
SQUARES = WIDTH * WIDTH
JUMPS = 3
DIRECTIONS = ((0, 1), (1, 0), (0, -1), (-1, 0))
STEPS = tuple(WIDTH * down + right for down, right in DIRECTIONS)
MIDDLE = (27, 28)  # d4 and e4, which are empty at the start
ROOM = tuple(
    word_of(
        square
        for square in range(SQUARES)
        if 0 <= square // WIDTH + 2 * down < WIDTH and 0 <= square % WIDTH + 2 * right < WIDTH
    )
    for down, right in DIRECTIONS
)
"""For each direction, the squares with two others behind them."""
ACTIONS = len(DIRECTIONS) * JUMPS * SQUARES
NONE, ONE = word_of([], ACTIONS), word_of([0], SQUARES)


@position
class Position(NamedTuple):
    own: Word = squares(SQUARES)
    opp: Word = squares(SQUARES)


@rule
def moved(stones: Word, step: int) -> Word:
    return stones << step if step > 0 else stones >> (-step)


@rule
def legal_actions(p: Position) -> Word:
    free, found = ~(p.own | p.opp), NONE
    for direction in range(4):
        step = STEPS[direction]
        # From where a jump over a stone of the other player ends on a free square.
        jumps = ROOM[direction] & moved(p.opp, -step) & moved(free, -2 * step)
        starts = p.own & jumps
        for count in range(JUMPS):
            found = found | ((NONE | starts) << (SQUARES * (JUMPS * direction + count)))
            jumps = ROOM[direction] & moved(jumps, -2 * step)
            starts = starts & jumps
    return found


@rule
def play(p: Position, action: int) -> Position:
    way, square = action // SQUARES, action % SQUARES
    step = STEPS[way // JUMPS]
    stone, opp = ONE << square, p.opp
    own = p.own ^ stone
    for _ in range(way % JUMPS + 1):
        opp = opp & ~moved(stone, step)
        stone = moved(stone, 2 * step)
    return Position(opp, own | stone)


class KonanePresentation(Presentation):
    title = "Konane"
    player_names = ("X", "O")
    aim = "Be the last player who can jump."
    action_help = "the squares from and to, such as e2e4"
    how_to_play = (
        "X moves first; then the players take turns.",
        "A move jumps with one of your stones over a stone of the other player to the empty square behind it.",
        "The stone that was jumped over is captured. Jumps go along rows and columns.",
        "The same stone may jump again in the same direction.",
        "Who cannot jump loses. There are no draws.",
    )
    column_names = "abcdefgh"


class Konane(Game):
    name = "konane"
    num_distinct_actions = ACTIONS
    observation_shape = (2, WIDTH, WIDTH)
    max_game_length = SQUARES
    rules = Rules(
        Position(
            word_of(i for i in range(SQUARES) if (i + i // WIDTH) % 2 == 0 and i not in MIDDLE),
            word_of(i for i in range(SQUARES) if (i + i // WIDTH) % 2 == 1 and i not in MIDDLE),
        ),
        legal_actions,
        play,
    )
    presentation_class = KonanePresentation

    def action_to_string(self, action: int) -> str:
        way, square = divmod(action, SQUARES)
        down, right = (2 * (way % JUMPS + 1) * part for part in DIRECTIONS[way // JUMPS])
        return square_name(square // WIDTH, square % WIDTH) + square_name(
            square // WIDTH + down, square % WIDTH + right
        )


def square_name(row: int, column: int) -> str:
    """The name of a square; of one beyond the board, which no legal action reaches, its numbers."""
    is_on_board = 0 <= row < WIDTH and 0 <= column < WIDTH
    return f"{'abcdefgh'[column]}{row + 1}" if is_on_board else f"({column},{row})"
