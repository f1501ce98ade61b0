"""Comparison of levels with the level before them and the random player, and by a list of measures.

A level that was just trained is measured alone, in `measure_new_level`.
"""

from collections.abc import Sequence
from textwrap import fill
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from selfplay.games import Game
from selfplay.games.win_draw_loss import BETTER, UNDECIDED, WORSE
from selfplay.grading.endgames import Endgames
from selfplay.grading.exact_grades import ExactGrades
from selfplay.grading.match_measures import Improvement, PerfectPlay, Ratings, ReferencePlayers
from selfplay.grading.measures import Compared, Measure, Shown, name_of
from selfplay.grading.mistakes import Mistakes
from selfplay.grading.policy_measures import Policies, WaysOfPlaying
from selfplay.grading.schedule import Who
from selfplay.grading.tables import (
    GRADE_COLUMNS,
    REFERENCE_COLUMNS,
    RESULTS,
    SAMPLED_COLUMNS,
    Columns,
    Row,
    result_fields,
    table_of,
)

MEASURES: list[type[Measure]] = [
    ExactGrades,
    ReferencePlayers,
    Endgames,
    Mistakes,
    PerfectPlay,
    Policies,
    Ratings,
    Improvement,
    WaysOfPlaying,
]
"""The measures, in the order of their columns and of their sentences in the report."""


def level_columns() -> Columns:
    """The columns of comparison/levels.csv."""
    measured = {name: kind for measure in MEASURES for name, kind in measure.columns.items()}
    return SAMPLED_COLUMNS | measured


OneMeasure = TypeVar("OneMeasure", bound=Measure)


class Comparison(NamedTuple):
    """Everything known about some levels."""

    game: Game
    table: pd.DataFrame
    """levels.csv, a row per level, level 0 first."""
    measures: Sequence[Measure]
    """Those of MEASURES that suit the game and what is compared; at least one."""

    def measured(self, kind: type[OneMeasure]) -> OneMeasure | None:
        """The measure of this class, if it is one of them."""
        return next((measure for measure in self.measures if isinstance(measure, kind)), None)

    def tables(self) -> dict[str, pd.DataFrame | None]:
        """All tables by file name, levels.csv last; None if a measure found nothing for its table."""
        of_measures = {name: content for measure in self.measures for name, content in measure.tables().items()}
        tables = {name: table_of(columns, rows) if rows else None for name, (columns, rows) in of_measures.items()}
        compared = self.measures[0].compared
        if compared.grader is None:
            whos: list[Who] = [0, *compared.references]
            references = [{"reference": name_of(who), **_fields(self.measures, who)} for who in whos]
            tables["references.csv"] = table_of(REFERENCE_COLUMNS, references)
        return {**tables, "levels.csv": self.table}


def compare(compared: Compared) -> Comparison:
    """Measure these levels by all of MEASURES.

    Examples:
        >>> game = selfplay.make_game("tictactoe")
        >>> perfect = selfplay.PerfectPlayer(selfplay.enumerate_positions(game))
        >>> players = {0: selfplay.RandomPlayer(game), 1: perfect}
        >>> compare(Compared(game, players)).table["losing_lines_first"].tolist()
        [77904, 0]
    """
    measures = [measure for kind in MEASURES if (measure := kind.of(compared)) is not None]
    rows = [_level_row(compared, measures, level) for level in compared.levels]
    return Comparison(compared.game, table_of(level_columns(), rows), measures)


def _level_row(compared: Compared, measures: Sequence[Measure], level: int) -> Row:
    # In large games too the table has exact columns, which are empty.
    row: Row = {"level": level, **dict.fromkeys(GRADE_COLUMNS), **_fields(measures, level)}
    if level > 0:
        row |= result_fields(compared.versus_previous[level], "_vs_previous")
        row |= result_fields(compared.results[level, 0], "_vs_random")
    return row


def _fields(measures: Sequence[Measure], who: Who) -> Row:
    return {name: field for measure in measures for name, field in measure.fields(who).items()}


def measure_new_level(compared: Compared) -> pd.DataFrame:
    """How strong the newest level is, with those columns of levels.csv that are known; only this level need be given.

    The first of MEASURES that can measure a new level does it: in a game that can be enumerated its exact grade; if an
    exact solver solves whole matches, the mistakes in the positions of `Mistakes`. Otherwise it plays a few matches
    against the level before it and the random player.
    """
    known = (kind.of_new_level(compared) for kind in MEASURES)
    row: Row = {"level": compared.newest, **next(row for row in known if row is not None)}
    return table_of(level_columns(), [row]).dropna(axis="columns")


# ---------------------------------------------------------------------- the report

WIDTH = 80
SIGNS = {BETTER: "+", WORSE: "-", UNDECIDED: "="}


def comparison_report(comparison: Comparison) -> str:
    """The sentences of the measures, and the table."""
    text = f"{verdict(comparison)}\n\n{comparison_table(comparison)}"
    return "\n".join(map(_wrapped, text.splitlines()))


def verdict(comparison: Comparison) -> str:
    """The sentences of all measures, in lines that are not wrapped yet."""
    return "\n".join(line for measure in comparison.measures for line in measure.sentences(comparison.table))


def _wrapped(line: str) -> str:
    """A sentence in lines that fit a terminal. Rows of tables, which have gaps between columns, are not changed."""
    if "  " in line.strip():
        return line
    indent = "    " if line.startswith(" ") else ""
    return fill(line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def comparison_table(comparison: Comparison) -> str:
    """A row per level, for the screen, with a legend; comparison/levels.csv has more columns."""
    table = pd.DataFrame([_shown_row(row, comparison.measures) for _, row in comparison.table.iterrows()])
    meanings = [shown.meaning for shown in _shown(comparison.measures) if shown.title in table]
    legend = [
        "v: won-drawn-lost; exact sign test, 5 %: + better, - worse, = not significant",
        "; ".join(filter(None, meanings)),
        "More columns and intervals: comparison/levels.csv",
    ]
    return "\n".join([table.fillna("").to_string(index=False), *legend])


def _shown_row(row: "pd.Series[Any]", measures: Sequence[Measure]) -> dict[str, str]:
    shown = {"level": str(int(row["level"])), "v previous": "", "+": "", "v random": ""}
    if not pd.isna(row["wins_vs_previous"]):
        for opponent in ("previous", "random"):
            shown[f"v {opponent}"] = "-".join(str(row[f"{result}_vs_{opponent}"]) for result in RESULTS)
        shown["+"] = SIGNS[row["word_vs_previous"]]
    for column in _shown(measures):
        fields = [row.get(name) for name in column.columns]
        if not pd.isna(fields).any():
            shown[column.title] = column.text(*fields)
    return shown


def _shown(measures: Sequence[Measure]) -> list[Shown]:
    return [shown for measure in measures for shown in measure.shown]
