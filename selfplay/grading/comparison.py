"""Comparison of every level of a run with the level before it and the random player, and by a list of measures.

While the run is in progress, each new level is measured alone, in `measure_level`.
"""

from collections.abc import Sequence
from textwrap import fill
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from selfplay.errors import StageError
from selfplay.files import sha256
from selfplay.games import Game
from selfplay.games.win_draw_loss import BETTER, UNDECIDED, WORSE
from selfplay.grading.endgames import Endgames
from selfplay.grading.exact_grades import ExactGrades
from selfplay.grading.match_measures import Improvement, PerfectPlay, Ratings, ReferencePlayers
from selfplay.grading.measures import Compared, Measure, Shown, Who, name_of
from selfplay.grading.mistakes import Mistakes
from selfplay.grading.policy_measures import Policies, WaysOfPlaying
from selfplay.grading.tables import (
    GRADE_COLUMNS,
    REFERENCE_COLUMNS,
    RESULTS,
    SAMPLED_COLUMNS,
    Columns,
    Row,
    result_fields,
    table_of,
    write_csv,
)
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder, writes_run
from selfplay.settings.context import computing
from selfplay.settings.run import Settings

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
    """Everything known about the levels of a run."""

    game: Game
    table: pd.DataFrame
    """comparison/levels.csv, a row per level, level 0 first."""
    measures: Sequence[Measure]
    """Those of MEASURES that suit the game and the settings."""

    def measured(self, kind: type[OneMeasure]) -> OneMeasure | None:
        """The measure of this class, if it is one of them."""
        return next((measure for measure in self.measures if isinstance(measure, kind)), None)


@writes_run(create=False)
def compare_levels(settings: Settings, progress: ProgressBar = NoProgress) -> Comparison:
    """Compare all levels of the run; write comparison/levels.csv and the tables of the measures.

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
        compared = Compared(context, levels, progress)
        measures = [measure for kind in MEASURES if (measure := kind.of(compared)) is not None]
        table = table_of(level_columns(), [_level_row(compared, measures, level) for level in compared.levels])
        for measure in measures:
            for path, (columns, rows) in measure.tables().items():
                if rows:
                    write_csv(table_of(columns, rows), path)
                else:
                    path.unlink(missing_ok=True)
        if compared.grader is None:
            whos: list[Who] = [0, *compared.references]
            rows = [{"reference": name_of(who), **_fields(measures, who)} for who in whos]
            write_csv(table_of(REFERENCE_COLUMNS, rows), run.references)
        write_csv(table, run.comparison)
        return Comparison(context.game, table, measures)


def _level_row(compared: Compared, measures: Sequence[Measure], level: int) -> Row:
    # In large games too the table has exact columns, which are empty.
    row: Row = {"level": level, **dict.fromkeys(GRADE_COLUMNS), **_fields(measures, level)}
    if level > 0:
        row |= result_fields(compared.versus_previous[level], "_vs_previous")
        row |= result_fields(compared.results[level, 0], "_vs_random")
    return row


def _fields(measures: Sequence[Measure], who: Who) -> Row:
    return {name: field for measure in measures for name, field in measure.fields(who).items()}


# ---------------------------------------------------------------------- one level alone


@writes_run(create=False)
def measure_level(settings: Settings, level: int, progress: ProgressBar = NoProgress) -> None:
    """Write how strong a level is to strength.csv in its folder, with those columns of levels.csv that are known.

    The first of MEASURES that can measure a new level does it: in a game that can be enumerated its exact grade; if an
    exact solver solves whole matches, the mistakes in the positions of `Mistakes`. Otherwise it plays a few matches
    against the level before it and the random player. Does nothing if this was done for the same agent, or the level
    has been compared.

    Raises RunLockedError if another process or thread is using the run, StageError if it does not have the level, and
    InvalidFileError if its file is broken.
    """
    run = RunFolder.of(settings)
    agent, path, manifest = sha256(run.existing_agent(level)), run.strength(level), Manifest(run.level(level))
    compared = Manifest(run.path).sections.get("comparison", {"settings": {}})["settings"].get("agents_sha256", [])
    if agent in compared or manifest.is_done("strength", {"agent_sha256": agent}, force=True):
        return
    with computing(settings) as context:
        known = (kind.of_new_level(context, level, progress) for kind in MEASURES)
        row: Row = {"level": level, **next(row for row in known if row is not None)}
    write_csv(table_of(level_columns(), [row]).dropna(axis="columns"), path)
    manifest.record("strength", {"agent_sha256": agent}, {}, [path.name])


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
