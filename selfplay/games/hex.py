"""Hex: stones are placed on the cells of a rhombus, and a chain between one's own two edges wins.

Bit `width * row + column` of a word is a cell. Each row is drawn half a cell further to the right than the row above,
so a cell touches those at (row, column - 1 and + 1), (row - 1, column and + 1) and (row + 1, column - 1 and column):

     0 1 2
      3 4 5
       6 7 8

Player 0 is X and connects the top with the bottom; player 1 is O and connects left with right. Action i places a stone
on cell i. A full board has exactly one of the two chains, so no match is drawn (Nash, 1952).

With `swap`, O may answer the first stone by the last action: the stone becomes one of O, on the cell mirrored on the
diagonal from the first cell to the last, and X moves again. For O's edges it is there what it was for those of X.
"""

from collections.abc import Iterable
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word, bit_count, rule, word_of
from selfplay.compute.compiled_words import bit_like, lowest
from selfplay.compute.positions import flag, position, squares
from selfplay.games.board_checks import check_turns
from selfplay.games.game import Game
from selfplay.games.presentation import Presentation
from selfplay.games.rules import Rules, Symmetries

COLUMNS = "abcdefghijklm"
SWAP = "swap-pieces"
"""As HexWorld and other programs write it."""


def zigzag(width: int) -> str:
    """A match in which O blocks the way down on the right and on the left by turns, and X takes the other one."""
    column = width // 2 + 1
    cells = [(0, column)]
    for row in range(1, width):
        blocks_right = row % 2 == 1
        cells += [(row, column if blocks_right else column - 1), (row, column - blocks_right)]
        column -= blocks_right
    return " ".join(f"{COLUMNS[column]}{row + 1}" for row, column in cells)


@cache
def hex_rules(width: int, swap: bool = False) -> Rules:
    """The rules on a board of `width` x `width` cells (3 to 13). `swap`: whether O may swap."""
    size = width * width
    board, top, bottom = (word_of(cells, size) for cells in (range(size), range(width), range(size - width, size)))
    left, right = word_of(range(0, size, width), size), word_of(range(width - 1, size, width), size)
    not_left, not_right = board & ~left, board & ~right
    swap_bit = word_of([size], size + 1)

    @position
    class Position(NamedTuple):
        own: Word = squares(size)
        opp: Word = squares(size)
        left_to_right: int = flag()
        """Whether the player to move is O. A network could not tell it from the stones of a few cells."""

    @rule
    def chain(stones: Word, start: Word) -> Word:
        """Those of `stones` that are connected to the ones on the cells of `start`."""
        found = stones & start
        for _ in range(size):
            beside = ((found & not_right) << 1) | ((found & not_left) >> 1) | (found << width)
            above = (found >> width) | ((found >> (width - 1)) & not_left)
            grown = found | (stones & (beside | above | ((found & not_left) << (width - 1))))
            if grown == found:
                break
            found = grown
        return found

    @rule
    def has_won(p: Position) -> bool:
        """Whether the player who has just moved has connected its edges."""
        if p.left_to_right:
            return (chain(p.opp, top) & bottom) != 0
        return (chain(p.opp, left) & right) != 0

    @rule
    def legal_actions(p: Position) -> Word:
        """The empty cells, unless a chain has ended the match."""
        if has_won(p):
            return 0
        return board & ~(p.own | p.opp)

    @rule
    def play(p: Position, action: int) -> Position:
        return Position(p.opp, p.own | bit_like(board, action), 1 - p.left_to_right)

    @rule
    def legal_actions_with_swap(p: Position) -> Word:
        legal = legal_actions(p) | swap_bit
        if p.left_to_right == 0 or p.own != 0 or bit_count(p.opp) != 1:
            legal = legal & ~swap_bit
        return legal

    @rule
    def play_or_swap(p: Position, action: int) -> Position:
        if action < size:
            return play(p, action)
        cell = lowest(p.opp)
        row = cell // width
        return Position(p.own, bit_like(board, width * (cell - width * row) + row), 0)

    @rule
    def return_to_move(p: Position) -> int:
        """The player who has just moved has won."""
        return -1

    moves = (legal_actions_with_swap, play_or_swap) if swap else (legal_actions, play)
    return Rules(Position(0, 0, 0), *moves, has_won, return_to_move)


