"""Comparison of levels in games with too many positions to try every line: levels are measured, not proved.

RUN_DIR/comparison/matches.csv      a row per pair of players that met
RUN_DIR/comparison/references.csv   a row per reference player: its rating, and how it plays endgame positions
RUN_DIR/comparison/policies.csv     a row per level, with targets=search (selfplay/grading/policy_measures.py)
RUN_DIR/comparison/endgames.csv     the endgame positions (selfplay/grading/endgame_positions.py)
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from selfplay.executors import open_executor
from selfplay.games import Game
from selfplay.games.win_draw_loss import WORSE, WinDrawLoss, sign_test, wilson_interval
from selfplay.grading.comparison_schedule import (
    Pair,
    Who,
    name_of,
    player_of,
    reference_names,
    schedule,
    scheduled_matches,
    spaced_levels,
)
from selfplay.grading.endgame_positions import empty_squares, endgame_positions
from selfplay.grading.judgement import Judgement, grades_in, judge_players, judgement_text
from selfplay.grading.ratings import Rating, rate
from selfplay.grading.solved_positions import PositionGrade, SolvedPositions
from selfplay.grading.tables import (
    GRADE_COLUMNS,
    MATCH_COLUMNS,
    REFERENCE_COLUMNS,
    Row,
    result_fields,
    table_of,
    write_csv,
)
from selfplay.matches.series import PairResult, play_pairs
from selfplay.players.capabilities import policy_of
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.run_folder import RunContext
from selfplay.settings.run import Settings


class Measurement(NamedTuple):
    """The measurements of the levels of a run."""

    game: Game
    levels: list[int]
    """All levels, from 0."""
    references: list[str]
    """The names of the reference players, without the random player."""
    opening_plies: int
    results: dict[Pair, PairResult]
    """The results of all pairs that met, counted for the first of each pair."""
    ratings: dict[Who, Rating]
    endgames: SolvedPositions | None
    """The endgame positions; None where there are none."""
    endgame_grades: dict[Who, PositionGrade]
    """The grades of levels and references in them, except for players that can only act during a match."""
    judgement: Judgement | None
    """What an exact solver says; None if none solves matches of the game from their start."""
    first_action: str

    @property
    def newest(self) -> int:
        return self.levels[-1]

    def versus_references(self) -> dict[Who, PairResult]:
        """The newest level's results against the random player (0) and each reference."""
        opponents: list[Who] = [0, *self.references]
        return {opponent: self.results[self.newest, opponent] for opponent in opponents}

    def evidence_vs_previous(self) -> dict[int, WinDrawLoss[int]]:
        """The results of each trained level against the level before it, without copies."""
        return {level: self.results[level, before].evidence for before, level in pairwise(self.levels)}

    def level_rows(self) -> list[Row]:
        """The rows of levels.csv."""
        rows = []
        for before, level in pairwise([0, *self.levels]):
            row = {
                "level": level,
                **dict.fromkeys(GRADE_COLUMNS),
                **self._solved(level),
                **self.ratings[level].fields(),
            }
            if level > 0:
                row |= result_fields(self.results[level, before], "_vs_previous")
                row |= result_fields(self.results[level, 0], "_vs_random")
            rows.append(row)
        return rows

    def match_rows(self) -> list[Row]:
        """The rows of matches.csv."""
        return [
            {
                "level": one if isinstance(one, int) else None,
                "player": name_of(one),
                "opponent": name_of(other),
                **result_fields(result),
            }
            for (one, other), result in self.results.items()
        ]

    def reference_rows(self) -> list[Row]:
        """The rows of references.csv, the random player first."""
        return [
            {"reference": name_of(who), **self.ratings[who].fields(), **self._solved(who)}
            for who in self.versus_references()
        ]

    def _solved(self, who: Who) -> Row:
        """How a player acts in positions with exact values. The kind depends on the game, see `measure_levels`."""
        if self.judgement is not None:
            return self.judgement.fields(who)
        grade, counts_points = self.endgame_grades.get(who), self.game.rules.margin is not None
        return {
            "endgame_optimal_rate": None if grade is None else grade.overall.perfect,
            "endgame_mean_loss": None if grade is None or not counts_points else grade.overall.points_lost,
        }


