"""Turns and mirror images of the board of a game: what becomes of positions and of what is seen of them, and whether
the rules commute with them."""

from collections.abc import Callable, Mapping
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.position_fields import Place
from selfplay.compute.positions import Packed
from selfplay.compute.words import PART_BITS
from selfplay.games.observation_codec import BitPermutation, PackedPermutation, shown_entries
from selfplay.games.random_positions import RandomPositions
from selfplay.games.rules import Symmetries
from selfplay.games.state import State
from selfplay.games.stepping import BatchStepping

Image = NDArray[np.int64]
"""int64[S]: the number of the square that comes to each square of a board."""
Transform = Callable[[Packed], Packed]
"""int64[N, W] to int64[N, W]: the images of packed positions."""


class Turn(NamedTuple):
    """A turn or a mirror image of a board: rows and columns are exchanged first, then reversed."""

    exchanges: bool
    reverses_rows: bool
    reverses_columns: bool

    def of(self, board: NDArray[np.int64]) -> NDArray[np.int64]:
        """The image of a board, an array of two dimensions."""
        turned = board.T if self.exchanges else board
        turned = turned[::-1] if self.reverses_rows else turned
        return turned[:, ::-1] if self.reverses_columns else turned


class Part(NamedTuple):
    """A rectangle of a board."""

    top: int
    left: int
    rows: int
    columns: int


def turns_of(shape: tuple[int, int]) -> list[Turn]:
    """The turns and mirror images that keep the shape of a board, the identity first: eight of a square, else four."""
    return [Turn(*given) for given in product((False, True), repeat=3) if not given[0] or shape[0] == shape[1]]


def image_of(turn: Turn, shape: tuple[int, int], part: Part | None = None) -> Image | None:
    """The image of a board, or of a part of it alone; None: the part changes its shape."""
    board = np.arange(prod(shape)).reshape(shape)
    if part is None:
        return turn.of(board).reshape(-1)
    if turn.exchanges and part.rows != part.columns:
        return None
    rows, columns = slice(part.top, part.top + part.rows), slice(part.left, part.left + part.columns)
    board[rows, columns] = turn.of(board[rows, columns].copy())
    return board.reshape(-1)


def hexagon_images(used: NDArray[np.bool_], leaning: int) -> list[Image]:
    """The images of a board (bool[rows, columns]: the squares that are in use) of hexagonal cells that keep what is in
    use, the identity first: turns by 60 degrees and mirror images, at most twelve. Squares that are not in use stay.

    Args:
        leaning: a cell also touches the one a row below and so many columns further right: -1 or 1.
    """
    cells = np.argwhere(used)
    directions = [sign * np.array(step) for step in ((0, 1), (1, 0), (1, leaning)) for sign in (1, -1)]
    images, numbers = list[Image](), np.arange(used.size).reshape(used.shape)
    for down, right in product(directions, repeat=2):
        # Where the steps (1, 0) and (0, 1) go, so does their sum or difference go to a step.
        if not any(np.array_equal(down + leaning * right, step) for step in directions):
            continue
        moved = cells[:, :1] * down + cells[:, 1:] * right
        moved += cells.min(axis=0) - moved.min(axis=0)
        image = numbers.copy()
        if (moved < used.shape).all() and used[tuple(moved.T)].all():
            image[tuple(moved.T)] = numbers[tuple(cells.T)]
            images.append(image.reshape(-1))
    return sorted(images, key=lambda image: not np.array_equal(image, numbers.reshape(-1)))


def is_on_squares(place: Place, squares: int) -> bool:
    """Whether a field of positions says something of each square: a board, or one number for each."""
    return place.bits == squares if place.is_board else len(place.offsets) == squares > 1


def moving_fields(position: Any, images: Mapping[str, Image]) -> Transform:
    """The images of positions of this class, in which these fields are moved and all others stay."""
    sources = np.arange(PART_BITS * position.num_words)
    for place in position.places:
        if place.name in images:
            image = images[place.name]
            if place.is_board:
                sources[place.offset + np.arange(len(image))] = place.offset + image
            else:
                offsets, bits = np.array(place.offsets)[:, None], np.arange(place.bits)
                sources[offsets + bits] = offsets[image] + bits
    permutation = BitPermutation(sources, 8 * position.num_words)
    return lambda packed: permutation(np.ascontiguousarray(packed, dtype="<i8").view(np.uint8))


def seen_image(game: BatchStepping, image: Image, images: Mapping[str, Image]) -> NDArray[np.int64]:
    """int64[D]: the entry that comes to each entry of the observation, with the arguments of `moving_fields`; `image`:
    of planes that do not show a field of their own, such as those of numbers."""
    squares, planes = len(image), game.observation_shape[0]
    own = [image] * planes
    lowest = shown_entries(game.rules.shown, game.observation_shape).lowest[::squares]
    for place in game.rules.shown.places:
        for plane in np.flatnonzero(lowest == place.offset):
            own[plane] = images.get(place.name, image)
    return (squares * np.arange(planes)[:, None] + np.stack(own)).reshape(-1)


def transform_of(game: BatchStepping, observations: NDArray[np.int64]) -> Transform:
    """The images of positions whose observations have these images (int64[D]), in a game whose observations show all of
    a position."""
    codec = game.observation_codec
    moved = PackedPermutation(codec.entries.bits_of_images(observations[None])[0])
    return lambda packed: codec.unpack(moved(codec.pack(packed)))


class Fault(NamedTuple):
    """What contradicts a symmetry."""

    reason: str
    rows: list[int]
    """The positions that do."""


def fault_of(
    game: BatchStepping, positions: RandomPositions, transform: Transform, symmetry: Symmetries
) -> Fault | None:
    """Where the rules do not commute with a symmetry in these positions, or what is seen is not its image.

    Args:
        symmetry: one, without the first dimension.
    """
    goes_to, comes_from = torch.from_numpy(symmetry.actions), symmetry.observations

    def image(state: State) -> State:
        return state._replace(position=torch.from_numpy(transform(state.position.numpy())))

    def differing(one: Tensor, other: Tensor) -> list[int]:
        rows: list[int] = (one != other).reshape(len(one), -1).any(dim=1).nonzero()[:, 0].tolist()
        return rows

    before, expected = image(positions.state), image(positions.following)
    mask = game.kernels.legal_action_mask(before, game.num_distinct_actions)[:, goes_to]
    if rows := differing(mask, positions.mask):
        return Fault("does not map legal actions to legal actions", rows)
    following = game.kernels.step(before, goes_to[positions.action])
    bits = torch.from_numpy(game.observation_codec.entries.bits_of_images(comes_from[None])[0])
    seen = game.observation_bits(positions.following)[:, bits]
    for reason, one, other in (
        ("does not map the positions", following.position, expected.position),
        ("changes who is to move", following.current_player, expected.current_player),
        ("changes a match's length", following.terminated, expected.terminated),
        ("changes the returns", following.returns, expected.returns),
        ("does not map the observations", game.observation_bits(following), seen),
    ):
        if rows := differing(one, other):
            return Fault(reason, rows)
    return None
