"""The symmetries of a game, found by trying: an image of the board is one if the rules commute with it.

In random positions, every legal action is compared with those of the image of the position: what an action becomes is
the action that leads to the image of the next position. Then all is tried again in thousands of positions. So nobody
says how actions lie on squares, and the position in which matches begin need not be symmetric.

Boards, and fields with one number for each square, are moved; all other numbers stay. A board such as one of walls
between squares, which has stones only in a part of it, may also be moved within this part. Where some squares are not
in use, the others may be hexagonal cells, such as a hexagon in a rhombus: their turns and mirror images are tried, too.
"""

from collections.abc import Iterable, Sequence
from math import prod
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.compute.positions import field_values
from selfplay.compute.words import PART_BITS
from selfplay.games.board_images import (
    Image,
    Part,
    Transform,
    fault_of,
    hexagon_images,
    image_of,
    is_on_squares,
    moving_fields,
    seen_image,
    turns_of,
)
from selfplay.games.image_actions import Actions, Frame, frame_of, matched, rows_with_every_action
from selfplay.games.random_positions import RandomPositions, random_positions
from selfplay.games.rules import Symmetries
from selfplay.games.stepping import BatchStepping

FIRST_COMPARED = 16
"""The number of positions in which most images are refused."""
MOST_ROUNDS = 8
"""How often positions that contradict what actions become are compared too."""
NOT_TRIED = -1
MOST_ADDED = 4
"""How many of them each time."""


class Candidate(NamedTuple):
    """An image of the board and of positions, and its inverse for positions."""

    image: Image
    transform: Transform
    inverse: Transform
    observations: NDArray[np.int64]
    """int64[D], as in `Symmetries`."""


def found_symmetries(game: BatchStepping, max_game_length: int) -> Symmetries:
    """The turns and mirror images of the board, or of its hexagonal cells, with which the rules of a game commute: a
    group, the identity first.

    Actions that lead to the same positions everywhere become each other's images in ascending order. Actions that are
    legal in none of the random positions stay what they are. A game without a board of squares has only the identity.

    Raises RuleError if a rule fails.
    """
    size = prod(game.observation_shape)
    none = Symmetries(np.arange(game.num_distinct_actions)[None], np.arange(size)[None])
    if len(game.observation_shape) != 3 or not moved_fields(game):
        return none
    positions = random_positions(game, max_game_length)
    best = none
    for parts in ({}, parts_of_boards(game, positions)):
        found = _Search(game, positions, candidates(game, parts)).symmetries()
        best = found if len(found.actions) > len(best.actions) else best
        if not parts and len(best.actions) == len(turns_of(shape_of(game))):
            return best
    for tried in hexagon_candidates(game, positions):
        found = _Search(game, positions, tried).symmetries()
        best = found if len(found.actions) > len(best.actions) else best
    return best


def shape_of(game: BatchStepping) -> tuple[int, int]:
    """The rows and columns of the board of a game whose observation has planes."""
    _, rows, columns = game.observation_shape
    return rows, columns


def moved_fields(game: BatchStepping) -> list[str]:
    """The fields that say something of each square."""
    return [place.name for place in game.rules.position.places if is_on_squares(place, prod(shape_of(game)))]


def parts_of_boards(game: BatchStepping, positions: RandomPositions) -> dict[str, Part]:
    """The rectangles that hold all stones of boards besides `own` and `opp`, where they are smaller than the board."""
    parts, (rows, columns), of = dict[str, Part](), shape_of(game), game.rules.position
    packed = torch.cat([positions.state.position, positions.following.position]).numpy()
    for name in moved_fields(game):
        if not of.place(name).is_board or name in ("own", "opp"):
            continue
        used = _bits_of_any(field_values(of, packed, name))[: rows * columns].reshape(rows, columns)
        if used.any():
            (top, *_, bottom), (left, *_, right) = (2 * [*np.flatnonzero(used.any(axis=axis))] for axis in (1, 0))
            parts[name] = Part(int(top), int(left), int(bottom - top + 1), int(right - left + 1))
    return {name: part for name, part in parts.items() if part != (0, 0, rows, columns)}


def candidates(game: BatchStepping, parts: dict[str, Part]) -> list[Candidate]:
    """The images of the board that are tried, the identity first."""
    found, shape = list[Candidate](), shape_of(game)
    for turn in turns_of(shape):
        images = {name: image_of(turn, shape, parts.get(name)) for name in moved_fields(game)}
        known = {name: image for name, image in images.items() if image is not None}
        if len(known) == len(images):
            image = image_of(turn, shape)
            assert image is not None, "only parts change their shape"
            found.append(_candidate(game, image, known))
    return found


def _candidate(game: BatchStepping, image: Image, images: dict[str, Image]) -> Candidate:
    """An image of the board by which these fields have these images."""
    of, inverse = game.rules.position, {name: np.argsort(one) for name, one in images.items()}
    return Candidate(image, moving_fields(of, images), moving_fields(of, inverse), seen_image(game, image, images))


