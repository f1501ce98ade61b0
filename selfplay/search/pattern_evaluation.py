"""The evaluation by learned tables of patterns: the hyperbolic tangent of a sum of table entries."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Bits, rule
from selfplay.compute.compilation import Words, part_of_compiled
from selfplay.compute.compiled_words import load, lowest
from selfplay.compute.elementary import tangent
from selfplay.errors import SettingError
from selfplay.games import Game
from selfplay.games.pattern_planes import Planes, Seen, check_planes, seeing
from selfplay.games.patterns import CONTENTS, Patterns, added_by_squares, row_of_weights
from selfplay.games.rules import Position
from selfplay.search.evaluation import AT_ONCE, CompiledBatchValue, CompiledValue, EvaluationParameters

IMAGES_AT_ONCE = 16
"""The number of images is rounded up to a multiple of this, for instructions that do the same with several."""


class Scratch(NamedTuple):
    """What valuing a position changes. A search values positions that differ in a few squares from one to the next, so
    the entries of the last position are kept and changed."""

    entries: NDArray[np.uint32]
    """uint32[I rounded up]: those of the last position; at first of the empty board."""
    position: NDArray[np.int64]
    """int64[3]: the stones of the last position, of the player who had just moved and of the player to move, and the
    marked ones."""
    several: NDArray[np.uint32]
    """uint32[AT_ONCE, I rounded up]: the entries of the positions that are valued together."""
    rows: NDArray[np.uint64]
    """uint64[AT_ONCE]: their rows of weights."""


class PatternTables(NamedTuple):
    """The tables of I images of patterns, as compiled code accepts them."""

    changes: NDArray[np.uint32]
    """uint32[9 S, I rounded up]: row S (3 before + after) + square is what such a change of a square adds to the
    entry of each image, modulo 2**32. Row 0 is 0. With marks, 2 S rows follow: what one more and one less mark adds."""
    weights: NDArray[np.float32]
    """float32[rows, E]"""
    images: int
    squares: int
    phases: int
    parities: int
    is_portable: bool
    """As in `TrainableTables`."""
    scratch: Scratch
    """Each caller needs its own."""


@rule
def next_change(changed: Bits, one: Bits, other: Bits, position: NDArray[np.int64], squares: int) -> Bits:
    """The row of `PatternTables.changes` for the lowest of the changed squares; 0 if there is none."""
    if changed == 0:
        return np.uint64(0)
    square = lowest(changed)
    before = ((position[0] >> square) & 1) + 2 * ((position[1] >> square) & 1)
    after = ((one >> square) & 1) + 2 * ((other >> square) & 1)
    # Numbers without a sign, because numba counts negative indices from the end.
    return np.uint64((CONTENTS * before + after) * squares + square)


@rule
def move_entries(seen: Seen, tables: PatternTables) -> None:
    """Change `entries` and `position` to those of the seen position."""
    changes, entries, position = tables.changes, tables.scratch.entries, tables.scratch.position
    one, other = seen.just_moved, seen.to_move
    changed = (one ^ position[0]) | (other ^ position[1])
    while changed != 0:
        # Two at a time, so that the entries are read and written half as often.
        first = changes[next_change(changed, one, other, position, tables.squares)]
        changed &= changed - 1
        second = changes[next_change(changed, one, other, position, tables.squares)]
        changed &= changed - 1
        for image in range(len(entries)):
            entries[image] += first[image] + second[image]
    changed = seen.marks ^ position[2]
    while changed != 0:
        square = lowest(changed)
        added = changes[np.uint64((CONTENTS**2 + ((position[2] >> square) & 1)) * tables.squares + square)]
        changed &= changed - 1
        for image in range(len(entries)):
            entries[image] += added[image]
    position[0], position[1], position[2] = one, other, seen.marks


@cache
def pattern_values(
    see: Callable[[Position], Seen], unpack: Callable[[Bits], Position]
) -> tuple[CompiledValue, CompiledBatchValue]:
    """The value in (-1, 1) of a position to the player to move, and the same for several.

    The tables give the value to the other player, who has usually just moved.
    """

    @part_of_compiled
    def value(p: Position, tables: PatternTables) -> float:
        seen = see(p)
        move_entries(seen, tables)
        entries = tables.scratch.entries
        weights = tables.weights[row_of_weights(seen, tables.phases, tables.squares, tables.parities)]
        total = 0.0
        for image in range(tables.images):
            total += weights[entries[image]]
        return -tangent(total, tables.is_portable)

    @part_of_compiled
    def write_values(positions: Words, count: int, tables: PatternTables, values: NDArray[np.float64]) -> None:
        """A sum waits for each of its additions. So the sums of four positions, each in its own order, take little more
        time than that of one."""
        scratch, weights = tables.scratch, tables.weights
        entries, several, rows = scratch.entries, scratch.several, scratch.rows
        for place in range(count):
            seen = see(unpack(load(positions, place)))
            move_entries(seen, tables)
            for image in range(len(entries)):
                several[place, image] = entries[image]
            rows[place] = row_of_weights(seen, tables.phases, tables.squares, tables.parities)
        first, second, third, fourth = weights[rows[0]], weights[rows[1]], weights[rows[2]], weights[rows[3]]
        one = two = three = four = 0.0
        for image in range(tables.images):
            one += first[several[0, image]]
            two += second[several[1, image]]
            three += third[several[2, image]]
            four += fourth[several[3, image]]
        values[0], values[1], values[2], values[3] = one, two, three, four
        for place in range(count):
            values[place] = -tangent(values[place], tables.is_portable)

    return value, write_values


class PatternEvaluation(NamedTuple):
    """An evaluation by tables of patterns, of positions of the game with this name."""

    name: str
    game: str
    win: float
    margin: float
    """A finished match has the value win * return + margin * (the lead of the player to move in points)."""
    tables: PatternTables
    planes: Planes = Planes()

    @property
    def reply_value(self) -> float:
        """Chosen by searches of Othello: 0.005 to 0.02 visit fewer positions than less or more."""
        return 0.01

    @property
    def predicts_outcome(self) -> bool:
        return True

    def unfinished_value(self, game: Game) -> CompiledValue:
        return pattern_values(seeing(game, self.planes), game.rules.position.unpack)[0]

    def unfinished_values(self, game: Game) -> CompiledBatchValue | None:
        return pattern_values(seeing(game, self.planes), game.rules.position.unpack)[1]

    def parameters(self, game: Game) -> EvaluationParameters:
        """Raises SettingError if the tables are for another game, or as `check_planes`."""
        if game.name != self.game:
            raise SettingError(f"evaluation={self.name}: it is for {self.game}, not for {game.name}")
        check_planes(game, self.planes)
        entries, position, several, rows = self.tables.scratch
        scratch = Scratch(entries.copy(), position.copy(), several.copy(), rows.copy())
        return EvaluationParameters(np.array([self.win, self.margin]), self.tables._replace(scratch=scratch))


def pattern_tables(
    patterns: Patterns,
    weights: NDArray[np.float32],
    squares: int,
    parities: int = 1,
    *,
    sets: int = 1,
    is_portable: bool = False,
) -> PatternTables:
    """The tables with these weights (float32[rows, W]), one value per entry, for a board of `squares` squares."""
    images = len(patterns.offsets)
    padded = images + -images % IMAGES_AT_ONCE
    contents = np.zeros((CONTENTS, squares, padded), dtype=np.uint32)
    added = added_by_squares(patterns.contributions, squares).transpose(1, 0, 2)
    contents[1:, :, :images] = added[:2]
    changes = (contents - contents[:, None]).reshape(CONTENTS**2 * squares, padded)
    for marks in added[2:]:
        of_marks = np.pad(marks, ((0, 0), (0, padded - images))).astype(np.uint32)
        changes = np.concatenate([changes, of_marks, 0 - of_marks])
    entries = np.zeros(padded, dtype=np.uint32)
    entries[:images] = patterns.offsets
    several, rows = np.zeros((AT_ONCE, padded), dtype=np.uint32), np.zeros(AT_ONCE, dtype=np.uint64)
    scratch = Scratch(entries, np.zeros(3, dtype=np.int64), several, rows)
    spread = np.ascontiguousarray(weights[:, patterns.weight_of_entry])
    return PatternTables(changes, spread, images, squares, len(weights) // sets, parities, is_portable, scratch)
