"""The judgement of an exact solver on the players of a run.

RUN_DIR/comparison/judged_positions.csv   the positions in which they are judged (selfplay/grading/judged_positions.py)
RUN_DIR/comparison/mistakes.csv           a row per player and group of positions
"""

from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from typing import NamedTuple

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import NotNowError
from selfplay.games.win_draw_loss import WinDrawLoss
from selfplay.grading.comparison_schedule import Who, name_of
from selfplay.grading.judged_positions import judged_positions
from selfplay.grading.solved_positions import PositionGrade, SolvedPositions, quality_fields
from selfplay.grading.tables import JUDGED_COLUMNS, MISTAKE_COLUMNS, RESULTS, Row, table_of, write_csv
from selfplay.matches.series import count_matches
from selfplay.players.perfect import SolverPlayer, whole_game_solver_player
from selfplay.players.player import Player
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.run_folder import RunContext
from selfplay.search.exact_solver import ExactSolver
from selfplay.settings.matches import SEATS
from selfplay.settings.run import Settings

SeatResults = tuple[WinDrawLoss[int], WinDrawLoss[int]]
"""A player's results against perfect play, moving first and second."""


def play_against_perfect(
    perfect: SolverPlayer[ExactSolver],
    players: Mapping[Who, Player],
    matches: int,
    key: int,
    batch_size: int | None,
    progress: ProgressBar = NoProgress,
) -> dict[Who, SeatResults]:
    """The results of each player in `matches` matches in each seat. The players do not learn from them."""
    results: dict[Who, SeatResults] = {}
    with closing(progress(total=2 * len(players), desc="against perfect play")) as bar:
        for who, player in players.items():
            first = count_matches(perfect.game, (player, perfect), matches, key, batch_size, alternate=False)
            bar.update(1)
            second = count_matches(perfect.game, (perfect, player), matches, key, batch_size, alternate=False)
            bar.update(1)
            results[who] = first.results, second.results.reversed()
    return results


ALL_GROUPS = "all"
"""What mistakes.csv calls the positions of all groups together."""


class Judgement(NamedTuple):
    """What an exact solver says about the players of a run."""

    positions: SolvedPositions | None
    """None if none were requested or found."""
    grades: Mapping[Who, PositionGrade]
    """The grades in them, except for players that can only act during a match."""
    against_perfect: Mapping[Who, SeatResults]
    """The results of some levels against perfect play."""
    start_value: int | None
    """The exact value of the start of a match to the player who moves first; None if there are no such matches."""

    def rows(self) -> list[Row]:
        """The rows of mistakes.csv."""
        return [
            {
                "level": who if isinstance(who, int) else None,
                "player": name_of(who),
                "group": group,
                "positions": quality.positions,
                **quality_fields(quality),
            }
            for who, grade in self.grades.items()
            for group, quality in {**grade.groups, ALL_GROUPS: grade.overall}.items()
        ]

    def fields(self, who: Who) -> Row:
        """The fields of a player in the tables of levels and of references; None for fields without a value."""
        grade, results = self.grades.get(who), self.against_perfect.get(who)
        fields: Row = dict.fromkeys(JUDGED_COLUMNS)
        if grade is not None:
            fields |= quality_fields(grade.overall, "judged_")
        for number, seat in enumerate(SEATS):
            counts = dict.fromkeys(RESULTS) if results is None else results[number]._asdict()
            fields |= {f"{result}_vs_perfect_{seat}": count for result, count in counts.items()}
        return fields


def judged_positions_of(context: RunContext[Settings], progress: ProgressBar = NoProgress) -> SolvedPositions | None:
    """The positions in which the players of a run are judged, kept in judged_positions.csv.

    None if none are requested or found, or no exact solver solves matches of the game from their start.
    """
    settings, path = context.settings, context.run.judged_positions
    perfect = whole_game_solver_player(context.game) if settings.comparison.judged else None
    if perfect is None:
        return None
    return judged_positions(perfect.solver, settings.comparison.judged, settings.seed, path, progress)


