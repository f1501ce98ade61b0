"""Comparison of levels in games with too many positions to try every line: levels are measured, not proved.

RUN_DIR/comparison/matches.csv      a row per pair of players that met
RUN_DIR/comparison/references.csv   a row per reference player: its rating, and how it plays endgame positions
RUN_DIR/comparison/endgames.csv     the endgame positions (selfplay/grading/endgame_positions.py)
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import NamedTuple

from selfplay.errors import NotNowError
from selfplay.executors import open_executor
from selfplay.games.win_draw_loss import WinDrawLoss
from selfplay.grading.comparison_columns import (
    MATCH_COLUMNS,
    REFERENCE_COLUMNS,
    LevelFacts,
    PairFacts,
    ReferenceFacts,
)
from selfplay.grading.comparison_schedule import Pair, Who, name_of, player_of, schedule, scheduled_matches
from selfplay.grading.endgame_positions import EndgameGrade, EndgamePositions, endgame_positions
from selfplay.grading.ratings import Rating, rate
from selfplay.grading.reference_players import reference_names
from selfplay.grading.table_columns import table_of, write_csv
from selfplay.matches.pair_results import PairResult, play_pairs
from selfplay.players.capabilities import policy_of
from selfplay.players.player import Player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.context import RunContext
from selfplay.settings.run import Settings


class Measurement(NamedTuple):
    """The measurements of the levels of a run."""

    levels: list[int]
    """All levels, from 0."""
    references: list[str]
    """The names of the reference players, without the random player."""
    opening_plies: int
    results: dict[Pair, PairResult]
    """The results of all pairs that met, counted for the first of each pair."""
    ratings: dict[Who, Rating]
    """Of all levels and references, on one scale."""
    endgames: EndgamePositions | None
    """The endgame positions; None where there are none."""
    endgame_grades: dict[Who, EndgameGrade]
    """The grades of levels and references in them, except for players that can only act during a match."""
    first_action: str
    """The first action of the newest level in a match."""

    @property
    def newest(self) -> int:
        return self.levels[-1]

    def versus_references(self) -> dict[Who, PairResult]:
        """The newest level's results against the random player (0) and each reference."""
        opponents: list[Who] = [0, *self.references]
        return {opponent: self.results[self.newest, opponent] for opponent in opponents}

    def versus_earlier(self) -> dict[int, WinDrawLoss[int]]:
        """The newest level's results against the earlier levels that it met, including the random player."""
        met = {
            other: result.results
            for (one, other), result in self.results.items()
            if one == self.newest and isinstance(other, int)
        }
        return dict(sorted(met.items()))

    def level_facts(self) -> list[LevelFacts]:
        """The rows of levels.csv."""
        before: dict[int, int] = {level: earlier for earlier, level in pairwise(self.levels)}
        return [
            LevelFacts(
                level,
                self.results[level, before[level]] if level in before else None,
                self.results[level, 0] if level in before else None,
                None,
                self.endgame_grades.get(level),
                self.ratings[level],
            )
            for level in self.levels
        ]

    def match_facts(self) -> list[PairFacts]:
        """The rows of matches.csv."""
        return [
            PairFacts(one if isinstance(one, int) else None, name_of(one), name_of(other), result)
            for (one, other), result in self.results.items()
        ]

    def reference_facts(self) -> list[ReferenceFacts]:
        """The rows of references.csv, the random player first."""
        return [
            ReferenceFacts(name_of(who), self.ratings[who], self.endgame_grades.get(who))
            for who in self.versus_references()
        ]


def measure_levels(
    context: RunContext[Settings], levels: Sequence[int], progress: ProgressBar = NoProgress
) -> Measurement:
    """Play matches between the trained levels of the run (at least one, in order) and the references, and test both in
    endgame positions.

    Writes matches.csv, references.csv and, unless it is already there, endgames.csv.

    Raises:
        SettingError, StageError, InvalidFileError: a reference cannot be made, or a level's file is broken.
        GameTooLargeError: a reference needs a game with fewer positions.
    """
    settings, run, game = context.settings, context.run, context.game
    comparison = settings.comparison
    references = reference_names(game, comparison.references)
    whos: list[Who] = [0, *levels, *references]
    # Made before any match, so that a wrong name is rejected at once.
    players = {who: player_of(settings, game, who) for who in whos}
    endgames = endgame_positions(game, comparison.endgames, settings.seed, run.endgames, progress)
    pairs = schedule(levels, references, comparison)
    with open_executor(settings.executor) as executor:
        tasks = scheduled_matches(settings, pairs)
        played = play_pairs(tasks, executor, run.player_files(), progress, "comparing levels")
    results = dict(zip(pairs, played, strict=True))
    measurement = Measurement(
        levels=[0, *levels],
        references=references,
        opening_plies=comparison.opening_plies,
        results=results,
        ratings=rate(whos, ((pair, result.results) for pair, result in results.items())),
        endgames=endgames,
        endgame_grades={} if endgames is None else _endgame_grades(endgames, players),
        first_action=game.presentation.action_in_words(int(policy_of(players[levels[-1]], game.init())[0].argmax())),
    )
    write_csv(table_of(MATCH_COLUMNS, measurement.match_facts()), run.matches)
    write_csv(table_of(REFERENCE_COLUMNS, measurement.reference_facts()), run.references)
    return measurement


def _endgame_grades(endgames: EndgamePositions, players: Mapping[Who, Player]) -> dict[Who, EndgameGrade]:
    grades: dict[Who, EndgameGrade] = {}
    for who, player in players.items():
        # Third-party programs can only act during a match.
        with suppress(NotNowError):
            grades[who] = endgames.grade(player)
    return grades
