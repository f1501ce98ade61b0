"""The evaluation by learned tables of patterns: the hyperbolic tangent of a sum of table entries."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word, rule
from selfplay.compute.compilation import Words, part_of_compiled
from selfplay.compute.compiled_words import load, lowest, part
from selfplay.compute.elementary import tangent
from selfplay.errors import SettingError
from selfplay.games import Game
from selfplay.games.patterns import Patterns, added_by_squares, check_two_boards, phase_of
from selfplay.games.rules import Position
from selfplay.search.evaluation import AT_ONCE, CompiledBatchValue, CompiledValue, EvaluationParameters

CONTENTS = 3
"""The number of contents of a square: nothing, a stone of the player who has just moved, one of the player to move."""
IMAGES_AT_ONCE = 16
"""The number of images is rounded up to a multiple of this, for instructions that do the same with several."""


class Scratch(NamedTuple):
    """What valuing a position changes. A search values positions that differ in a few squares from one to the next, so
    the entries of the last position are kept and changed."""

    entries: NDArray[np.uint32]
    """uint32[I rounded up]: those of the last position; at first of the empty board."""
    position: NDArray[np.int64]
    """int64[2]: the stones of the last position: of the player who had just moved, and of the player to move."""
    several: NDArray[np.uint32]
    """uint32[AT_ONCE, I rounded up]: the entries of the positions that are valued together."""
    phases: NDArray[np.uint64]
    """uint64[AT_ONCE]: their phases."""


class PatternTables(NamedTuple):
    """The tables of I images of patterns, as compiled code accepts them."""

    changes: NDArray[np.uint32]
    """uint32[9 S, I rounded up]: row S (3 before + after) + square is what such a change of a square adds to the
    entry of each image, modulo 2**32. Row 0 is 0."""
    weights: NDArray[np.float32]
    """float32[phases, E]"""
    images: int
    squares: int
    parities: int
    is_portable: bool
    """As in `TrainableTables`."""
    scratch: Scratch
    """Each caller needs its own."""


@rule
def next_change(changed: Word, one: Word, other: Word, position: NDArray[np.int64], squares: int) -> Word:
    """The row of `PatternTables.changes` for the lowest of the changed squares; 0 if there is none."""
    if changed == 0:
        return np.uint64(0)
    square = lowest(changed)
    before = ((position[0] >> square) & 1) + 2 * ((position[1] >> square) & 1)
    after = ((one >> square) & 1) + 2 * ((other >> square) & 1)
    # Numbers without a sign, because numba counts negative indices from the end.
    return np.uint64((CONTENTS * before + after) * squares + square)


@rule
def move_entries(one: Word, other: Word, tables: PatternTables) -> None:
    """Change `entries` and `position` to the position with these stones: of the player who has just moved, and of the
    player to move."""
    changes, entries, position = tables.changes, tables.scratch.entries, tables.scratch.position
    changed = (one ^ position[0]) | (other ^ position[1])
    while changed != 0:
        # Two at a time, so that the entries are read and written half as often.
        first = changes[next_change(changed, one, other, position, tables.squares)]
        changed &= changed - 1
        second = changes[next_change(changed, one, other, position, tables.squares)]
        changed &= changed - 1
        for image in range(len(entries)):
            entries[image] += first[image] + second[image]
    position[0], position[1] = one, other


@rule
def pattern_value(p: Position, tables: PatternTables) -> float:
    """The value in (-1, 1) to the player to move. The tables give the value to the player who has just moved."""
    own, opp = part(p.own, 0), part(p.opp, 0)
    move_entries(opp, own, tables)
    entries, phases = tables.scratch.entries, len(tables.weights)
    weights = tables.weights[phase_of(opp, own, phases, tables.squares, tables.parities)]
    total = 0.0
    for image in range(tables.images):
        total += weights[entries[image]]
    return -tangent(total, tables.is_portable)


@part_of_compiled
def pattern_values(positions: Words, count: int, tables: PatternTables, values: NDArray[np.float64]) -> None:
    """The `CompiledBatchValue` of `pattern_value`.

    A sum waits for each of its additions. So the sums of four positions, each in its own order, take little more time
    than that of one.
    """
    scratch, weights = tables.scratch, tables.weights
    entries, several, phases = scratch.entries, scratch.several, scratch.phases
    for place in range(count):
        packed = load(positions, place)
        one, other = part(packed, 1), part(packed, 0)
        move_entries(one, other, tables)
        for image in range(len(entries)):
            several[place, image] = entries[image]
        phases[place] = phase_of(one, other, len(weights), tables.squares, tables.parities)
    first, second, third, fourth = weights[phases[0]], weights[phases[1]], weights[phases[2]], weights[phases[3]]
    one = two = three = four = 0.0
    for image in range(tables.images):
        one += first[several[0, image]]
        two += second[several[1, image]]
        three += third[several[2, image]]
        four += fourth[several[3, image]]
    values[0], values[1], values[2], values[3] = one, two, three, four
    for place in range(count):
        values[place] = -tangent(values[place], tables.is_portable)


class PatternEvaluation(NamedTuple):
    """An evaluation by tables of patterns, of positions of the game with this name."""

    name: str
    game: str
    win: float
    margin: float
    """A finished match has the value win * return + margin * (the lead of the player to move in points)."""
    tables: PatternTables

    @property
    def reply_value(self) -> float:
        """Chosen by searches of Othello: 0.005 to 0.02 visit fewer positions than less or more."""
        return 0.01

    @property
    def predicts_outcome(self) -> bool:
        return True

    def unfinished_value(self, game: Game) -> CompiledValue:
        return pattern_value

    def unfinished_values(self, game: Game) -> CompiledBatchValue | None:
        return pattern_values

    def parameters(self, game: Game) -> EvaluationParameters:
        """Raises SettingError if the tables are for another game, or as `check_two_boards`."""
        if game.name != self.game:
            raise SettingError(f"evaluation={self.name}: it is for {self.game}, not for {game.name}")
        check_two_boards(game)
        entries, position, several, phases = self.tables.scratch
        scratch = Scratch(entries.copy(), position.copy(), several.copy(), phases.copy())
        return EvaluationParameters(np.array([self.win, self.margin]), self.tables._replace(scratch=scratch))


def pattern_tables(
    patterns: Patterns, weights: NDArray[np.float32], squares: int, parities: int = 1, *, is_portable: bool = False
) -> PatternTables:
    """The tables with these weights (float32[phases, W]), one value per entry, for a board of `squares` squares."""
    images = len(patterns.offsets)
    padded = images + -images % IMAGES_AT_ONCE
    contents = np.zeros((CONTENTS, squares, padded), dtype=np.uint32)
    contents[1:, :, :images] = added_by_squares(patterns.contributions, squares).transpose(1, 0, 2)
    changes = (contents - contents[:, None]).reshape(CONTENTS**2 * squares, padded)
    entries = np.zeros(padded, dtype=np.uint32)
    entries[:images] = patterns.offsets
    several, phases = np.zeros((AT_ONCE, padded), dtype=np.uint32), np.zeros(AT_ONCE, dtype=np.uint64)
    scratch = Scratch(entries, np.zeros(2, dtype=np.int64), several, phases)
    spread = np.ascontiguousarray(weights[:, patterns.weight_of_entry])
    return PatternTables(changes, spread, images, squares, parities, is_portable, scratch)