class HexPresentation(Presentation):
    aim = "Connect your two edges by a chain of stones: X the top with the bottom, O the left with the right."
    player_names = ("X", "O")
    option_names = MappingProxyType({"swap": "Swap rule"})
    how_to_play: tuple[str, ...] = (
        "X moves first; then the players take turns.",
        "A move places one stone on an empty cell. Stones never move, and none is ever captured.",
        "Stones on cells that share a side are connected.",
        "Your edges have the colour of your stones. The four corner cells belong to both edges that meet there.",
        "The first chain between two edges of the same colour ends the match.",
        "There are no draws: on a full board, exactly one player has such a chain.",
    )
    example_caption = (
        "X has connected the top with the bottom. Each time O blocked one way to go on, X took the other one."
    )
    is_rhombus = True
    hidden_fields = ("left_to_right",)

    def __init__(self, game: "Hex") -> None:
        self.game: Hex = game
        self.title = f"Hex {game.width}x{game.width}{' with swap' if game.swap else ''}"
        self.how_to_play = (
            *self.how_to_play,
            "Swap: O may answer the first stone by taking it over, mirrored on the long diagonal; then X moves. So X "
            "should begin with a stone that is neither too good nor too bad."
            if game.swap
            else "There is no swap rule, so X, who moves first, wins with perfect play.",
        )
        self.column_names = COLUMNS[: game.width]
        self.example = zigzag(game.width)
        self.action_help = f"a cell from a1 to {game.action_to_string(game.width**2 - 1)}"
        self.action_help += f", or {SWAP}" if game.swap else ""
        super().__init__(game)

    def pointed_squares(self, action: int) -> list[int]:
        return [action] if action < self.game.width**2 else []

    def square_name(self, square: int) -> str:
        return self.game.action_to_string(square)


class Hex(Game):
    """Hex on `width` x `width` cells, X first: X wins with perfect play.

    Args:
        width: from 3 to 13.
        swap: whether O may swap in place of the first reply; O then wins with perfect play.
    """

    name = "hex"
    sizes = (7, 3, 5, 8, 9, 11, 13)
    other_sizes = range(3, len(COLUMNS) + 1)
    presentation_class = HexPresentation

    @classmethod
    def usual_parameters(cls, size: int | None) -> dict[str, float]:
        return {"swap": False}

    def __init__(self, width: int = 7, swap: bool = False) -> None:
        self.width, self.swap = width, swap
        self.name = self.name_with(self.name, width, {"swap": swap})
        self.rules = hex_rules(width, swap)
        self.num_distinct_actions = self.max_game_length = width * width + swap
        self.observation_shape = (3, width, width)

    @property
    def symmetries(self) -> Symmetries:
        """The identity and the half turn; a reflection would exchange the edges of the two players."""
        return self.symmetries_of([self.square_numbers, self.square_numbers[::-1, ::-1]])

    def check_set_up(self, squares: NDArray[np.int8], to_move: int) -> None:
        # After a swap, O is a stone ahead where X moves.
        if not (self.swap and squares.any() and squares.sum(dtype=np.int64) == to_move - 1):
            check_turns(squares, to_move, self.presentation.player_names)

    def position_set_up(self, own: int, opp: int, to_move: int) -> Any:
        return self.rules.initial._replace(own=own, opp=opp, left_to_right=to_move)

    def action_to_string(self, action: int) -> str:
        return SWAP if action == self.width**2 else f"{COLUMNS[action % self.width]}{action // self.width + 1}"

    def other_texts(self, action: int) -> Iterable[str]:
        return ["swap"] if action == self.width**2 else []
