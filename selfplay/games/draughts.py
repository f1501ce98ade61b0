"""English draughts (checkers): capture or block all pieces of the opponent; captures are compulsory.

Bit `8 * row + column` of a word is the square (row, column). The pieces stand on the 32 dark squares, which have the
numbers of the Portable Draughts Notation (PDN), drawn for black, who is player 0 and moves first, up:

     .  32   .  31   .  30   .  29      o   white man, at the start on 21 to 32
    28   .  27   .  26   .  25   .      x   black man, at the start on 1 to 12
     .  24   .  23   .  22   .  21      O X kings
    20   .  19   .  18   .  17   .
     .  16   .  15   .  14   .  13
    12   .  11   .  10   .   9   .
     .   8   .   7   .   6   .   5
     4   .   3   .   2   .   1   .

An action takes a piece one square on, or over a piece of the opponent, which it captures. Several captures by one piece
are several actions of the same player. The 98 steps come first, then the 72 jumps, by direction and origin. Rules are
those of the World Checkers/Draughts Federation:

- Men move and capture forwards only, kings in all four directions. A man that reaches the last row becomes a king and
  stops.
- If a capture is possible, one must be made, any of them; a piece that can capture on must do so.
- A player without a legal move loses. The match is a draw after 40 moves of each player without a capture and without a
  move of a man.
"""

from functools import cache
from types import MappingProxyType
from typing import NamedTuple

import torch

from selfplay.compute.bit_algebra import Word, bit_count, rule, word_of
from selfplay.compute.positions import flag, number, packed_array, position, squares
from selfplay.errors import BrokenTranscriptError, IllegalActionError, shortened
from selfplay.games.draughts_notation import DARK, actions_of_move, number_of, read_pieces, written_pieces
from selfplay.games.game import Game
from selfplay.games.move_texts import without_move_numbers
from selfplay.games.presentation import Presentation
from selfplay.games.rules import Rules
from selfplay.games.state import State

WIDTH, SQUARES, DIRECTIONS = 8, 64, 4
OFFSETS = ((-1, -1), (-1, 1), (1, -1), (1, 1))
"""The rows and columns of a step in each direction; the opposite of direction d is 3 - d."""
QUIET = 80
"""The number of plies without a capture and without a move of a man that end a match."""


