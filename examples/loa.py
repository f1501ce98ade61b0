"""Lines of Action (Soucie, 1969) on 6x6 squares: bring all your men together.

Bit i of a board is square i, rows from the top. A man moves in one of eight directions, exactly as many squares as
there are men of both players on that line. It may jump over own men, not over others, and captures a man on its target.
Who has all men in one group, connected also diagonally, wins; if a move does this for both, who has moved wins. Action
36 * direction + i moves the man on square i (directions clockwise from "up").

    selfplay learn game=loa:LinesOfAction
"""

from typing import NamedTuple

from selfplay import Game, Presentation, Rules, Word, bit_count, number, position, rule, squares, word_of

WIDTH = 6
SQUARES = WIDTH * WIDTH
LIMIT = 120  # plies; then the match is a draw
DIRECTIONS = ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1))
STEPS = tuple(WIDTH * down + right for down, right in DIRECTIONS)


def ray(square: int, direction: int) -> list[int]:
    """The squares from a square in a direction, the nearest first."""
    (down, right), row, column = DIRECTIONS[direction], square // WIDTH, square % WIDTH
    places = [(row + down * k, column + right * k) for k in range(1, WIDTH)]
    return [WIDTH * r + c for r, c in places if 0 <= r < WIDTH and 0 <= c < WIDTH]


ROOM = tuple(len(ray(square, direction)) for direction in range(8) for square in range(SQUARES))
"""For each direction and square, the squares up to the edge."""
LINES = tuple(
    word_of([square, *ray(square, direction), *ray(square, direction + 4)])
    for direction in range(4)
    for square in range(SQUARES)
)
BOARD = word_of(range(SQUARES))
NOT_LEFT = word_of(i for i in range(SQUARES) if i % WIDTH > 0)
NOT_RIGHT = word_of(i for i in range(SQUARES) if i % WIDTH < WIDTH - 1)
ACTIONS = 8 * SQUARES
NONE, FIRST, ONE = word_of([], ACTIONS), word_of([0], ACTIONS), word_of([0], SQUARES)


@position
class Position(NamedTuple):
    own: Word = squares(SQUARES)
    opp: Word = squares(SQUARES)
    plies: int = number(7)


@rule
def moved(stones: Word, step: int) -> Word:
    return stones << step if step > 0 else stones >> (-step)


@rule
def is_together(stones: Word) -> bool:
    group = stones & -stones
    while True:
        row = group | ((group & NOT_RIGHT) << 1) | ((group & NOT_LEFT) >> 1)
        grown = stones & (row | (row << WIDTH) | (row >> WIDTH))
        if grown == group:
            break
        group = grown
    return group == stones


@rule
def is_decided(p: Position) -> bool:
    return is_together(p.opp) or is_together(p.own)


@rule
def is_open(p: Position, square: int, direction: int) -> bool:
    """Whether the man on a square can move in a direction."""
    count = bit_count((p.own | p.opp) & LINES[SQUARES * (direction % 4) + square])
    if count > ROOM[SQUARES * direction + square]:
        return False
    man = ONE << square
    for _ in range(count - 1):
        man = moved(man, STEPS[direction])
        if (man & p.opp) != 0:
            return False
    return (moved(man, STEPS[direction]) & p.own) == 0


@rule
def legal_actions(p: Position) -> Word:
    found = NONE
    if is_decided(p) or p.plies >= LIMIT:
        return found
    for square in range(SQUARES):
        if ((p.own >> square) & 1) != 0:
            for direction in range(8):
                if is_open(p, square, direction):
                    found = found | (FIRST << (SQUARES * direction + square))
    return found


@rule
def play(p: Position, action: int) -> Position:
    direction, square = action // SQUARES, action % SQUARES
    count = bit_count((p.own | p.opp) & LINES[SQUARES * (direction % 4) + square])
    man = ONE << square
    target = moved(man, count * STEPS[direction])
    return Position(p.opp & ~target, (p.own ^ man) | target, p.plies + 1)


@rule
def return_to_move(p: Position) -> int:
    """Who has just moved wins if all men are together, even if those of the other are too. Who cannot move loses."""
    if is_together(p.opp):
        return -1
    if is_together(p.own):
        return 1
    if p.plies >= LIMIT:
        return 0
    return -1


class LinesOfActionPresentation(Presentation):
    title = "Lines of Action"
    player_names = ("X", "O")
    aim = "Bring all your men together in one group."
    action_help = "a square and a direction, such as b6n or b6se"
    how_to_play = (
        "X moves first; then the players take turns.",
        "A man moves along a row, column or diagonal, as many squares as there are men of both players on this line.",
        "It may jump over your own men, but not over others, and captures a man of the other player on its target.",
        "You win when all your men are connected, also diagonally.",
        f"Who cannot move loses. After {LIMIT} plies the match is a draw.",
    )
    column_names = "abcdef"


class LinesOfAction(Game):
    name = "loa"
    num_distinct_actions = ACTIONS
    observation_shape = (2 + 7, WIDTH, WIDTH)
    max_game_length = LIMIT
    rules = Rules(
        Position(
            own=word_of([1, 2, 3, 4, 31, 32, 33, 34]),
            opp=word_of([6, 12, 18, 24, 11, 17, 23, 29]),
            plies=0,
        ),
        legal_actions,
        play,
        return_to_move=return_to_move,
    )
    presentation_class = LinesOfActionPresentation

    def action_to_string(self, action: int) -> str:
        direction, square = divmod(action, SQUARES)
        name = ("n", "ne", "e", "se", "s", "sw", "w", "nw")[direction]
        return f"{'abcdef'[square % WIDTH]}{square // WIDTH + 1}{name}"
