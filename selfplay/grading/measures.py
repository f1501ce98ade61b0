"""What a measure is, and what it measures: levels, reference players, and the matches between them.

`selfplay.grading.comparison.MEASURES` lists the measures of a comparison.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import ClassVar, NamedTuple, Self

import pandas as pd

from selfplay.checks import check_parameters
from selfplay.errors import GameTooLargeError
from selfplay.games import Game
from selfplay.games.position_graph import positions_of
from selfplay.grading.proof import Grader
from selfplay.grading.ratings import Rating, rate
from selfplay.grading.schedule import (
    ComparisonParameters,
    Pair,
    Who,
    sampled_matches,
    schedule,
    scheduled_matches,
    spaced_levels,
)
from selfplay.grading.solved_positions import RESULT_ONLY, Keep, made_anew
from selfplay.grading.tables import Columns, Row
from selfplay.matches.series import PairMatches, PairResult
from selfplay.players.agent import Agent
from selfplay.players.player import Player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.search.evaluation import FeatureEvaluation


def name_of(who: Who) -> str:
    """What tables and sentences call a level or a reference: level:3, random, or the name of the reference."""
    return who if isinstance(who, str) else f"level:{who}" if who else "random"


def grader_of(game: Game) -> Grader | None:
    """The grader of a game, made once in a process; None if the game is too large to enumerate."""
    if game.identity not in _graders:
        try:
            _graders[game.identity] = Grader(positions_of(game))
        except GameTooLargeError:
            _graders[game.identity] = None
    return _graders[game.identity]


_graders: dict[object, Grader | None] = {}


@dataclass(frozen=True)
class Compared:
    """The levels that are compared, the reference players, and the matches between them."""

    game: Game
    players: Mapping[Who, Player]
    """The levels by their numbers, in order, with at least one that is trained, then the references by their names,
    weak ones first. Level 0 is the random player. In a game that can be enumerated references are not used."""
    parameters: ComparisonParameters = field(default_factory=ComparisonParameters)
    seed: int = 0
    batch_size: int | None = None
    """As for `selfplay.matches.arena.play_matches`."""
    agents: Mapping[int, Agent] = field(default_factory=dict)
    """The trained levels, if they have policies to be measured; else empty."""
    play_pairs: Callable[[Sequence[PairMatches[Who]]], Sequence[PairResult]] | None = None
    """Plays series of matches, as `PairMatches.play` does, perhaps in several processes; None: one after the other."""
    evaluation: FeatureEvaluation = RESULT_ONLY
    """Of the searches whose matches give the positions that are solved."""
    keep: Keep = made_anew
    """Keeps the positions that are solved."""
    notes: Sequence[str] = ()
    """Lines about the levels for the report."""
    advice: Sequence[str] = ()
    """Lines for the report if levels do not improve: what to change."""
    progress: ProgressBar = NoProgress

    def __post_init__(self) -> None:
        check_parameters(self.parameters, "comparison.")

    @property
    def levels(self) -> list[int]:
        """All levels, from 0."""
        return [0, *self.trained]

    @cached_property
    def trained(self) -> list[int]:
        """The trained levels."""
        return [who for who in self.players if isinstance(who, int) and who > 0]

    @property
    def newest(self) -> int:
        return self.trained[-1]

    @property
    def spaced(self) -> list[int]:
        """The levels that meet the references."""
        return spaced_levels(self.trained, self.parameters.every)

    @property
    def grader(self) -> Grader | None:
        """None if the game is too large to enumerate."""
        return grader_of(self.game)

    @cached_property
    def references(self) -> list[str]:
        """The names of the reference players, without the random player; none in a game that can be enumerated."""
        return [] if self.grader is not None else [who for who in self.players if isinstance(who, str)]

    def play(self, series: Sequence[PairMatches[Who]]) -> Sequence[PairResult]:
        """Play series of matches between these players."""
        if self.play_pairs is not None:
            return self.play_pairs(series)
        players = self.players
        return [
            each.play(self.game, (players[each.pair[0]], players[each.pair[1]]), self.batch_size) for each in series
        ]

    @cached_property
    def played(self) -> list[tuple[Pair, PairResult]]:
        """The pairs that met and their results, counted for the first of each pair.

        In a game that can be enumerated level 1 meets level 0 twice, first with exploration as its predecessor.
        """
        parameters, seed = self.parameters, self.seed
        if self.grader is None:
            series = scheduled_matches(schedule(self.trained, self.references, parameters), parameters, seed)
        else:
            series = sampled_matches(self.trained, parameters, seed)
        return [(each.pair, result) for each, result in zip(series, self.play(series), strict=True)]

    @cached_property
    def results(self) -> dict[Pair, PairResult]:
        """The result of each pair."""
        return dict(self.played)

    @cached_property
    def versus_previous(self) -> dict[int, PairResult]:
        """The result of each trained level against the level before it."""
        results = dict(reversed(self.played))
        return {level: results[level, before] for before, level in pairwise(self.levels)}

    @cached_property
    def ratings(self) -> dict[Who, Rating]:
        """The ratings of levels and references, from all matches."""
        whos: list[Who] = [*self.levels, *self.references]
        return rate(whos, ((pair, result.evidence) for pair, result in self.played))


class Shown(NamedTuple):
    """A column of the table on the screen."""

    title: str
    columns: Sequence[str]
    """The columns of levels.csv that it shows; where one is empty, nothing is shown."""
    text: Callable[..., str]
    """From the fields of these columns."""
    meaning: str = ""
    """For the legend."""


class Panel(NamedTuple):
    """A curve by level, to be drawn in a panel of a figure. Its axis starts at 0."""

    title: str
    y_label: str
    levels: Sequence[int]
    numbers: Sequence[float]
    top: float | None = None
    """The upper end of the axis; None: a tenth above the largest number."""


class Measure:
    """A measure of how well levels play: its columns, its sentences in the report, and what is drawn.

    `Measure(compared)` measures. A method that a measure does not override adds nothing to the comparison.
    """

    columns: ClassVar[Columns] = {}
    """Its columns of comparison/levels.csv."""
    shown: ClassVar[Sequence[Shown]] = ()
    """Its columns of the table on the screen."""

    def __init__(self, compared: Compared) -> None:
        self.compared = compared

    @classmethod
    def of(cls, compared: Compared) -> Self | None:
        """The measure of these levels; None if it does not suit the game or the settings."""
        return cls(compared)

    @classmethod
    def of_new_level(cls, compared: Compared) -> Row | None:
        """Its fields of the newest level; None if it needs the other levels or does not suit the game.

        Only this level need be among the players.
        """
        return None

    def fields(self, who: Who) -> Row:
        """The fields of a level or a reference, by column."""
        return {}

    def tables(self) -> dict[str, tuple[Columns, Sequence[Row]]]:
        """The tables of its own, by file name: their columns and rows."""
        return {}

    def sentences(self, table: pd.DataFrame) -> list[str]:
        """Its lines of the report. `table`: comparison/levels.csv."""
        return []

    def panels(self) -> dict[str, list[Panel]]:
        """Its figures, by file name. `selfplay.figures.comparison` draws them, unless it has others for this class."""
        return {}
