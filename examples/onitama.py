"""Onitama (2014) on 5x5 squares with five fixed cards: capture the master, or bring yours to the other temple.

Bit i of a board is square i, rows from the top. Player 0 starts below and moves up. A card has the steps that a man may
take with it; after the move it goes to the side, and the player gets the card that was there. Action 25 * (4 * card +
k) + i moves the man on square i by the k-th step of a card; action 500 + card only exchanges it, for a player who
cannot move.

    selfplay learn game=onitama:Onitama
"""

from types import MappingProxyType
from typing import NamedTuple

from selfplay import Game, Presentation, Rules, State, Word, flag, number, position, rule, squares, word_of

WIDTH = 5
SQUARES = WIDTH * WIDTH
LIMIT = 100  # plies; then the match is a draw
CARDS = ("tiger", "crab", "monkey", "crane", "dragon")
STEPS = (
    ((-2, 0), (1, 0)),
    ((-1, 0), (0, -2), (0, 2)),
    ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    ((-1, 0), (1, -1), (1, 1)),
    ((-1, -2), (-1, 2), (1, -1), (1, 1)),
)
"""Of each card, rows down and columns to the right, for the player who moves up."""
WAYS = tuple(4 * card + k for card in range(5) for k in range(len(STEPS[card])))
"""The ways that exist: 4 * card + k."""


def shift(way: int, turn: int) -> tuple[int, int]:
    """Rows down and columns to the right of a way, for the player who moves up (0) or down (1)."""
    down, right = STEPS[way // 4][way % 4] if way in WAYS else (0, 0)
    return (down, right) if turn == 0 else (-down, -right)


SHIFTS = tuple(WIDTH * shift(way, turn)[0] + shift(way, turn)[1] for turn in range(2) for way in range(20))
ROOM = tuple(
    word_of(
        i
        for i in range(SQUARES)
        if 0 <= i // WIDTH + shift(way, turn)[0] < WIDTH and 0 <= i % WIDTH + shift(way, turn)[1] < WIDTH
    )
    for turn in range(2)
    for way in range(20)
)
"""For each turn and way, the squares from which the step stays on the board."""
UPPER, LOWER = word_of([2]), word_of([22])
"""The temples."""
EXCHANGE = 20 * SQUARES
NONE, FIRST, ONE = word_of([], EXCHANGE + 5), word_of([0], EXCHANGE + 5), word_of([0], SQUARES)


@position
class Position(NamedTuple):
    own: Word = squares(SQUARES)
    opp: Word = squares(SQUARES)
    masters: Word = squares(SQUARES)
    own_cards: int = number(5)  # bit c: card c
    opp_cards: int = number(5)
    down: int = flag()  # whether the player to move moves down
    plies: int = number(7)


@rule
def moved(stones: Word, step: int) -> Word:
    return stones << step if step > 0 else stones >> (-step)


@rule
def is_decided(p: Position) -> bool:
    """The other player has captured the master, or has a master on the temple of the player to move."""
    return (p.own & p.masters) == 0 or (p.opp & p.masters & (UPPER if p.down else LOWER)) != 0


@rule
def legal_actions(p: Position) -> Word:
    found = NONE
    if is_decided(p) or p.plies >= LIMIT:
        return found
    for way in WAYS:
        if (p.own_cards >> (way // 4)) & 1:
            turned = way + (20 if p.down else 0)
            starts = p.own & ROOM[turned] & ~moved(p.own, -SHIFTS[turned])
            found = found | ((NONE | starts) << (SQUARES * way))
    if found == 0:
        for card in range(5):
            if (p.own_cards >> card) & 1:
                found = found | (FIRST << (EXCHANGE + card))
    return found


@rule
def play(p: Position, action: int) -> Position:
    way, square = action // SQUARES, action % SQUARES
    own, opp, masters = p.own, p.opp, p.masters
    card = way // 4
    if action >= EXCHANGE:
        card = action - EXCHANGE
    else:
        start = ONE << square
        target = moved(start, SHIFTS[way + (20 if p.down else 0)])
        own, opp = (own ^ start) | target, opp & ~target
        is_master = (masters & start) != 0
        masters = masters & ~(start | target)
        if is_master:
            masters = masters | target
    side = 31 - p.own_cards - p.opp_cards
    return Position(opp, own, masters, p.opp_cards, p.own_cards - (1 << card) + side, 1 - p.down, p.plies + 1)


@rule
def return_to_move(p: Position) -> int:
    """Decided: the other player has won. Otherwise the plies have run out: a draw."""
    return -1 if is_decided(p) else 0


class OnitamaPresentation(Presentation):
    title = "Onitama"
    player_names = ("first", "second")
    aim = "Capture the master of the other player, or bring yours to the temple in the middle of the other end."
    action_help = "a card, a step of it and a square, such as crab1c5"
    how_to_play = (
        "The players take turns; each has two cards, and one lies at the side.",
        "A move takes one of your men by a step of one of your cards, and captures what is there.",
        "Then this card goes to the side, and you get the card that was there.",
        "Who cannot move exchanges a card.",
        f"After {LIMIT} plies the match is a draw.",
        *(
            f"{card}: {', '.join(f'{-down} ahead {right} right' for down, right in STEPS[number])}."
            for number, card in enumerate(CARDS)
        ),
    )
    column_names = "abcde"
    square_marks = MappingProxyType({"masters": "master"})

    def numbers_text(self, state: State, row: int = 0) -> str:
        p = self.game.positions(state)[row]
        first, second = (p.opp_cards, p.own_cards) if p.down else (p.own_cards, p.opp_cards)
        hands = {"first": first, "second": second, "at the side": 31 - first - second}
        shown = {who: [name for card, name in enumerate(CARDS) if hand >> card & 1] for who, hand in hands.items()}
        return "; ".join(f"{who}: {', '.join(names)}" for who, names in shown.items())


class Onitama(Game):
    name = "onitama"
    num_distinct_actions = EXCHANGE + 5
    observation_shape = (3 + 5 + 5 + 1 + 7, WIDTH, WIDTH)
    max_game_length = LIMIT
    rules = Rules(
        Position(
            own=word_of(range(20, 25)),
            opp=word_of(range(5)),
            masters=word_of([2, 22]),
            own_cards=0b00011,
            opp_cards=0b01100,
            down=0,
            plies=0,
        ),
        legal_actions,
        play,
        return_to_move=return_to_move,
    )
    presentation_class = OnitamaPresentation

    def action_to_string(self, action: int) -> str:
        if action >= EXCHANGE:
            return f"{CARDS[action - EXCHANGE]}-exchange"
        way, square = divmod(action, SQUARES)
        return f"{CARDS[way // 4]}{way % 4 + 1}{'abcde'[square % WIDTH]}{square // WIDTH + 1}"
