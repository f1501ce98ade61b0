"""What a measure is, and what it measures: the levels of a run, the reference players, and the matches between them.

`selfplay.grading.comparison.MEASURES` lists the measures of a comparison.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import ClassVar, NamedTuple, Self

import numpy as np
import pandas as pd

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import GameTooLargeError, SettingError
from selfplay.executors import open_executor
from selfplay.games import Game
from selfplay.games.position_graph import positions_of
from selfplay.grading.proof import Grader
from selfplay.grading.ratings import Rating, rate
from selfplay.grading.tables import Columns, Row
from selfplay.matches.series import PairMatches, PairResult, play_pairs
from selfplay.named_players.evaluations import make_evaluation
from selfplay.named_players.names import make_player
from selfplay.players.player import Player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.levels import level_player
from selfplay.settings.context import RunContext
from selfplay.settings.run import Settings
from selfplay.settings.sections import ComparisonSettings
from selfplay.settings.task_files import task_files

RANDOM = "random"
MOST_LINES = 1_000_000
"""The most lines of play that a reference without an evaluation may have to search for one action."""
ARTICLE, NONE = "article", "none"


def reference_names(game: Game, names: Sequence[str] | None) -> list[str]:
    """The names of the references: `names` without duplicates, or by default those that suit the game, weak ones first.

    The random player is not included, because every level meets it as level 0. The defaults are the player that
    maximises its points after one ply, if the game counts points, and NegaScout at several depths. These are 1 to 6
    plies with the evaluation `article` if it fits the game; otherwise 2, 4 and 6 plies without an evaluation, if the
    number of actions is small enough.
    """
    if names is not None:
        return [name for name in dict.fromkeys(names) if name != RANDOM]
    greedy = ["greedy_discs"] if game.rules.margin is not None else []
    evaluation = _fitting_evaluation(game)
    shallow = [depth for depth in (2, 4, 6) if game.num_distinct_actions**depth <= MOST_LINES]
    depths = shallow if evaluation == NONE else range(1, 7)
    return [*greedy, *(f"search:negascout?depth={depth}&evaluation={evaluation}" for depth in depths)]


def average_player(game: Game) -> str:
    """The name of a fast player that avoids immediate blunders and explores; its matches resemble those of people."""
    return f"search:negascout?depth=2&evaluation={_fitting_evaluation(game)}&epsilon=0.25"


def _fitting_evaluation(game: Game) -> str:
    try:
        make_evaluation(ARTICLE, game)
    except SettingError:
        return NONE
    return ARTICLE


Who = int | str
"""A level by its number, 0 the random player, or a reference by its name."""
Pair = tuple[Who, Who]
Task = PairMatches[Settings, Who]

DEFAULT_LEVELS = 10
"""Number of levels that meet the references, unless the settings specify it."""


def name_of(who: Who) -> str:
    """The name of the player, as in `selfplay.named_players.names`."""
    return who if isinstance(who, str) else f"level:{who}" if who else "random"


def player_of(settings: Settings, game: Game, who: Who) -> Player:
    """The player. Raises as `level_player` and `make_player`."""
    if isinstance(who, int):
        how = settings.player
        return level_player(settings.run_dir, who, game, how.depth, how.temperature)
    return make_player(who, game, Path(settings.run_dir))


def sampled_matches(settings: Settings, levels: Sequence[int]) -> list[Task]:
    """Matches of each trained level against the level before it, then of each against the random player.

    Levels explore in matches against each other, because two deterministic players would repeat a few matches.
    """

    def matches(level: int, opponent: int, activity: Activity, epsilons: Sequence[float] = ()) -> Task:
        how, key = settings.comparison, stream_key(settings.seed, level, activity)
        pair, seconds = (level, opponent), how.pair_seconds
        return PairMatches(settings, pair, player_of, how.matches, key, epsilons=epsilons, seconds=seconds)

    epsilons = settings.comparison.epsilons
    pairs = pairwise([0, *levels])
    previous = [matches(level, before, Activity.VERSUS_PREVIOUS, epsilons) for before, level in pairs]
    return [*previous, *(matches(level, 0, Activity.VERSUS_RANDOM) for level in levels)]


def spaced_levels(levels: Sequence[int], every: int | None) -> list[int]:
    """Some of the trained levels (at least one, in order), always with the first and the newest.

    `every`: choose every n-th level, counted back from the newest; None: up to ten, evenly spaced.
    """
    if every is None:
        count = min(DEFAULT_LEVELS, len(levels))
        return [levels[number] for number in np.linspace(0, len(levels) - 1, count).round().astype(int).tolist()]
    return sorted({levels[0], *levels[::-every]})


def schedule(levels: Sequence[int], references: Sequence[str], settings: ComparisonSettings) -> dict[Pair, int]:
    """The number of matches of each pair. `levels`: the trained levels, in order.

    Every level meets its predecessor and the random player; the spaced levels meet the references; the newest level
    meets the spaced levels; and each reference meets the one before it in the list, the first one the random player,
    which makes the ratings more precise.
    """
    pairs: dict[Pair, int] = {}
    for before, level in pairwise([0, *levels]):
        pairs[level, before] = pairs[level, 0] = settings.matches
    newest, spaced = levels[-1], spaced_levels(levels, settings.every)
    for level in spaced:
        matches = settings.matches if level == newest else settings.earlier_matches
        pairs |= {(level, reference): matches for reference in references}
    pairs |= {(newest, level): settings.matches for level in spaced if level != newest}
    ladder: list[Who] = [*reversed(references), 0]
    return pairs | dict.fromkeys(pairwise(ladder), settings.earlier_matches)


def scheduled_matches(settings: Settings, pairs: Mapping[Pair, int]) -> list[Task]:
    """The matches of a `schedule`. All pairs play from the same openings, which makes their results comparable."""
    key = stream_key(settings.seed, 0, Activity.MEASUREMENT)
    plies, seconds = settings.comparison.opening_plies, settings.comparison.pair_seconds
    return [
        PairMatches(settings, pair, player_of, matches, key, plies, seconds=seconds) for pair, matches in pairs.items()
    ]


@cache
def grader_of(game: str) -> Grader | None:
    """The grader of a game, made once in a process; None if the game is too large to enumerate."""
    try:
        return Grader(positions_of(game))
    except GameTooLargeError:
        return None


@dataclass(frozen=True)
class Compared:
    """The levels of a run that are compared, the reference players, and the matches between them."""

    context: RunContext[Settings]
    trained: Sequence[int]
    """The trained levels, in order, at least one."""
    progress: ProgressBar = NoProgress

    def __post_init__(self) -> None:
        # Before anything is measured, so that a wrong name of a reference is rejected at once.
        assert self.players

    @property
    def settings(self) -> Settings:
        return self.context.settings

    @property
    def game(self) -> Game:
        return self.context.game

    @property
    def levels(self) -> list[int]:
        """All levels, from 0."""
        return [0, *self.trained]

    @property
    def newest(self) -> int:
        return self.trained[-1]

    @property
    def spaced(self) -> list[int]:
        """The levels that meet the references."""
        return spaced_levels(self.trained, self.settings.comparison.every)

    @property
    def grader(self) -> Grader | None:
        """None if the game is too large to enumerate."""
        return grader_of(self.game.name)

    @cached_property
    def references(self) -> list[str]:
        """The names of the reference players, without the random player; none in a game that can be enumerated."""
        return [] if self.grader is not None else reference_names(self.game, self.settings.comparison.references)

    @cached_property
    def players(self) -> dict[Who, Player]:
        """Levels and references. Raises as `player_of`."""
        whos: list[Who] = [*self.levels, *self.references]
        return {who: player_of(self.settings, self.game, who) for who in whos}

    @cached_property
    def played(self) -> list[tuple[Pair, PairResult]]:
        """The pairs that met and their results, counted for the first of each pair.

        In a game that can be enumerated level 1 meets level 0 twice, first with exploration as its predecessor.
        """
        if self.grader is None:
            pairs = schedule(self.trained, self.references, self.settings.comparison)
            tasks = scheduled_matches(self.settings, pairs)
        else:
            tasks = sampled_matches(self.settings, self.trained)
        with open_executor(self.settings.executor, self.settings.threads) as executor:
            files = task_files(self.settings, self.context.run.player_files())
            results = play_pairs(tasks, executor, files, self.progress, "comparing levels")
        return [(task.pair, result) for task, result in zip(tasks, results, strict=True)]

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
    def of_new_level(cls, context: RunContext[Settings], level: int, progress: ProgressBar) -> Row | None:
        """Its fields of a level that was just trained; None if it needs the other levels or does not suit the game."""
        return None

    def fields(self, who: Who) -> Row:
        """The fields of a level or a reference, by column."""
        return {}

    def tables(self) -> dict[Path, tuple[Columns, Sequence[Row]]]:
        """The tables of its own: their files, columns and rows. A table without rows is deleted."""
        return {}

    def sentences(self, table: pd.DataFrame) -> list[str]:
        """Its lines of the report. `table`: comparison/levels.csv."""
        return []

    def panels(self) -> dict[str, list[Panel]]:
        """Its figures, by file name. `selfplay.figures.comparison` draws them, unless it has others for this class."""
        return {}
