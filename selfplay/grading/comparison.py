"""Every level of a run against its predecessor and the random player, sampled and exact, in one table.

Where a game has too many positions for exact grades, `selfplay.grading.large_game_comparison` measures what can be
measured instead.
"""

import logging
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch

from selfplay.compute.devices import chosen_device
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import GameTooLargeError, StageError
from selfplay.executors import open_executor
from selfplay.games import Game, make_game
from selfplay.games.position_graph import enumerate_positions
from selfplay.grading.large_game_comparison import Measurement, measure_levels
from selfplay.grading.proof import SEAT_NAMES, Grade, Grader
from selfplay.grading.ratings import bradley_terry_ratings
from selfplay.matches.result_counts import RESULTS, Tally, tally_columns, tally_matches
from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer
from selfplay.players.levels import level_player
from selfplay.players.random import RandomPlayer
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.run_folder import RunFolder
from selfplay.runs.written_files import written_whole
from selfplay.settings.run import Settings

log = logging.getLogger(__name__)


class Encounter(NamedTuple):
    """A level and the one before it."""

    settings: Settings
    level: int
    before: int


class Comparison(NamedTuple):
    """All that is known of the levels of a run."""

    game: Game
    table: pd.DataFrame
    """comparison/levels.csv, a row a level, level 0 first."""
    grades: dict[int, Grade]
    """The exact grade of each level; empty if the game is too large to enumerate."""
    grader: Grader | None
    measurement: Measurement | None = None
    """What was measured where nothing can be proved; None where every position is graded."""

    @property
    def ceiling(self) -> float | None:
        """The largest share of matches that a player who never loses can win against the random player, if known."""
        if self.grader is None:
            return None
        best = np.mean(self.grader.best_versus_random(never_lose=True))
        return None if np.isnan(best) else float(best)


def compare_levels(settings: Settings, progress: ProgressBar = NoProgress) -> Comparison:
    """Compare all levels of the run and write comparison/levels.csv; of a large game also what `measure_levels` writes.

    Raises:
        SettingError, GameTooLargeError: a reference that a large game's levels shall meet cannot be made.
        StageError: the run has no trained level.
        InvalidFileError: the file of a level is broken or belongs to another game.
    """
    torch.set_num_threads(settings.threads)
    run = RunFolder(Path(settings.run_dir))
    game = make_game(settings.game.name)
    levels = [0, *run.trained_levels()]
    if len(levels) == 1:
        raise StageError(f"{run.path} has no trained level to compare; run the loop first")
    try:
        grader = Grader(enumerate_positions(game))
    except GameTooLargeError:
        comparison = _measured(settings, game, levels, progress)
    else:
        comparison = _graded(settings, game, levels, grader, progress)
    with written_whole(run.comparison) as beside:
        comparison.table.to_csv(beside, index=False)
    log.info("wrote %s", run.comparison)
    return comparison


def _measured(settings: Settings, game: Game, levels: list[int], progress: ProgressBar) -> Comparison:
    """The comparison of a game too large to enumerate."""
    measurement = measure_levels(settings, game, levels, progress)
    tallies = measurement.tallies
    previous = {level: tallies[level, before] for before, level in pairwise(levels)}
    versus_random = {level: tallies[level, 0] for level in levels[1:]}
    rows = [
        _sampled_columns(level, previous, versus_random) | grade_columns(None) | measurement.columns(level)
        for level in levels
    ]
    return Comparison(game, _table(rows), {}, None, measurement)


