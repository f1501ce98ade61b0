"""Every level of a run against its predecessor and the random player, sampled and exact, in one table."""

import logging
from collections import Counter
from math import sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from scipy.stats import binomtest, norm

from selfplay.arena import play_matches
from selfplay.errors import GameTooLargeError, StageError
from selfplay.games import Game, make_game
from selfplay.games.positions import enumerate_positions
from selfplay.grading import SEAT_NAMES, Grade, Grader
from selfplay.level_players import level_player
from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer
from selfplay.players.player import Player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.randomness import Activity, stream_key
from selfplay.ratings import bradley_terry_ratings
from selfplay.run_folder import RunFolder, written_whole
from selfplay.settings import Settings

log = logging.getLogger(__name__)

CONFIDENCE = 0.95
RESULTS = ("wins", "draws", "losses")


class Tally(NamedTuple):
    """Results of matches between two players, counted for the first of them."""

    wins: int
    draws: int
    losses: int
    distinct: int
    """How many of the matches differ in an action or in who moved first."""
    forfeits: int = 0
    """How many of the losses are matches that the player gave up by a fault."""
    opponent_forfeits: int = 0
    """How many of the wins are matches that the opponent gave up by a fault."""

    @property
    def matches(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """The points for each match, from 0 to 1: a draw is half a point."""
        return (self.wins + self.draws / 2) / self.matches

    def score_interval(self) -> tuple[float, float]:
        """The 95 % interval (Wilson, 1927) of the score, as if each point were won or lost; draws make it wider."""
        z2 = float(norm.ppf((1 + CONFIDENCE) / 2)) ** 2
        n, p = self.matches, self.score
        middle, half = p + z2 / (2 * n), sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n * n)))
        return (middle - half) / (1 + z2 / n), (middle + half) / (1 + z2 / n)

    def interval(self, count: int) -> tuple[float, float]:
        """The 95 % interval (Wilson, 1927) of the rate behind `count` of the matches."""
        ci = binomtest(count, self.matches).proportion_ci(CONFIDENCE, method="wilson")
        return float(ci.low), float(ci.high)

    @property
    def word(self) -> str:
        """Whether wins and losses can be told apart, by an exact sign test at the 5 % level."""
        decided = self.wins + self.losses
        if decided == 0 or binomtest(self.wins, decided).pvalue >= 1 - CONFIDENCE:
            return "not told apart"
        return "better" if self.wins > self.losses else "worse"


class Comparison(NamedTuple):
    """All that is known of the levels of a run."""

    game: Game
    table: pd.DataFrame
    """comparison/levels.csv, a row a level, level 0 first."""
    grades: dict[int, Grade]
    """The exact grade of each level; empty if the game is too large to enumerate."""
    grader: Grader | None

    @property
    def ceiling(self) -> float | None:
        """The largest share of matches that a player who never loses can win against the random player, if known."""
        if self.grader is None:
            return None
        best = np.mean(self.grader.best_versus_random(never_lose=True))
        return None if np.isnan(best) else float(best)


def tally_matches(
    game: Game, players: tuple[Player, Player], matches: int, key: int, batch_size: int, opening_plies: int = 0
) -> Tally:
    """Play `matches` matches, the first player moving first in the even ones, and count. No player learns from them.

    `opening_plies`: as for `selfplay.arena.play_batch`.
    """
    wins = draws = losses = 0
    forfeits: Counter[int] = Counter()
    seen: set[tuple[int, bytes]] = set()
    records = play_matches(
        game, players, range(matches), key, learn=False, opening_plies=opening_plies, batch_size=batch_size
    )
    for record in records:
        returns = record.returns()
        wins, losses = wins + int((returns > 0).sum()), losses + int((returns < 0).sum())
        draws += int((returns == 0).sum())
        forfeits.update(forfeit.player for forfeit in record.forfeits)
        lines = (np.trim_zeros(line + 1, "b").tobytes() for line in record.action_sequences().numpy())
        seen.update(zip(record.seats.tolist(), lines, strict=True))
    return Tally(wins, draws, losses, len(seen), forfeits[0], forfeits[1])


