"""Ataxx on 7x7 squares (1988): stones grow or jump, and take over their new neighbours; most stones win.

Bit i of a board is square i, rows from the top. Action i puts a new stone on square i, beside an own one. Action
49 * (1 + k) + i jumps from square i by the k-th of the sixteen jumps, to a square at distance two. The last action is
the pass, for a player who has stones and no move.

    selfplay learn game=ataxx:Ataxx
"""

from typing import NamedTuple

from selfplay import Game, Presentation, Rules, Word, bit_count, number, position, rule, squares, word_of

WIDTH = 7
SQUARES = WIDTH * WIDTH
LIMIT = 150  # plies; jumps can repeat positions
JUMPS = tuple((down, right) for down in range(-2, 3) for right in range(-2, 3) if max(abs(down), abs(right)) == 2)
STEPS = tuple(WIDTH * down + right for down, right in JUMPS)
ROOM = tuple(
    word_of(i for i in range(SQUARES) if 0 <= i // WIDTH + down < WIDTH and 0 <= i % WIDTH + right < WIDTH)
    for down, right in JUMPS
)
"""For each jump, the squares from which it stays on the board."""
BOARD = word_of(range(SQUARES))
NOT_LEFT = word_of(i for i in range(SQUARES) if i % WIDTH > 0)
NOT_RIGHT = word_of(i for i in range(SQUARES) if i % WIDTH < WIDTH - 1)
PASS = SQUARES * (1 + len(JUMPS))
NONE, ONE = word_of([], PASS + 1), word_of([0], SQUARES)


@position
class Position(NamedTuple):
    own: Word = squares(SQUARES)
    opp: Word = squares(SQUARES)
    plies: int = number(8)


@rule
def around(stones: Word) -> Word:
    """The squares beside stones, also diagonally, and the stones."""
    row = stones | ((stones & NOT_RIGHT) << 1) | ((stones & NOT_LEFT) >> 1)
    return (row | (row << WIDTH) | (row >> WIDTH)) & BOARD


@rule
def legal_actions(p: Position) -> Word:
    if is_terminal(p):
        return NONE
    free = BOARD & ~(p.own | p.opp)
    found = NONE | (around(p.own) & free)
    for k in range(16):
        step = STEPS[k]
        starts = p.own & ROOM[k] & (free >> step if step > 0 else free << (-step))
        found = found | ((NONE | starts) << (SQUARES * (1 + k)))
    return found


@rule
def play(p: Position, action: int) -> Position:
    if action == PASS:
        return Position(p.opp, p.own, p.plies + 1)
    own, square = p.own, action % SQUARES
    if action >= SQUARES:
        own = own ^ (ONE << square)
        square = square + STEPS[action // SQUARES - 1]
    stone = ONE << square
    taken = around(stone) & p.opp
    return Position(p.opp ^ taken, own | stone | taken, p.plies + 1)


@rule
def is_terminal(p: Position) -> bool:
    return (p.own | p.opp) == BOARD or p.own == 0 or p.opp == 0 or p.plies >= LIMIT


@rule
def margin(p: Position) -> int:
    return bit_count(p.own) - bit_count(p.opp)


@rule
def return_to_move(p: Position) -> int:
    return (margin(p) > 0) - (margin(p) < 0)


class AtaxxPresentation(Presentation):
    title = "Ataxx"
    player_names = ("X", "O")
    aim = "Have more stones than the other player at the end."
    action_help = "the square of a new stone, such as c3, or the squares of a jump, such as a1c2"
    how_to_play = (
        "X moves first; then the players take turns.",
        "A move puts a new stone beside one of yours, also diagonally, or jumps with one of yours to distance two.",
        "All stones of the other player beside the new square become yours.",
        "Who has no move passes.",
        f"The match ends when the board is full, a player has no stone, or after {LIMIT} plies.",
    )
    column_names = "abcdefg"


class Ataxx(Game):
    name = "ataxx"
    num_distinct_actions = PASS + 1
    pass_action = PASS
    observation_shape = (10, WIDTH, WIDTH)
    max_game_length = LIMIT
    most_points = float(SQUARES)
    rules = Rules(
        Position(word_of([0, SQUARES - 1]), word_of([WIDTH - 1, SQUARES - WIDTH]), 0),
        legal_actions,
        play,
        is_terminal,
        return_to_move,
        margin=margin,
    )
    presentation_class = AtaxxPresentation

    def action_to_string(self, action: int) -> str:
        if action == PASS:
            return "pass"
        row, column = divmod(action % SQUARES, WIDTH)
        text = square_name(row, column)
        if action >= SQUARES:
            down, right = JUMPS[action // SQUARES - 1]
            text += square_name(row + down, column + right)
        return text


def square_name(row: int, column: int) -> str:
    """The name of a square; of one beyond the board, which no legal action reaches, its numbers."""
    is_on_board = 0 <= row < WIDTH and 0 <= column < WIDTH
    return f"{'abcdefg'[column]}{row + 1}" if is_on_board else f"({column},{row})"