def _graded(settings: Settings, game: Game, levels: list[int], grader: Grader, progress: ProgressBar) -> Comparison:
    """The comparison of a game in which every position is graded."""
    opponents = list(zip([0, *levels], levels, strict=False))[1:]
    encounters = [Encounter(settings, level, before) for before, level in opponents]
    previous: dict[int, Tally] = {}
    versus_random: dict[int, Tally] = {}
    with (
        closing(progress(total=len(levels), desc="comparing levels")) as bar,
        open_executor(settings.executor) as executor,
    ):
        results = executor.map(play_encounter, encounters, RunFolder(Path(settings.run_dir)).player_files())
        for level, tallies in zip(levels[1:], results, strict=True):
            previous[level], versus_random[level] = tallies
            bar.update(1)
    grades = {level: grader.grade(level_player(settings, game, level)) for level in levels}
    ratings = _ratings(levels, previous, versus_random)
    rows = [
        _sampled_columns(level, previous, versus_random) | grade_columns(grades[level]) | {"rating": ratings[level]}
        for level in levels
    ]
    return Comparison(game, _table(rows), grades, grader)


def _table(rows: list[dict[str, object]]) -> pd.DataFrame:
    # Level 0 has no counts; the others' stay whole numbers in the file all the same.
    counts = [f"{what}_vs_{who}" for what in (*RESULTS, "distinct") for who in ("previous", "random")]
    return pd.DataFrame(rows).astype(dict.fromkeys(counts, "Int64"))


def play_encounter(encounter: Encounter) -> tuple[Tally, Tally]:
    """The matches of a level against its predecessor, both exploring, and against the random player."""
    settings, level, before = encounter
    torch.set_num_threads(settings.threads)
    game = make_game(settings.game.name)
    player, predecessor = level_player(settings, game, level), level_player(settings, game, before)
    pair = (
        EpsilonGreedyPlayer(game, player, settings.comparison.epsilons),
        EpsilonGreedyPlayer(game, predecessor, settings.comparison.epsilons),
    )
    matches, size, device = settings.comparison.matches, settings.batch_size, chosen_device(settings.device)
    key = stream_key(settings.seed, level, Activity.VERSUS_PREVIOUS)
    previous = tally_matches(game, pair, matches, key, size, device=device)
    key = stream_key(settings.seed, level, Activity.VERSUS_RANDOM)
    return previous, tally_matches(game, (player, RandomPlayer(game)), matches, key, size, device=device)


def _ratings(levels: list[int], previous: dict[int, Tally], versus_random: dict[int, Tally]) -> dict[int, float]:
    wins = np.zeros((len(levels), len(levels)))
    for number, level in enumerate(levels[1:], start=1):
        for opponent, tally in ((number - 1, previous[level]), (0, versus_random[level])):
            wins[number, opponent] += tally.wins + tally.draws / 2
            wins[opponent, number] += tally.losses + tally.draws / 2
    return dict(zip(levels, map(float, bradley_terry_ratings(wins)), strict=True))


def _sampled_columns(level: int, previous: dict[int, Tally], versus_random: dict[int, Tally]) -> dict[str, object]:
    row: dict[str, object] = {"level": level}
    for opponent, tallies in (("previous", previous), ("random", versus_random)):
        row |= tally_columns(tallies.get(level), f"_vs_{opponent}")
    return row


def grade_columns(grade: Grade | None) -> dict[str, object]:
    """What a grade says, as columns of a table; None in all of them without a grade."""
    columns: dict[str, object] = {}
    for outcome in ("win", "draw", "loss"):
        for seat, name in enumerate(SEAT_NAMES):
            value = None if grade is None else getattr(grade.versus_random[seat], outcome)
            columns[f"exact_{outcome}_vs_random_{name}"] = value
        both = None if grade is None else sum(getattr(o, outcome) for o in grade.versus_random) / 2
        columns[f"exact_{outcome}_vs_random"] = both
    for seat, name in enumerate(SEAT_NAMES):
        columns[f"losing_lines_{name}"] = None if grade is None else grade.lines[seat].lost
        columns[f"lines_{name}"] = None if grade is None else grade.lines[seat].total
    columns["optimal_action_rate"] = None if grade is None else grade.optimal_action_rate
    columns["value_error"] = None if grade is None else grade.value_error
    return columns
