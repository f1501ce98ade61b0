"""Animal shogi (Dobutsu shogi, Kitao 2008) on 3x4 squares: capture the lion; captured animals come back as one's own.

Bit i of a board is square i, three in a row, rows from the top. Player 0 starts below and moves up. A lion steps in all
eight directions, a giraffe along rows and columns, an elephant diagonally, a chick straight on; a chick that arrives at
the last row is a hen, which steps like a lion, but not diagonally backwards. A lion that arrives at the last row and
cannot be captured there also wins. Action 12 * direction + i moves the animal on square i (directions clockwise from
"up"), action 96 + 12 * kind + i drops a chick, an elephant or a giraffe on square i.

    selfplay learn game=animals:Animals
"""

from types import MappingProxyType
from typing import NamedTuple

from selfplay import Game, Presentation, Rules, Word, flag, number, numbers, position, replaced, rule, squares, word_of

ROWS, COLUMNS = 4, 3
SQUARES = ROWS * COLUMNS
LIMIT = 120  # plies; then the match is a draw
DIRECTIONS = ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1))
STEPS = tuple(COLUMNS * down + right for down, right in DIRECTIONS)
ROOM = tuple(
    word_of(i for i in range(SQUARES) if 0 <= i // COLUMNS + down < ROWS and 0 <= i % COLUMNS + right < COLUMNS)
    for down, right in DIRECTIONS
)
"""For each direction, the squares from which a step stays on the board."""
BOARD, TOP, BOTTOM = word_of(range(SQUARES)), word_of(range(3)), word_of(range(9, 12))
DROPS = 8 * SQUARES
NONE, EMPTY, ONE = word_of([], DROPS + 3 * SQUARES), word_of([], SQUARES), word_of([0], SQUARES)


@position
class Position(NamedTuple):
    own: Word = squares(SQUARES)
    opp: Word = squares(SQUARES)
    lions: Word = squares(SQUARES)
    giraffes: Word = squares(SQUARES)
    elephants: Word = squares(SQUARES)
    hens: Word = squares(SQUARES)  # all others are chicks
    own_hand: tuple[int, ...] = numbers(3, up_to=2)  # chicks, elephants, giraffes
    opp_hand: tuple[int, ...] = numbers(3, up_to=2)
    up: int = flag()  # whether the player to move moves up
    plies: int = number(7)


@rule
def stepping(p: Position, stones: Word, up: bool, direction: int) -> Word:
    """Those of the stones of a player, who moves up or down, that can step in a direction (0 is up)."""
    ahead = direction if up else (direction + 4) % 8
    chicks = ~(p.lions | p.giraffes | p.elephants | p.hens)
    able = p.lions
    if ahead == 0:
        able = able | p.giraffes | p.hens | chicks
    elif ahead % 2 == 0:
        able = able | p.giraffes | p.hens
    else:
        able = able | p.elephants
        if ahead == 1 or ahead == 7:
            able = able | p.hens
    return stones & able & ROOM[direction]


@rule
def moved(stones: Word, step: int) -> Word:
    return stones << step if step > 0 else stones >> (-step)


@rule
def attacked(p: Position, stones: Word, up: bool) -> Word:
    """The squares to which stones of a player, who moves up or down, can step."""
    found = EMPTY
    for direction in range(8):
        found = found | moved(stepping(p, stones, up, direction), STEPS[direction])
    return found


@rule
def is_decided(p: Position) -> bool:
    """The lion of the player to move is captured, or that of the other has arrived at its last row and is safe."""
    if (p.own & p.lions) == 0:
        return True
    arrived = p.opp & p.lions & (BOTTOM if p.up else TOP)
    return (arrived & ~attacked(p, p.own, p.up == 1)) != 0


@rule
def legal_actions(p: Position) -> Word:
    found = NONE
    if is_decided(p) or p.plies >= LIMIT:
        return found
    for direction in range(8):
        starts = stepping(p, p.own, p.up == 1, direction) & moved(BOARD & ~p.own, -STEPS[direction])
        found = found | ((NONE | starts) << (SQUARES * direction))
    free = BOARD & ~(p.own | p.opp)
    for kind in range(3):
        if p.own_hand[kind] > 0:
            found = found | ((NONE | free) << (DROPS + SQUARES * kind))
    return found


@rule
def play(p: Position, action: int) -> Position:
    way, square = action // SQUARES, action % SQUARES
    if action >= DROPS:
        stone, kind = ONE << square, way - 8
        elephants = p.elephants | stone if kind == 1 else p.elephants
        giraffes = p.giraffes | stone if kind == 2 else p.giraffes
        hand = replaced(p.own_hand, kind, p.own_hand[kind] - 1)
        return Position(
            p.opp, p.own | stone, p.lions, giraffes, elephants, p.hens, p.opp_hand, hand, 1 - p.up, p.plies + 1
        )
    start = ONE << square
    stone = moved(start, STEPS[way])
    hand = p.own_hand
    if (stone & p.opp & ~p.lions) != 0:
        kind = 0
        if (stone & p.elephants) != 0:
            kind = 1
        if (stone & p.giraffes) != 0:
            kind = 2
        hand = replaced(hand, kind, hand[kind] + 1)
    is_chick = (start & (p.lions | p.giraffes | p.elephants | p.hens)) == 0
    is_hen = (start & p.hens) != 0 or (is_chick and (stone & (TOP if p.up else BOTTOM)) != 0)
    kept = ~(start | stone)
    return Position(
        p.opp & ~stone,
        (p.own ^ start) | stone,
        (p.lions & kept) | (stone if (start & p.lions) != 0 else EMPTY),
        (p.giraffes & kept) | (stone if (start & p.giraffes) != 0 else EMPTY),
        (p.elephants & kept) | (stone if (start & p.elephants) != 0 else EMPTY),
        (p.hens & kept) | (stone if is_hen else EMPTY),
        p.opp_hand,
        hand,
        1 - p.up,
        p.plies + 1,
    )


@rule
def return_to_move(p: Position) -> int:
    """Decided: the other player has won. Otherwise the plies have run out: a draw."""
    return -1 if is_decided(p) else 0


class AnimalsPresentation(Presentation):
    title = "Animal shogi"
    player_names = ("first", "second")
    aim = "Capture the other lion, or bring yours safely to the other end."
    action_help = "the square and the direction of a move, such as b3n, or a drop, such as C*b3"
    how_to_play = (
        "The players take turns; the first player moves up.",
        "The lion steps in all directions, the giraffe straight, the elephant diagonally, the chick one square ahead.",
        "A chick that reaches the other end becomes a hen, which does not step diagonally backwards.",
        "A captured animal is yours: instead of moving, drop it on an empty square. A hen comes back as a chick.",
        "Capture the lion, or bring yours to the other end where it cannot be captured at once.",
        f"After {LIMIT} plies the match is a draw.",
    )
    column_names = "abc"
    square_marks = MappingProxyType({kind: kind[:-1] for kind in ("lions", "giraffes", "elephants", "hens")})
    hidden_fields = ("up",)


class Animals(Game):
    name = "animals"
    num_distinct_actions = DROPS + 3 * SQUARES
    observation_shape = (6 + 6 + 1 + 7, ROWS, COLUMNS)
    max_game_length = LIMIT
    rules = Rules(
        Position(
            own=word_of([7, 9, 10, 11]),
            opp=word_of([0, 1, 2, 4]),
            lions=word_of([1, 10]),
            giraffes=word_of([0, 11]),
            elephants=word_of([2, 9]),
            hens=0,
            own_hand=(0, 0, 0),
            opp_hand=(0, 0, 0),
            up=1,
            plies=0,
        ),
        legal_actions,
        play,
        return_to_move=return_to_move,
    )
    presentation_class = AnimalsPresentation

    def action_to_string(self, action: int) -> str:
        way, square = divmod(action, SQUARES)
        name = f"{'abc'[square % COLUMNS]}{square // COLUMNS + 1}"
        return f"{'CEG'[way - 8]}*{name}" if action >= DROPS else name + DIRECTION_NAMES[way]


DIRECTION_NAMES = ("n", "ne", "e", "se", "s", "sw", "w", "nw")
