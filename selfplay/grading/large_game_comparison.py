"""The levels of a game with too many positions to try every line: measured, where they cannot be proved.

RUN_DIR/comparison/matches.csv      a row a pair of players that have met
RUN_DIR/comparison/references.csv   a row a reference: its rating, and how it plays in late positions
RUN_DIR/comparison/endgames.csv     the late positions (selfplay/grading/endgame_positions.py)
"""

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from selfplay.errors import NotNowError
from selfplay.executors import open_executor
from selfplay.games import Game
from selfplay.grading.comparison_schedule import Pair, Who, name_of, play_meetings, player_of, schedule
from selfplay.grading.endgame_positions import EndgameGrade, EndgamePositions, endgame_positions
from selfplay.grading.ratings import bradley_terry_ratings, rating_half_widths
from selfplay.grading.reference_players import reference_names
from selfplay.matches.result_counts import Tally, tally_columns
from selfplay.players.capabilities import policy_of
from selfplay.players.player import Player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.run_folder import RunFolder
from selfplay.runs.written_files import written_whole
from selfplay.settings.run import Settings

log = logging.getLogger(__name__)


class Rating(NamedTuple):
    """Elo points above the random player, and their 95 % interval."""

    points: float
    low: float
    high: float


class Measurement(NamedTuple):
    """What was measured of the levels of a run."""

    levels: list[int]
    """All levels, from 0."""
    references: list[str]
    """The names of the players that they have met, beside the random one."""
    opening_plies: int
    tallies: dict[Pair, Tally]
    """The results of all who met, counted for the first of each pair."""
    ratings: dict[Who, Rating]
    """Of all levels and references, on one scale."""
    late: EndgamePositions | None
    """The late positions; None where there are none."""
    endgame_grades: dict[Who, EndgameGrade]
    """How all levels and references fare in them, but for those that can be asked in a match only."""
    first_action: str
    """What the newest level does at the start of a match."""

    @property
    def newest(self) -> int:
        return self.levels[-1]

    def versus_references(self) -> dict[Who, Tally]:
        """The newest level's results against the random player (0) and each reference."""
        opponents: list[Who] = [0, *self.references]
        return {opponent: self.tallies[self.newest, opponent] for opponent in opponents}

    def versus_earlier(self) -> dict[int, Tally]:
        """The newest level's results against the earlier levels that it has met, the random player among them."""
        met = {two: tally for (one, two), tally in self.tallies.items() if one == self.newest and isinstance(two, int)}
        return dict(sorted(met.items()))

    def columns(self, level: int) -> dict[str, object]:
        """What comparison/levels.csv says of a level beyond its matches; None where nothing applies."""
        grade, rating = self.endgame_grades.get(level), self.ratings[level]
        return {**_late_columns(grade), "rating": rating.points, "rating_low": rating.low, "rating_high": rating.high}

    def matches_table(self) -> pd.DataFrame:
        """matches.csv"""
        rows: list[dict[str, object]] = []
        for (one, two), tally in self.tallies.items():
            level = one if isinstance(one, int) else None
            rows.append({"level": level, "player": name_of(one), "opponent": name_of(two)} | tally_columns(tally))
        return pd.DataFrame(rows).astype({"level": "Int64"})

    def references_table(self) -> pd.DataFrame:
        """references.csv, the random player first."""
        rows: list[dict[str, object]] = []
        for who in self.versus_references():
            points, low, high = self.ratings[who]
            row: dict[str, object] = {"reference": name_of(who), "rating": points, "rating_low": low}
            rows.append(row | {"rating_high": high} | _late_columns(self.endgame_grades.get(who)))
        return pd.DataFrame(rows)


def measure_levels(
    settings: Settings, game: Game, levels: Sequence[int], progress: ProgressBar = NoProgress
) -> Measurement:
    """Let these levels (all of the run, from 0) and the references meet, and try them in late positions.

    Writes matches.csv, references.csv and, unless it is there, endgames.csv.

    Raises:
        SettingError, StageError, InvalidFileError: a reference cannot be made, or a level's file is broken.
        GameTooLargeError: a reference needs a game with fewer positions.
    """
    run, comparison = RunFolder(Path(settings.run_dir)), settings.comparison
    references = reference_names(game, comparison.references)
    # Made before any match, so that a wrong name is refused at once.
    whos: list[Who] = [*levels, *references]
    players = {who: player_of(settings, game, who) for who in whos}
    late = endgame_positions(game, comparison.endgames, settings.seed, run.endgames, progress)
    with open_executor(settings.executor) as executor:
        tallies = play_meetings(settings, schedule(levels[1:], references, comparison), executor, progress)
    measurement = Measurement(
        levels=list(levels),
        references=references,
        opening_plies=comparison.opening_plies,
        tallies=tallies,
        ratings=rate(whos, tallies),
        late=late,
        endgame_grades={} if late is None else _late_grades(late, players),
        first_action=game.action_in_words(int(policy_of(players[levels[-1]], game.init())[0].argmax())),
    )
    _write_table(run.matches, measurement.matches_table())
    _write_table(run.references, measurement.references_table())
    return measurement


def rate(players: Sequence[Who], tallies: dict[Pair, Tally]) -> dict[Who, Rating]:
    """The rating of each of these players, the first one at 0, from all their matches; a draw is half a win."""
    number = {who: place for place, who in enumerate(players)}
    wins = np.zeros((len(players), len(players)))
    for (one, two), tally in tallies.items():
        wins[number[one], number[two]] += tally.wins + tally.draws / 2
        wins[number[two], number[one]] += tally.losses + tally.draws / 2
    points = bradley_terry_ratings(wins)
    half_widths = rating_half_widths(wins, points)
    ends = zip(points, points - half_widths, points + half_widths, strict=True)
    return {who: Rating(*map(float, three)) for who, three in zip(players, ends, strict=True)}


def _late_grades(late: EndgamePositions, players: Mapping[Who, Player]) -> dict[Who, EndgameGrade]:
    grades: dict[Who, EndgameGrade] = {}
    for who, player in players.items():
        # Programs of others play whole matches only.
        with suppress(NotNowError):
            grades[who] = late.grade(player)
    return grades


def _late_columns(grade: EndgameGrade | None) -> dict[str, object]:
    return {
        "endgame_optimal_rate": None if grade is None else grade.optimal,
        "endgame_mean_loss": None if grade is None else grade.mean_loss,
    }


def _write_table(path: Path, table: pd.DataFrame) -> None:
    with written_whole(path) as beside:
        table.to_csv(beside, index=False)
    log.info("wrote %s", path)