def judge_players(
    context: RunContext[Settings],
    players: Mapping[Who, Player],
    challengers: Sequence[Who],
    progress: ProgressBar = NoProgress,
) -> Judgement | None:
    """Grade the players in positions solved exactly, and let `challengers` play against perfect play.

    Writes mistakes.csv and, unless it is already there, judged_positions.csv. None if no exact solver solves matches of
    the game from their start.
    """
    settings, run, comparison = context.settings, context.run, context.settings.comparison
    perfect = whole_game_solver_player(context.game)
    if perfect is None:
        return None
    positions = judged_positions_of(context, progress)
    key, matches = stream_key(settings.seed, 0, Activity.VERSUS_PERFECT), comparison.perfect_matches
    judgement = Judgement(
        positions=positions,
        grades=grades_in(positions, players),
        against_perfect=play_against_perfect(
            perfect, {who: players[who] for who in challengers if matches}, matches, key, settings.batch_size, progress
        ),
        start_value=perfect.solver.value(context.game.init()) if matches else None,
    )
    run.mistakes.unlink(missing_ok=True)
    if judgement.grades:
        write_csv(table_of(MISTAKE_COLUMNS, judgement.rows()), run.mistakes)
    return judgement


def grades_in(positions: SolvedPositions | None, players: Mapping[Who, Player]) -> dict[Who, PositionGrade]:
    """The grade of each player that can act outside of a match; third-party programs cannot."""
    grades: dict[Who, PositionGrade] = {}
    if positions is not None:
        for who, player in players.items():
            with suppress(NotNowError):
                grades[who] = positions.grade(player)
    return grades


RESULT_TEXTS = {1: "a win", 0: "a draw", -1: "a loss"}
GAP = 2


def judgement_text(judgement: Judgement, levels: Sequence[int], references: Sequence[Who]) -> list[str]:
    """Lines about the newest level: its actions in judged positions, with those of other players, and its matches
    against perfect play.

    `levels`: all levels, from 0, at least two.
    """
    newest = levels[-1]
    lines = _table_text(judgement.grades, levels, references) if newest in judgement.grades else []
    return lines + (_perfect_text(judgement, newest) if newest in judgement.against_perfect else [])


def _table_text(grades: Mapping[Who, PositionGrade], levels: Sequence[int], references: Sequence[Who]) -> list[str]:
    newest, first = levels[-1], levels[1]
    graded = [who for who in references if who in grades]
    best = min(graded, key=lambda who: grades[who].overall.mistakes, default=None)
    named: list[tuple[str, Who | None]] = [("random", 0), (f"level {first}", first), ("reference", best)]
    others = {title: grades[who] for title, who in named if who is not None and who in grades and who != newest}
    rows = [["group", "number", "mistakes", "perfect", "points", *others]]
    for group in (*grades[newest].groups, ALL_GROUPS):
        quality = grades[newest].groups.get(group, grades[newest].overall)
        shown = [
            f"{quality.positions}",
            f"{quality.mistakes:.3f}",
            f"{quality.perfect:.3f}",
            f"{quality.points_lost:.2f}",
        ]
        compared = (grade.groups.get(group, grade.overall) for grade in others.values())
        rows.append([group, *shown, *(f"{quality.mistakes:.3f}" for quality in compared)])
    return [
        "Solved positions: the share of mistakes (a win or a draw given away) and of",
        f"perfect actions of level {newest}, the points that an action loses on average, and the",
        "mistakes of other players:",
        *_aligned(rows),
        *([] if best is None else [f"The reference is {name_of(best)}."]),
    ]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows as lines, the first column to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        f"  {row[0]:{widths[0]}}"
        + "".join(f"{field:>{width + GAP}}" for field, width in zip(row[1:], widths[1:], strict=True))
        for row in rows
    ]


def _perfect_text(judgement: Judgement, level: int) -> list[str]:
    assert judgement.start_value is not None, "known where there were matches against perfect play"
    outcome = (judgement.start_value > 0) - (judgement.start_value < 0)
    lines = [f"Against perfect play, from the initial position, level {level}"]
    for seat, results, best in zip(SEATS, judgement.against_perfect[level], (outcome, -outcome), strict=True):
        counts = f"won {results.wins}, drew {results.draws} and lost {results.losses} of {results.matches} matches"
        lines.append(f"  moving {seat} {counts} (best possible: {RESULT_TEXTS[best]})")
    return lines
