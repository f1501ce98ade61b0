"""Comparison of every level of a run with its predecessor and the random player, sampled and exact, in one table.

While the run is in progress, each new level is measured alone, in `measure_level`.

In games with too many positions for exact grades, `selfplay.grading.large_game_comparison` measures the levels instead.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from selfplay.errors import GameTooLargeError, StageError
from selfplay.executors import open_executor
from selfplay.files import sha256
from selfplay.games import Game
from selfplay.games.position_graph import positions_of
from selfplay.grading.comparison_schedule import (
    Pair,
    player_of,
    sampled_matches,
    scheduled_matches,
)
from selfplay.grading.judgement import judged_positions_of
from selfplay.grading.large_game_comparison import Measurement, measure_levels
from selfplay.grading.policy_measures import measure_policies, ways_of_playing
from selfplay.grading.proof import Grade, Grader
from selfplay.grading.ratings import rate
from selfplay.grading.solved_positions import quality_fields
from selfplay.grading.tables import LEVEL_COLUMNS, POLICY_COLUMNS, Row, result_fields, table_of, write_csv
from selfplay.matches.series import play_pair, play_pairs
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunContext, RunFolder, computing, writes_run
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
    policies: Sequence[dict[str, Any]] = ()
    """The rows of comparison/policies.csv, with targets=search."""

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


@writes_run(create=False)
def compare_levels(settings: Settings, progress: ProgressBar = NoProgress) -> Comparison:
    """Compare all levels of the run and write comparison/levels.csv; in a large game also what `measure_levels` writes.

    Raises:
        RunLockedError: another process or thread is using the run.
        SettingError, GameTooLargeError: a reference player of a large game cannot be made.
        StageError: the run has no trained level.
        InvalidFileError: the file of a level is broken or belongs to another game.
    """
    run = RunFolder.of(settings)
    if not (levels := run.trained_levels()):
        raise StageError(f"{run.path} has no trained level to compare; run the loop first")
    with computing(settings) as context:
        grader = _grader_of(context.game.name)
        if grader is None:
            measurement = measure_levels(context, levels, progress)
            table = table_of(LEVEL_COLUMNS, measurement.level_rows())
            comparison = Comparison(context.game, table, {}, None, measurement)
        else:
            comparison = _graded(context, levels, grader, progress)
        if settings.has_policies:
            if grader is None:
                policies = measure_policies(context, levels)
            else:
                policies = ways_of_playing(run.path, context.game, levels, grader)
            write_csv(table_of(POLICY_COLUMNS, policies), run.policies)
            comparison = comparison._replace(policies=policies)
        write_csv(comparison.table, run.comparison)
        return comparison


@cache
def _grader_of(game: str) -> Grader | None:
    """The grader of a game, made once in a process; None if the game is too large to enumerate."""
    try:
        return Grader(positions_of(game))
    except GameTooLargeError:
        return None


@writes_run(create=False)
def measure_level(settings: Settings, level: int, progress: ProgressBar = NoProgress) -> None:
    """Write how strong a level is to strength.csv in its folder, with those columns of levels.csv that are known.

    In a game that can be enumerated this is its exact grade. If an exact solver solves whole matches, it is the
    mistakes in the positions in which `judge_players` judges the level later. Otherwise it is a few matches against the
    level before it and the random player. Does nothing if this was done for the same agent, or the level has been
    compared.

    Raises RunLockedError if another process or thread is using the run, StageError if it does not have the level, and
    InvalidFileError if its file is broken.
    """
    run = RunFolder.of(settings)
    agent, path, manifest = sha256(run.existing_agent(level)), run.strength(level), Manifest(run.level(level))
    compared = Manifest(run.path).sections.get("comparison", {"settings": {}})["settings"].get("agents_sha256", [])
    if agent in compared or manifest.is_done("strength", {"agent_sha256": agent}, force=True):
        return
    with computing(settings) as context:
        row: Row = {"level": level, **_strength(context, level, progress)}
    write_csv(table_of(LEVEL_COLUMNS, [row]).dropna(axis="columns"), path)
    manifest.record("strength", {"agent_sha256": agent}, {}, [path.name])


def _strength(context: RunContext[Settings], level: int, progress: ProgressBar) -> Row:
    settings, game = context.settings, context.game
    player, grader = player_of(settings, game, level), _grader_of(game.name)
    if grader is not None:
        return grader.grade(player).fields()
    positions = judged_positions_of(context, progress)
    if positions is not None:
        return quality_fields(positions.grade(player).overall, "judged_")
    pairs: list[Pair] = [(level, level - 1), (level, 0)]
    tasks = scheduled_matches(settings, dict.fromkeys(pairs, settings.comparison.earlier_matches))
    played = {task.pair: play_pair(task) for task in tasks}
    previous, versus_random = (played[pair] for pair in pairs)
    return result_fields(previous, "_vs_previous") | result_fields(versus_random, "_vs_random")


def _graded(context: RunContext[Settings], levels: Sequence[int], grader: Grader, progress: ProgressBar) -> Comparison:
    settings, game = context.settings, context.game
    tasks = sampled_matches(settings, levels)
    with open_executor(settings.executor) as executor:
        results = play_pairs(tasks, executor, context.run.player_files(), progress, "comparing levels")
    played = zip((task.pair for task in tasks), (result.evidence for result in results), strict=True)
    ratings = rate([0, *levels], played)
    previous = dict(zip(levels, results, strict=False))
    versus_random = dict(zip(levels, results[len(levels) :], strict=True))
    grades = {level: grader.grade(player_of(settings, game, level)) for level in (0, *levels)}
    rows = []
    for level, grade in grades.items():
        row: Row = {"level": level, **grade.fields(), **ratings[level].fields()}
        if level > 0:
            row |= result_fields(previous[level], "_vs_previous") | result_fields(versus_random[level], "_vs_random")
        rows.append(row)
    return Comparison(game, table_of(LEVEL_COLUMNS, rows), grades, grader)
