"""Sentences and a table about what an exact solver says of the newest level of a run."""

from collections.abc import Mapping, Sequence

from selfplay.grading.comparison_schedule import Who, name_of
from selfplay.grading.grade import SEAT_NAMES
from selfplay.grading.judge.columns import ALL_GROUPS
from selfplay.grading.judge.judgement import Judgement
from selfplay.grading.judge.positions import JudgedGrade, MoveQuality

RESULT_TEXTS = {1: "a win", 0: "a draw", -1: "a loss"}
GAP = 2
"""The smallest number of spaces between two columns."""


def judgement_text(judgement: Judgement, levels: Sequence[int], references: Sequence[Who]) -> list[str]:
    """Lines about the actions of the newest level in judged positions, beside those of other players, and about its
    matches against perfect play.

    `levels`: all levels, from 0, at least two.
    """
    newest = levels[-1]
    lines = _table_text(judgement.grades, levels, references) if newest in judgement.grades else []
    return lines + (_perfect_text(judgement, newest) if newest in judgement.against_perfect else [])


def _table_text(grades: Mapping[Who, JudgedGrade], levels: Sequence[int], references: Sequence[Who]) -> list[str]:
    newest, first = levels[-1], levels[1]
    graded = [who for who in references if who in grades]
    best = min(graded, key=lambda who: grades[who].overall.mistakes, default=None)
    named: list[tuple[str, Who | None]] = [("random", 0), (f"level {first}", first), ("reference", best)]
    others = {title: grades[who] for title, who in named if who is not None and who in grades and who != newest}
    rows = [["group", "positions", "mistakes", "perfect", "points", *others]]
    for group in (*grades[newest].groups, ALL_GROUPS):
        quality = _quality(grades[newest], group)
        shown = [
            f"{quality.positions}",
            f"{quality.mistakes:.3f}",
            f"{quality.perfect:.3f}",
            f"{quality.points_lost:.2f}",
        ]
        rows.append([group, *shown, *(f"{_quality(grade, group).mistakes:.3f}" for grade in others.values())])
    return [
        "Solved positions: the share of mistakes (a win or a draw given away) and of",
        f"perfect actions of level {newest}, the points that an action loses on average, and the",
        "mistakes of other players:",
        *_aligned(rows),
        *([] if best is None else [f"The reference is {name_of(best)}."]),
    ]


def _quality(grade: JudgedGrade, group: str) -> MoveQuality:
    return grade.groups.get(group, grade.overall)


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
    for seat, results, best in zip(SEAT_NAMES, judgement.against_perfect[level], (outcome, -outcome), strict=True):
        counts = f"won {results.wins}, drew {results.draws} and lost {results.losses} of {results.matches} matches"
        lines.append(f"  moving {seat} {counts} (best possible: {RESULT_TEXTS[best]})")
    return lines