def compare_levels(settings: Settings, progress: ProgressBar = NoProgress) -> Comparison:
    """Compare all levels of the run and write comparison/levels.csv.

    Raises:
        StageError: the run has no trained level.
        InvalidFileError: the file of a level is broken or belongs to another game.
    """
    torch.set_num_threads(settings.threads)
    run = RunFolder(Path(settings.run_dir))
    game = make_game(settings.game.name)
    levels = [0, *run.trained_levels()]
    if len(levels) == 1:
        raise StageError(f"{run.path} has no trained level to compare; run the loop first")
    players = {level: level_player(settings, game, level) for level in levels}
    try:
        grader = Grader(enumerate_positions(game))
    except GameTooLargeError:
        grader = None
    bar = progress(total=len(levels), desc="comparing levels")
    previous: dict[int, Tally] = {}
    versus_random: dict[int, Tally] = {}
    grades: dict[int, Grade] = {}
    for before, level in zip([0, *levels], levels, strict=False):
        if level > 0:
            previous[level] = _versus_previous(settings, game, players, before, level)
            versus_random[level] = _versus_random(settings, game, players, level)
        if grader is not None:
            grades[level] = grader.grade(players[level])
        bar.update(1)
    bar.close()
    ratings = _ratings(levels, previous, versus_random)
    table = pd.DataFrame([_row(level, previous, versus_random, grades, ratings) for level in levels])
    # Level 0 has no counts; the others' stay whole numbers in the file all the same.
    counts = [f"{what}_vs_{who}" for what in (*RESULTS, "distinct") for who in ("previous", "random")]
    comparison = Comparison(game, table.astype(dict.fromkeys(counts, "Int64")), grades, grader)
    with written_whole(run.comparison) as beside:
        comparison.table.to_csv(beside, index=False)
    log.info("wrote %s", run.comparison)
    return comparison


def _versus_previous(settings: Settings, game: Game, players: dict[int, Player], before: int, level: int) -> Tally:
    pair = (
        EpsilonGreedyPlayer(game, players[level], settings.comparison.epsilons),
        EpsilonGreedyPlayer(game, players[before], settings.comparison.epsilons),
    )
    key = stream_key(settings.seed, level, Activity.VERSUS_PREVIOUS)
    return tally_matches(game, pair, settings.comparison.matches, key, settings.batch_size)


def _versus_random(settings: Settings, game: Game, players: dict[int, Player], level: int) -> Tally:
    key = stream_key(settings.seed, level, Activity.VERSUS_RANDOM)
    return tally_matches(game, (players[level], players[0]), settings.comparison.matches, key, settings.batch_size)


def _ratings(levels: list[int], previous: dict[int, Tally], versus_random: dict[int, Tally]) -> dict[int, float]:
    wins = np.zeros((len(levels), len(levels)))
    for number, level in enumerate(levels[1:], start=1):
        for opponent, tally in ((number - 1, previous[level]), (0, versus_random[level])):
            wins[number, opponent] += tally.wins + tally.draws / 2
            wins[opponent, number] += tally.losses + tally.draws / 2
    return dict(zip(levels, map(float, bradley_terry_ratings(wins)), strict=True))


def _row(
    level: int,
    previous: dict[int, Tally],
    versus_random: dict[int, Tally],
    grades: dict[int, Grade],
    ratings: dict[int, float],
) -> dict[str, object]:
    row: dict[str, object] = {"level": level}
    for opponent, tallies in (("previous", previous), ("random", versus_random)):
        row |= _tally_columns(opponent, tallies.get(level))
    return row | grade_columns(grades.get(level)) | {"rating": ratings[level]}


def _tally_columns(opponent: str, tally: Tally | None) -> dict[str, object]:
    columns: dict[str, object] = {}
    for result in RESULTS:
        columns[f"{result}_vs_{opponent}"] = None if tally is None else getattr(tally, result)
    for result in RESULTS:
        low, high = (None, None) if tally is None else tally.interval(getattr(tally, result))
        columns |= {f"{result}_rate_low_vs_{opponent}": low, f"{result}_rate_high_vs_{opponent}": high}
    columns[f"word_vs_{opponent}"] = None if tally is None else tally.word
    columns[f"distinct_vs_{opponent}"] = None if tally is None else tally.distinct
    return columns


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
