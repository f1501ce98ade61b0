"""Comparison of levels with the level before them and the random player, and by a list of measures.

A level that was just trained is measured alone, in `measure_new_level`.
"""

from collections.abc import Sequence
from textwrap import fill
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from selfplay.games import Game
from selfplay.grading.compared_players import Compared, Who, grader_of, name_of
from selfplay.grading.grades_and_policies import ExactGrades, Policies, WaysOfPlaying
from selfplay.grading.measures import Improvement, LevelMatches, Measure, PerfectPlay, Shown
from selfplay.grading.mistakes import Mistakes
from selfplay.grading.ratings import RATING_COLUMNS, Ratings, ReferencePlayers
from selfplay.grading.solved_positions import Endgames, has_endgames
from selfplay.search.exact_solver import solves_whole_matches
from selfplay.tables import COUNT, TEXT, Columns, Row, data_frame

MEASURES: list[type[Measure]] = [
    LevelMatches,
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


def unused_parameters(game: Game, *, learns_policy: bool) -> dict[str, str]:
    """The `ComparisonParameters`, and `references`, that no measure reads in this game, with what the game lacks or is.

    Args:
        learns_policy: whether levels learn a policy, which is then measured.
    """
    is_small, is_solved = grader_of(game) is not None, solves_whole_matches(game)
    unused: dict[str, str] = {}
    if is_small:
        names = ["references", "opening_plies", "earlier_matches", "endgames", *([] if is_solved else ["every"])]
        unused |= dict.fromkeys(names, "is small enough to try every line of play")
    elif not learns_policy:
        unused["epsilons"] = "is too large to try every line of play, and whose levels learn no policy"
    if not is_solved:
        unused |= dict.fromkeys(["judged", "perfect_matches"], "has no exact solver of whole matches")
    elif not is_small:
        unused["endgames"] = "has an exact solver of whole matches"
    if "endgames" not in unused and not has_endgames(game):
        unused["endgames"] = "has no board that fills"
    return unused


def level_columns() -> Columns:
    """The columns of comparison/levels.csv."""
    return {"level": COUNT} | {name: kind for measure in MEASURES for name, kind in measure.columns.items()}


def reference_columns() -> Columns:
    """The columns of comparison/references.csv."""
    measures = [measure for measure in MEASURES if measure.measures_references]
    measured = {name: kind for measure in measures for name, kind in measure.columns.items()}
    return {"reference": TEXT, **RATING_COLUMNS, **measured}


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
        tables = {name: data_frame(columns, rows) if rows else None for name, (columns, rows) in of_measures.items()}
        compared = self.measures[0].compared
        if compared.grader is None:
            whos: list[Who] = [0, *compared.references]
            measures = [measure for measure in self.measures if measure.measures_references]
            references = [{"reference": name_of(who), **_fields(measures, who)} for who in whos]
            tables["references.csv"] = data_frame(reference_columns(), references)
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
    # In large games too the table has exact columns, which are empty.
    empty = dict.fromkeys(ExactGrades.columns)
    rows: list[Row] = [{"level": level, **empty, **_fields(measures, level)} for level in compared.levels]
    return Comparison(compared.game, data_frame(level_columns(), rows), measures)


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
    return data_frame(level_columns(), [row]).dropna(axis="columns")


# ---------------------------------------------------------------------- the report

WIDTH = 80


def comparison_report(comparison: Comparison, first: str = "") -> str:
    """The sentence `first`, if there is one, those of the measures, and the table."""
    text = f"{first}\n{verdict(comparison)}\n\n{comparison_table(comparison)}".lstrip()
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
    columns = [shown for measure in comparison.measures for shown in measure.shown]
    rows = [_shown_row(row, columns) for _, row in comparison.table.iterrows()]
    columns = [column for column in columns if any(column.title in row for row in rows)]
    table = pd.DataFrame(rows, columns=["level", *(column.title for column in columns)])
    legend = [
        "v: won-drawn-lost; exact sign test, 5 %: + better, - worse, = not significant",
        "; ".join(column.meaning for column in columns if column.meaning),
        "More columns and intervals: comparison/levels.csv",
    ]
    return "\n".join([table.fillna("").to_string(index=False), *legend])


def _shown_row(row: "pd.Series[Any]", columns: Sequence[Shown]) -> dict[str, str]:
    shown = {"level": str(int(row["level"]))}
    for column in columns:
        fields = [row.get(name) for name in column.columns]
        if not pd.isna(fields).any():
            shown[column.title] = column.text(*fields)
    return shown
