"""Comparison of every level of a run with its predecessor and the random player, sampled and exact, in one table.

In games with too many positions for exact grades, `selfplay.grading.large_game_comparison` measures the levels instead.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from selfplay.errors import GameTooLargeError, StageError
from selfplay.executors import open_executor
from selfplay.games import Game
from selfplay.games.position_graph import enumerate_positions
from selfplay.grading.comparison_columns import LEVEL_COLUMNS, LevelFacts
from selfplay.grading.comparison_schedule import player_of, predecessor_matches, random_player_matches
from selfplay.grading.large_game_comparison import Measurement, measure_levels
from selfplay.grading.policy_measures import WAY_COLUMNS, WayOfPlaying, ways_of_playing
from selfplay.grading.proof import Grade, Grader
from selfplay.grading.ratings import rate
from selfplay.grading.table_columns import of_families, table_of, write_csv
from selfplay.matches.series import play_pairs
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.run_folder import RunContext, prepare_process
from selfplay.settings.run import Settings


class Comparison(NamedTuple):
    """Everything known about the levels of a run."""

    game: Game
    table: pd.DataFrame
    """comparison/levels.csv, a row per level, level 0 first."""
    grades: dict[int, Grade]
    """The exact grade of each level; empty if the game is too large to enumerate."""
    grader: Grader | None
    """None if the game is too large to enumerate."""
    measurement: Measurement | None = None
    """The measurement in a game too large to enumerate; None in other games."""
    ways: Sequence[WayOfPlaying] = ()
    """The grades of policies, values and searches, in games that can be enumerated, with targets=search."""

    @property
    def newest(self) -> int:
        return int(self.table["level"].max())

    @property
    def ceiling(self) -> float | None:
        """The largest share of matches that a player who never loses can win against the random player, if known."""
        if self.grader is None:
            return None
        best = np.mean(self.grader.best_versus_random(never_lose=True))
        return None if np.isnan(best) else float(best)


def compare_levels(settings: Settings, progress: ProgressBar = NoProgress) -> Comparison:
    """Compare all levels of the run and write comparison/levels.csv; in a large game also what `measure_levels` writes.

    Raises:
        SettingError, GameTooLargeError: a reference player of a large game cannot be made.
        StageError: the run has no trained level.
        InvalidFileError: the file of a level is broken or belongs to another game.
    """
    context = prepare_process(settings)
    run, levels = context.run, context.run.trained_levels()
    if not levels:
        raise StageError(f"{run.path} has no trained level to compare; run the loop first")
    try:
        grader = Grader(enumerate_positions(context.game))
    except GameTooLargeError:
        comparison = _measured(context, levels, progress)
    else:
        comparison = _graded(context, levels, grader, progress)
    write_csv(comparison.table, run.comparison)
    return comparison


def _measured(context: RunContext[Settings], levels: Sequence[int], progress: ProgressBar) -> Comparison:
    """The comparison in a game too large to enumerate."""
    measurement = measure_levels(context, levels, progress)
    table = table_of(of_families(LEVEL_COLUMNS, measurement.families), measurement.level_facts())
    return Comparison(context.game, table, {}, None, measurement)


def _graded(context: RunContext[Settings], levels: Sequence[int], grader: Grader, progress: ProgressBar) -> Comparison:
    """The comparison in a game in which every position is graded."""
    settings, game = context.settings, context.game
    tasks = [*predecessor_matches(settings, levels), *random_player_matches(settings, levels)]
    with open_executor(settings.executor) as executor:
        results = play_pairs(tasks, executor, context.run.player_files(), progress, "comparing levels")
    played = zip((task.pair for task in tasks), (result.results for result in results), strict=True)
    ratings = rate([0, *levels], played)
    previous = dict(zip(levels, results, strict=False))
    versus_random = dict(zip(levels, results[len(levels) :], strict=True))
    grades = {level: grader.grade(player_of(settings, game, level)) for level in (0, *levels)}
    rows = [
        LevelFacts(level, previous.get(level), versus_random.get(level), grade, None, None, None, ratings[level])
        for level, grade in grades.items()
    ]
    table, ways = table_of(of_families(LEVEL_COLUMNS), rows), []
    if settings.has_policies:
        ways = ways_of_playing(context.run.path, game, levels, grader)
        write_csv(table_of(WAY_COLUMNS, ways), context.run.policies)
    return Comparison(game, table, grades, grader, ways=ways)
