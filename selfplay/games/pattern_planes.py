"""What tables of patterns see of a position: planes of its observation, as words of the board.

Planes 0 and 1 are the stones of the player who is not to move, who has usually just moved, and of the player to move.
A network's options name further planes.
"""

from collections.abc import Callable
from functools import cache
from math import prod
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Bits, rule
from selfplay.compute.compilation import part_of_compiled
from selfplay.compute.compiled_words import part
from selfplay.compute.positions import Packed, field_values, pack
from selfplay.compute.words import PART_BITS, word_parts
from selfplay.errors import SettingError
from selfplay.games.game import Game
from selfplay.games.observation_codec import shown_entries
from selfplay.games.random_positions import random_positions
from selfplay.games.rules import Position

HALVES = (
    (1, 0x5555555555555555),
    (2, 0x3333333333333333),
    (4, 0x0F0F0F0F0F0F0F0F),
    (8, 0x00FF00FF00FF00FF),
    (16, 0x0000FFFF0000FFFF),
    (32, 0x00000000FFFFFFFF),
)


class Planes(NamedTuple):
    """The planes that tables see besides those of the stones."""

    marks: int = -1
    """A further board, such as kings or arrows, which gives further contents of a square; -1: none."""
    upright: int = -1
    """A flag. Where it is 0, the board is turned by 180 degrees, so that both players move the same way; -1: none."""
    sets: int = 0
    """Flags and bits of numbers, as a mask of planes: there is a set of weights for each combination of them."""

    @property
    def in_sets(self) -> tuple[int, ...]:
        """The planes of `sets`, the lowest first."""
        return tuple(plane for plane in range(self.sets.bit_length()) if self.sets >> plane & 1)


class Seen(NamedTuple):
    """What tables see of a position; or of N positions, each field int64[N]."""

    to_move: Bits
    just_moved: Bits
    """The stones of the player who is not to move."""
    marks: Bits
    """0 without marks."""
    set_number: Bits
    """The number of the set of weights."""


class FurtherBoard(NamedTuple):
    """A board of a game besides `own` and `opp`, which tables see by default."""

    plane: int
    """The plane of the observation that shows it."""
    is_on_stones: bool
    """Whether it marks stones in some random positions, as kings do."""
    is_on_empty: bool
    """Whether it has empty squares in some, as arrows do."""


def further_board(game: Game) -> FurtherBoard | None:
    """The first board of a game besides `own` and `opp`; None: there is none that tables can see."""
    boards = {place.name: place for place in game.rules.position.places if place.is_board}
    further = [name for name in boards if name not in ("own", "opp")]
    can_see = game.rules.observed is None and {"own", "opp"} <= boards.keys()
    if not can_see or not further or any(place.num_parts > 1 for place in boards.values()):
        return None
    positions = random_positions(game, game.max_game_length)
    packed = torch.cat([positions.state.position, positions.following.position]).numpy()
    own, opp, marks = (field_values(game.rules.position, packed, name) for name in ("own", "opp", further[0]))
    stones = own | opp
    return FurtherBoard(2, bool((marks & stones).any()), bool((marks & ~stones).any()))


def check_planes(game: Game, planes: Planes) -> None:
    """Raise SettingError unless tables with these planes can see the positions of a game."""
    fields = {place.name for place in game.rules.position.places if place.is_board and place.num_parts == 1}
    if game.rules.observed is not None or not {"own", "opp"} <= fields:
        raise SettingError(
            f"game={game.name}: tables of patterns need positions with two boards, own and opp, of at most 64 squares, "
            "and rules without observed; set another architecture or way of learning"
        )
    if max(*planes[:2], planes.sets.bit_length() - 1) >= game.observation_shape[0]:
        raise SettingError(
            f"game={game.name}: its observation has only the planes 0 to {game.observation_shape[0] - 1}"
        )
    limits = game.observation_codec.entries.limits[:: prod(game.observation_shape[1:])]
    for plane in (planes.marks, planes.upright, *planes.in_sets):
        if plane >= 0 and limits[plane] > 1:
            raise SettingError(
                f"game={game.name}: plane {plane} of its observation has numbers from 0 to {limits[plane]}; tables of "
                "patterns see only boards, flags and bits of numbers"
            )