def measure_levels(
    context: RunContext[Settings], levels: Sequence[int], progress: ProgressBar = NoProgress
) -> Measurement:
    """Play matches between the trained levels of the run (at least one, in order) and the references, and test both in
    endgame positions.

    Writes matches.csv, references.csv and what `judge_players` or, where no exact solver solves matches from their
    start, `endgame_positions` writes.

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
    judgement = judge_players(context, players, spaced_levels(levels, comparison.every), progress)
    wanted = comparison.endgames if judgement is None else 0
    endgames = endgame_positions(game, wanted, settings.seed, run.endgames, progress)
    pairs = schedule(levels, references, comparison)
    with open_executor(settings.executor) as executor:
        tasks = scheduled_matches(settings, pairs)
        played = play_pairs(tasks, executor, run.player_files(), progress, "comparing levels")
    results = dict(zip(pairs, played, strict=True))
    measurement = Measurement(
        game=game,
        levels=[0, *levels],
        references=references,
        opening_plies=comparison.opening_plies,
        results=results,
        ratings=rate(whos, ((pair, result.evidence) for pair, result in results.items())),
        endgames=endgames,
        endgame_grades=grades_in(endgames, players),
        judgement=judgement,
        first_action=game.presentation.action_in_words(int(policy_of(players[levels[-1]], game.init())[0].argmax())),
    )
    write_csv(table_of(MATCH_COLUMNS, measurement.match_rows()), run.matches)
    write_csv(table_of(REFERENCE_COLUMNS, measurement.reference_rows()), run.references)
    return measurement


def measured_verdict(measurement: Measurement, about_policy: Sequence[str] = ()) -> str:
    """The results of the newest level against its opponents and in solved positions, its rating, and the levels it
    loses to."""
    level, plies, name = measurement.newest, measurement.opening_plies, measurement.game.name
    lines = [f"{name} has too many positions to try every line, so level {level} is measured, not proved."]
    start = f"random openings of {plies} plies" if plies else "the initial position"
    lines += [f"Starting from {start}, with each player first once, level {level}"]
    lines += [f"  won {_won_text(name_of(who), result)}" for who, result in measurement.versus_references().items()]
    lines += _endgames_text(measurement)
    if measurement.judgement is not None:
        lines += judgement_text(measurement.judgement, measurement.levels, measurement.references)
    lines += about_policy
    points, low, high = measurement.ratings[level]
    best = max(measurement.references, key=lambda name: measurement.ratings[name].points, default=None)
    rating = f"Level {level} has a rating of {points:.0f} ({low:.0f}..{high:.0f}); the random player has 0"
    lines.append(f"{rating}." if best is None else f"{rating}\nand {best} has {measurement.ratings[best].points:.0f}.")
    return "\n".join([*lines, f"It opens with {measurement.first_action}.", forgotten_text(level, measurement)])


def forgotten_text(level: int, measurement: Measurement) -> str:
    """The earlier levels to which the newest level loses by the sign test, one per line, or that there are none."""
    results = measurement.results.items()
    met = {other: result for (one, other), result in results if one == level and isinstance(other, int)}
    lost = {earlier: met[earlier].results for earlier in sorted(met) if sign_test(met[earlier].evidence) == WORSE}
    if not lost:
        tried = ", ".join(map(str, sorted(met)))
        return f"Level {level} loses to none of the earlier levels it was tried against: {tried}."
    return "\n".join(
        f"Level {level} now loses to level {earlier}: {results} (won-drawn-lost)." for earlier, results in lost.items()
    )


def _won_text(opponent: str, result: PairResult) -> str:
    wins, matches = result.results.wins, result.results.matches
    low, high = wilson_interval(result.evidence.wins, result.evidence.matches)
    share = f"{wins / matches:.3f} ({low:.3f}..{high:.3f})"
    return f"{share} of {matches} matches against {opponent}, {result.distinct} of them different"


def _endgames_text(measurement: Measurement) -> list[str]:
    """How the newest level, the best reference and the random player act in endgame positions, a line each."""
    if measurement.endgames is None:
        return []
    state, grades = measurement.endgames.state, measurement.endgame_grades
    empties = empty_squares(measurement.game, state)
    fewest, most, count = int(empties.min()), int(empties.max()), state.batch_size
    squares = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    others = [who for who in measurement.versus_references() if who in grades]
    best = max(others, key=lambda who: grades[who].overall.perfect)
    where = f"In {count} solved positions with {squares} empty squares, in which the choice matters,"
    lines = [f"{where} a best action is chosen by"]
    for who in dict.fromkeys((measurement.newest, best, 0)):
        _, _, optimal, lost = grades[who].overall
        given_away = "" if measurement.game.rules.margin is None else f"; it gives away {lost:.2f} points per move"
        lines.append(f"  {name_of(who)} in {optimal:.3f} of them{given_away}")
    return lines
