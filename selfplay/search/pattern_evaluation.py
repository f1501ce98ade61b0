"""The evaluation by learned tables of patterns: the hyperbolic tangent of a sum of table entries."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import Word, scalar_rule
from selfplay.compute.compiled_words import part
from selfplay.compute.elementary import tangent
from selfplay.errors import SettingError
from selfplay.games import Game
from selfplay.games.patterns import Patterns, phase_of, write_entries
from selfplay.search.evaluation import CompiledValue, EvaluationParameters


class PatternTables(NamedTuple):
    """The tables as compiled code accepts them. Each caller needs its own, because `entries` is written into."""

    contributions: NDArray[np.int32]
    offsets: NDArray[np.int32]
    weights: NDArray[np.float32]
    """float32[phases, E]"""
    squares: int
    parities: int
    is_portable: bool
    """As in `TrainableTables`."""
    entries: NDArray[np.int32]
    """int32[I]: scratch memory for the entries of one position."""


@scalar_rule
def pattern_value(own: Word, opp: Word, tables: PatternTables) -> Word:
    """The value in (-1, 1) to the player to move. The tables give the value to the player who has just moved."""
    contributions, offsets, weights, squares, parities, is_portable, entries = tables
    opp, own = part(opp, 0), part(own, 0)  # tables are for boards of at most 64 squares
    write_entries(opp, own, contributions, offsets, entries)
    phase = phase_of(opp, own, len(weights), squares, parities)
    total = 0.0
    for image in range(len(offsets)):
        total += weights[phase, entries[image]]
    return -tangent(total, is_portable)


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

    def parameters(self, game: Game) -> EvaluationParameters:
        """Raises SettingError if the tables are for another game."""
        if game.name != self.game:
            raise SettingError(f"evaluation={self.name}: it is for {self.game}, not for {game.name}")
        entries = np.empty_like(self.tables.entries)
        return EvaluationParameters(np.array([self.win, self.margin]), self.tables._replace(entries=entries))


def pattern_tables(
    patterns: Patterns, weights: NDArray[np.float32], squares: int, parities: int = 1, *, is_portable: bool = False
) -> PatternTables:
    """The tables with these weights (float32[phases, W]), one value per entry, for a board of `squares` squares."""
    entries = np.empty(len(patterns.offsets), dtype=np.int32)
    spread = np.ascontiguousarray(weights[:, patterns.weight_of_entry])
    return PatternTables(patterns.contributions, patterns.offsets, spread, squares, parities, is_portable, entries)