def origins_of(direction: int, distance: int) -> list[int]:
    """The dark squares from which a square at this distance is on the board."""
    rows, columns = (distance * offset for offset in OFFSETS[direction])
    return [s for s in DARK if s // WIDTH + rows in range(WIDTH) and s % WIDTH + columns in range(WIDTH)]


MOVES = [
    (origin, origin + distance * (WIDTH * OFFSETS[direction][0] + OFFSETS[direction][1]))
    for distance in (1, 2)
    for direction in range(DIRECTIONS)
    for origin in origins_of(direction, distance)
]
"""The two squares of each action."""


@cache
def draughts_rules() -> Rules:
    groups = [origins_of(direction, distance) for distance in (1, 2) for direction in range(DIRECTIONS)]
    origins = tuple(map(word_of, groups))
    """By 4 * (distance - 1) + direction, the squares from which one can go."""
    first = tuple(sum(map(len, groups[:group])) for group in range(len(groups)))
    """The first action of each."""
    origin_of, target_of = tuple(origin for origin, _ in MOVES), tuple(target for _, target in MOVES)
    steps, one, one_square = first[DIRECTIONS], word_of([0], len(MOVES)), word_of([0])
    last_rows = word_of((*range(WIDTH), *range(SQUARES - WIDTH, SQUARES)))

    @position
    class Position(NamedTuple):
        own: Word = squares(SQUARES)
        opp: Word = squares(SQUARES)
        kings: Word = squares(SQUARES)
        """Those of both players."""
        hopping: Word = squares(SQUARES)
        """The piece of the player to move that has just captured and must go on, or 0."""
        up: int = flag()
        """Whether the player to move moves up."""
        quiet: int = number(7)
        """The number of plies since the last capture or move of a man."""

    @rule
    def shifted(pieces: Word, direction: int) -> Word:
        if direction == 0:
            return pieces >> (WIDTH + 1)
        if direction == 1:
            return pieces >> (WIDTH - 1)
        if direction == 2:
            return pieces << (WIDTH - 1)
        return pieces << (WIDTH + 1)

    @rule
    def movers(p: Position, direction: int) -> Word:
        """The pieces of the player to move that may go this way."""
        return p.own if (direction < 2) == (p.up == 1) else p.own & p.kings

    @rule
    def steppers(p: Position, direction: int) -> Word:
        """Those of `movers` with an empty square before them."""
        empty = ~(p.own | p.opp)
        return movers(p, direction) & origins[direction] & shifted(empty, 3 - direction)

    @rule
    def jumpers(p: Position, direction: int) -> Word:
        """Those of `movers` with a piece of the opponent before them and an empty square behind it."""
        over = p.opp & shifted(~(p.own | p.opp), 3 - direction)
        return movers(p, direction) & origins[DIRECTIONS + direction] & shifted(over, 3 - direction)

    @rule
    def can_jump(p: Position, pieces: Word) -> bool:
        found = False
        for direction in range(DIRECTIONS):
            found = found or (jumpers(p, direction) & pieces) != 0
        return found

    @rule
    def numbered(pieces: Word, group: int) -> Word:
        """The actions of these pieces that go one way and far."""
        found = one & 0
        while pieces != 0:
            below = (pieces & -pieces) - 1
            found = found | one << (first[group] + bit_count(origins[group] & below))
            pieces = pieces & (pieces - 1)
        return found

    @rule
    def legal_actions(p: Position) -> Word:
        found, pieces = one & 0, p.hopping if p.hopping != 0 else p.own
        if p.quiet == QUIET:
            return found
        must_jump = can_jump(p, pieces)
        for direction in range(DIRECTIONS):
            if must_jump:
                found = found | numbered(jumpers(p, direction) & pieces, DIRECTIONS + direction)
            else:
                found = found | numbered(steppers(p, direction), direction)
        return found

    @rule
    def play(p: Position, action: int) -> Position:
        origin, to = one_square << origin_of[action], one_square << target_of[action]
        taken = origin & 0
        if action >= steps:
            taken = one_square << ((origin_of[action] + target_of[action]) // 2)
        own, opp, kings = p.own ^ origin | to, p.opp & ~taken, p.kings & ~taken
        is_man = (kings & origin) == 0
        crowned = is_man and (to & last_rows) != 0
        if crowned or not is_man:
            kings = kings & ~origin | to
        if taken != 0 and not crowned:
            after = Position(own, opp, kings, to, p.up, 0)
            if can_jump(after, to):
                return after
        return Position(opp, own, kings, 0, 1 - p.up, 0 if is_man or taken != 0 else p.quiet + 1)

    @rule
    def moves_again(p: Position) -> bool:
        return p.hopping != 0

    @rule
    def return_to_move(p: Position) -> Word:
        """-1 if the player to move has no legal move, 0 if the plies without progress have ended the match."""
        return -1 * (p.quiet < QUIET)

    white, black = word_of(DARK[:12]), word_of(DARK[-12:])
    start = Position(black, white, 0, 0, 1, 0)
    return Rules(start, legal_actions, play, return_to_move=return_to_move, moves_again=moves_again)


class DraughtsPresentation(Presentation):
    title = "English draughts"
    aim = "Capture all pieces of the opponent, or leave it without a move."
    how_to_play = (
        "Black moves first, from the squares 1 to 12. Pieces stay on the dark squares.",
        "A man moves one square diagonally forwards. A man that reaches the last row becomes a king.",
        "A king moves one square diagonally in all four directions.",
        "A piece captures by jumping over a neighbouring piece of the opponent to the empty square behind it.",
        "If you can capture, you must, with any piece. A piece that can capture again goes on at once.",
        "A man that becomes a king by a capture stops there.",
        "A player without a legal move loses.",
        f"The match is a draw after {QUIET // 2} moves of each player without a capture and without a move of a man.",
    )
    example = "11-15 22-18 15x22"
    example_caption = "Black has jumped from 15 over 18 to 22 and captured a man."
    player_names = ("black", "white")
    stone_colours = ("black", "white")
    action_help = "a step such as 11-15, or a jump such as 15x22; each jump of several is written for itself"
    moves_stones = turns_for_second = True
    square_marks = MappingProxyType({"kings": "king"})
    hidden_fields = ("hopping", "up", "quiet")
    unused_squares = tuple(square for square in range(SQUARES) if square not in DARK)

    def square_signs(self, state: State, row: int = 0) -> list[str]:
        """Kings are X and O, men x and o; light squares are empty."""
        shown = zip(self.stone_signs(state, row), self.marks(state)[row].tolist(), strict=True)
        signs = [sign if is_king else sign.lower() for sign, is_king in shown]
        return [sign if square in DARK else " " for square, sign in enumerate(signs)]

    def pointed_squares(self, action: int) -> tuple[int, int]:
        return MOVES[action]

    def square_name(self, square: int) -> str:
        return str(number_of(square)) if square in DARK else super().square_name(square)


class Draughts(Game):
    """English draughts, black first."""

    name = "draughts"
    presentation_class = DraughtsPresentation
    num_distinct_actions = len(MOVES)
    observation_shape = (12, WIDTH, WIDTH)
    # 24 captures and 6 moves of each man on average may come after almost QUIET other plies each.
    max_game_length = QUIET * (24 + 24 * 6 + 1)

    def __init__(self) -> None:
        self.rules = draughts_rules()

    def action_to_string(self, action: int) -> str:
        origin, target = MOVES[action]
        return f"{number_of(origin)}{'x' if abs(origin - target) > WIDTH + 1 else '-'}{number_of(target)}"

    def read_transcript(self, text: str, start: State | None = None) -> list[int]:
        """The actions of a transcript such as 11-15 22-18 15x22. Several jumps of one piece may be one move, such as
        11x18x25, also without the squares between, 11x25.

        Raises IllegalActionError for a move that is not legal, or that can be made in ways with different captures.
        """
        place, actions = self.positions(self.init() if start is None else start)[0], list[int]()
        for count, part in enumerate(without_move_numbers(text).split(), start=1):
            try:
                found = actions_of_move(self.rules, MOVES, place, part)
            except IllegalActionError as error:
                raise BrokenTranscriptError(f"move {count}, {shortened(part)}: {error}", actions) from None
            for action in found:
                place = self.rules.play(place, action)
            actions += found
        return actions

    def read_fen(self, text: str) -> State:
        """The position (B = 1) that the tag FEN describes: the side to move, and the squares of men and kings, such as
        B:W18,24,K27:B12,K16. Raises IllegalActionError."""
        to_move, colours, kings = read_pieces(text)
        own, opp = colours[to_move], colours[1 - to_move]
        placed = self.rules.position(own, opp, kings, 0, 1 - to_move, 0)
        state = self.state_at(torch.from_numpy(packed_array([placed])))
        if bool(state.terminated):
            raise IllegalActionError(f"FEN {shortened(text)!r}: the match is over in this position")
        return state._replace(current_player=torch.tensor([to_move], dtype=torch.int8))

    def fen_of(self, state: State) -> str:
        """The position (B = 1) as the tag FEN describes it."""
        stones, kings = self.squares(state)[0].tolist(), self.presentation.marks(state)[0].tolist()
        return written_pieces(int(state.current_player), stones, kings)