def hexagon_candidates(game: BatchStepping, positions: RandomPositions) -> list[list[Candidate]]:
    """The images that are tried if the squares that are in use are hexagonal cells, which lie in one of two ways."""
    shape, used = shape_of(game), used_squares(game, positions)
    if used.all() or not used.any():
        return []
    numbers, fields = np.arange(used.size).reshape(shape), moved_fields(game)
    turns = {turn.of(numbers)[used].tobytes() for turn in turns_of(shape)}
    ways = [hexagon_images(used, leaning) for leaning in (-1, 1)]
    return [
        [_candidate(game, image, dict.fromkeys(fields, image)) for image in images]
        for images in ways
        if any(image.reshape(shape)[used].tobytes() not in turns for image in images)
    ]


def used_squares(game: BatchStepping, positions: RandomPositions) -> NDArray[np.bool_]:
    """bool[rows, columns]: the squares of which a field says something in any position."""
    of, squares = game.rules.position, prod(shape_of(game))
    packed = torch.cat([positions.state.position, positions.following.position]).numpy()
    used = np.zeros(squares, dtype=np.bool_)
    for name in moved_fields(game):
        values = field_values(of, packed, name)
        if of.place(name).is_board:
            used |= _bits_of_any(values)[:squares]
        else:
            used |= (values != 0).any(axis=0)
    return used.reshape(shape_of(game))


def _bits_of_any(boards: NDArray[np.int64]) -> NDArray[np.bool_]:
    """The squares that have a stone on any of these boards."""
    words = np.bitwise_or.reduce(boards, axis=0).reshape(-1, 1)
    bits: NDArray[np.bool_] = (words >> np.arange(PART_BITS) & 1).reshape(-1).astype(np.bool_)
    return bits


class _Search:
    """Finds which candidates are symmetries, and what actions become."""

    def __init__(self, game: BatchStepping, positions: RandomPositions, tried: Sequence[Candidate]) -> None:
        self.game, self.positions, self.tried = game, positions, tried
        numbers = {one.image.tobytes(): number for number, one in enumerate(tried)}
        self.product = [[numbers.get(first.image[then.image].tobytes()) for first in tried] for then in tried]
        """product[g][h]: the number of the image that is h and then g; None: it is not tried."""

    def symmetries(self) -> Symmetries:
        rows = rows_with_every_action(self.positions.mask.numpy())
        possible = self._possible(rows[:FIRST_COMPARED], range(len(self.tried)))
        refused = set[int]()
        for _ in range(MOST_ROUNDS):
            possible = self._possible(rows, [number for number in possible if number not in refused])
            maps = self._maps(rows, possible)
            group = self._group(maps)
            contradicted = {number: self._contradicting(number, maps[number]) for number in group}
            added = {row for found in contradicted.values() for row in found[:MOST_ADDED]} - set(rows)
            if added:
                rows = [*rows, *sorted(added)]
                continue
            refused |= {number for number, found in contradicted.items() if found}
            if not any(contradicted.values()):
                return Symmetries(
                    np.stack([maps[number] for number in group]),
                    np.stack([self.tried[number].observations for number in group]),
                )
        return Symmetries(np.arange(self.game.num_distinct_actions)[None], self.tried[0].observations[None])

    def _possible(self, rows: Sequence[int], numbers: Iterable[int]) -> dict[int, Frame]:
        """The candidates under which every legal action in these positions has an image, with their frames."""
        state = self.positions.state.select(torch.tensor(rows))
        frames = {
            number: frame_of(self.game, state, self.tried[number].transform, self.tried[number].inverse)
            for number in numbers
        }
        return {
            number: frame
            for number, frame in frames.items()
            if frame is not None and np.array_equal(frame.keys, frames[0].keys)  # type: ignore[union-attr]
        }

    def _maps(self, rows: Sequence[int], frames: dict[int, Frame]) -> dict[int, Actions]:
        """What actions become under each candidate of which these are the frames, as far as it is consistent."""
        maps = dict[int, Actions]()
        for number in frames:
            pairs = [(first, self.product[number][first]) for first in frames]
            together = [(frames[one], frames[other]) for one, other in pairs if other in frames]
            found = matched(self.game.num_distinct_actions, together)
            if found is not None:
                maps[number] = found
        return maps

    def _group(self, maps: dict[int, Actions]) -> list[int]:
        """The candidates of a group under which actions become the same by one image as by two one after another."""
        group = [0]
        for number in maps:
            larger = self._closed({*group, number})
            is_group = all(
                one in maps and other in maps and np.array_equal(maps[both], maps[one][maps[other]])
                for one in larger
                for other in larger
                if (both := self.product[one][other]) is not None and both in maps
            )
            if is_group and larger <= maps.keys():
                group = sorted(larger)
        return group

    def _closed(self, numbers: set[int]) -> set[int]:
        """All products of these candidates; with NOT_TRIED if there is another among them."""
        closed = set[int](numbers)
        while True:
            products = {self.product[one][other] for one in closed for other in closed if min(one, other) >= 0}
            more = {NOT_TRIED if one is None else one for one in products} - closed
            if not more:
                return closed
            closed |= more

    def _contradicting(self, number: int, actions: Actions) -> list[int]:
        """The positions that contradict a symmetry."""
        one = self.tried[number]
        fault = fault_of(self.game, self.positions, one.transform, Symmetries(actions, one.observations))
        return [] if fault is None else fault.rows
