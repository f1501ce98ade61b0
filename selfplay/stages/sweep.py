"""Compare all runs of a sweep: a table with a row per run, a figure, and a report."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from selfplay.checks import require
from selfplay.errors import StageError
from selfplay.figures.style import save_figure
from selfplay.figures.sweep import run_curves
from selfplay.games import make_game
from selfplay.games.game import SEATS
from selfplay.games.position_graph import enumerate_positions
from selfplay.games.win_draw_loss import RESULTS, share_text
from selfplay.grading.comparison import level_columns, reference_columns
from selfplay.grading.proof import GRADE_COLUMNS, Grader, Lines, lines_text
from selfplay.runs.finished_runs import (
    FinishedRun,
    Runs,
    differing_settings,
    distinguishing_settings,
    read_run,
    setting_in_table,
)
from selfplay.tables import LINES, write_csv

RESULT_COLUMNS = (
    *("exact_win_vs_random", "exact_draw_vs_random", "exact_loss_vs_random"),
    *(name for name, kind in GRADE_COLUMNS.items() if kind is LINES),
    *("optimal_action_rate", "value_error"),
    *(f"{result}_vs_random" for result in RESULTS),
    *("wins_rate_low_vs_random", "wins_rate_high_vs_random"),
    *(name for name in level_columns() if name in reference_columns()),
)
"""The columns of levels.csv that sweep/runs.csv repeats for the newest level of each run."""

OBJECTIVES = (*RESULT_COLUMNS, "unbeatable_from", "validation_loss")
"""The columns by which a sweeper can choose the next run."""


def compare_runs(folder: Path, runs: Runs) -> str:
    """Write sweep/runs.csv and runs.png for the finished ones of the runs below `folder`, and return the report.

    Raises StageError if a file cannot be written.
    """
    parts, count = [], len(runs.finished) + len(runs.skipped)
    if runs.finished:
        table = run_table(runs.finished, _held_seats(runs.finished))
        write_csv(table, folder / "sweep" / "runs.csv")
        save_figure(run_curves(runs.finished), folder / "sweep" / "runs.png")
        parts.append(_shown_table(table, runs.finished))
    if runs.skipped:
        lines = [f"Unfinished or not readable, therefore not in the table: {len(runs.skipped)} of {count} runs"]
        parts.append("\n".join(lines + [f"  {name}: {reason}" for name, reason in runs.skipped.items()]))
    return "\n\n".join(parts)


def _held_seats(runs: Sequence[FinishedRun]) -> dict[str, list[str]]:
    """The names of the seats in which a perfect player never loses, by game, for games that are graded exactly."""
    held: dict[str, list[str]] = {}
    for run in runs:
        name = run.all_settings.get("game.name")
        if name is not None and name not in held and run.table["lines_first"].notna().all():
            grader = Grader(enumerate_positions(make_game(name)))
            held[name] = [SEATS[seat] for seat in range(2) if grader.can_hold(seat)]
    return held


def run_table(runs: Sequence[FinishedRun], held_seats: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """sweep/runs.csv: a row per run, with the settings in which the runs differ and the results of its newest level.

    `held_seats`: for each game that is graded exactly, the seats in which perfect play never loses.
    """
    names = differing_settings(runs)
    rows = []
    for run in runs:
        newest = run.table.iloc[-1]
        row: dict[str, Any] = {"run": run.name} | {name: setting_in_table(run, name) for name in names}
        row["levels"] = int(newest["level"])
        row |= {name: newest.get(name) for name in RESULT_COLUMNS}
        row["unbeatable_from"] = unbeatable_from(run.table, held_seats.get(run.all_settings.get("game.name", ""), ()))
        row["validation_loss"] = run.validation_loss
        rows.append(row)
    counts = ("unbeatable_from", *(f"{result}_vs_random" for result in RESULTS))
    table = pd.DataFrame(rows, dtype=object)
    # Beside the empty fields of a large game, numbers of lines would become fractions.
    lines = {name: table[name] for name, kind in GRADE_COLUMNS.items() if kind is LINES}
    return table.infer_objects().assign(**lines).astype(dict.fromkeys(counts, "Int64"))


def check_objective(column: str) -> None:
    """Raise SettingError unless sweep/runs.csv has this column of results."""
    require("objective", column, column in OBJECTIVES, f"one of {', '.join(OBJECTIVES)}")


def result_of_run(run_dir: Path, column: str) -> float:
    """The result of a finished run in this column of sweep/runs.csv.

    Raises StageError if the run has no such result, and as `read_run`.
    """
    runs = [read_run(run_dir)]
    value = run_table(runs, _held_seats(runs))[column].iloc[0]
    if pd.isna(value):
        raise StageError(f"the run has no {column}; set another objective")
    return float(value)


def unbeatable_from(table: pd.DataFrame, seats: Sequence[str]) -> int | None:
    """The first level such that it and all later levels lose no line in these seats; None if there is none."""
    first_level = None
    for _, row in table[::-1].iterrows():
        if not seats or any(row[f"losing_lines_{seat}"] != 0 for seat in seats):
            break
        first_level = int(row["level"])
    return first_level


def _shown_table(table: pd.DataFrame, runs: Sequence[FinishedRun]) -> str:
    """The table for the screen: the names of the runs, the settings besides in which they differ, and the most
    important columns."""
    further = (name for name in distinguishing_settings(runs) if any(name not in run.settings_in_name for run in runs))
    lead = ["run", *further]
    shown = pd.DataFrame([{name: row[name] for name in lead} | _shown_figures(row) for _, row in table.iterrows()])
    # Columns that are empty for all runs are left out.
    return shown.loc[:, [name for name in shown if name in lead or (shown[name] != "").any()]].to_string(index=False)


def _shown_figures(row: "pd.Series[Any]") -> dict[str, str]:
    def share(column: str) -> str:
        return "" if pd.isna(row[column]) else share_text(row[column])

    def number(column: str, form: str) -> str:
        return "" if pd.isna(row[column]) else f"{row[column]:{form}}"

    def lines(seat: str) -> str:
        counts = row[f"losing_lines_{seat}"], row[f"lines_{seat}"]
        return "" if pd.isna(counts[1]) else lines_text(Lines(*map(int, counts)))

    return {
        "levels": str(row["levels"]),
        "v random": "-".join(str(row[f"{result}_vs_random"]) for result in RESULTS),
        "exact win": share("exact_win_vs_random"),
        "exact loss": share("exact_loss_vs_random"),
        "lost as first": lines("first"),
        "as second": lines("second"),
        "unbeatable from": number("unbeatable_from", "d"),
        "optimal": share("optimal_action_rate") or number("endgame_optimal_rate", ".3f"),
        "mistakes": number("judged_mistake_rate", ".3f"),
        "rating": number("rating", ".0f"),
        "validation loss": number("validation_loss", ".4f"),
    }