def check_two_boards(game: Game) -> None:
    """Raise SettingError unless a position of a game is two boards, `own` and `opp`, and the players take turns."""
    fields = [(place.name, place.is_board, place.num_parts) for place in game.rules.position.places]
    if fields != [("own", True, 1), ("opp", True, 1)] or game.rules.moves_again is not None:
        raise SettingError(
            f"game={game.name}: tables of patterns learn exact values and from lessons only where positions are two "
            "boards (own, opp) and players take turns; set learner=td without exact_from"
        )


@rule
def turned(board: Bits, squares: int) -> Bits:
    """A board turned by 180 degrees, as an int64; or several."""
    for distance, half in HALVES:
        board = ((board >> distance) & half) | ((board & half) << distance)
    return board if squares == PART_BITS else (board >> (PART_BITS - squares)) & ((1 << squares) - 1)


@rule
def swapped(seen: Seen, squares: int, planes: Planes) -> Seen:
    """What would be seen of the stones if the other player were to move."""
    just_moved, to_move, marks = seen.to_move, seen.just_moved, seen.marks
    if planes.upright >= 0:
        just_moved, to_move, marks = turned(just_moved, squares), turned(to_move, squares), turned(marks, squares)
    return Seen(to_move, just_moved, marks, seen.set_number)


def bits_of_planes(game: Game) -> tuple[tuple[int, ...], int]:
    """The bit of the packed position with which each plane of the observation begins; and the number of squares."""
    squares = prod(game.observation_shape[1:])
    return tuple(shown_entries(game.rules.position, game.observation_shape).lowest[::squares].tolist()), squares


def seeing(game: Game, planes: Planes) -> Callable[[Position], Seen]:
    """What tables with these planes see of a position of the game; the same function for equal arguments.

    Raises SettingError as `check_planes`.
    """
    check_planes(game, planes)
    return _seeing(*bits_of_planes(game), planes)


@cache
def _seeing(bits: tuple[int, ...], squares: int, planes: Planes) -> Callable[[Position], Seen]:
    every_square, one, other = word_parts((1 << squares) - 1, 1)[0], bits[0], bits[1]
    has_marks, has_upright = planes.marks >= 0, planes.upright >= 0
    marked, upright = bits[planes.marks], bits[planes.upright]
    # One more, because compiled code cannot index an empty tuple.
    in_sets, number = (*(bits[plane] for plane in planes.in_sets), 0), len(planes.in_sets)

    @part_of_compiled
    def see(p: Position) -> Seen:
        packed = pack(p)
        just_moved, to_move = part(packed >> one, 0) & every_square, part(packed >> other, 0) & every_square
        marks = part(packed >> marked, 0) & every_square if has_marks else 0
        set_number = 0
        for place in range(number):
            set_number |= (part(packed >> in_sets[place], 0) & 1) << place
        if has_upright and part(packed >> upright, 0) & 1 == 0:
            just_moved, to_move, marks = turned(just_moved, squares), turned(to_move, squares), turned(marks, squares)
        return Seen(to_move, just_moved, marks, set_number)

    return see


def seen_in(words: NDArray[np.int64], squares: int, planes: Planes) -> Seen:
    """What tables see of N positions.

    Args:
        words: int64[C, N], the planes of their observations; bit i of a word is entry i.
    """
    none = np.zeros_like(words[0])
    set_number = sum(((words[plane] & 1) << place for place, plane in enumerate(planes.in_sets)), none)
    seen = Seen(words[1], words[0], words[planes.marks] if planes.marks >= 0 else none, set_number)
    if planes.upright < 0:
        return seen
    is_upright = words[planes.upright] & 1 == 1
    boards = [np.where(is_upright, board, turned(board, squares)) for board in seen[:3]]
    return Seen(boards[0], boards[1], boards[2], set_number)


def seen_in_packed(game: Game, packed: Packed, planes: Planes) -> Seen:
    """As `seen_in`, for packed positions (int64[N, W])."""
    bits, squares = bits_of_planes(game)
    every_square = word_parts((1 << squares) - 1, 1)[0]
    words = np.stack([packed[:, bit // PART_BITS] >> bit % PART_BITS & every_square for bit in bits])
    return seen_in(words, squares, planes)
