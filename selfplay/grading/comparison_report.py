"""The report of a comparison: the table, and the verdict on whether the newest level can lose at all."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from selfplay.games import Game
from selfplay.games.win_draw_loss import BETTER, UNDECIDED, WORSE
from selfplay.grading.comparison import Comparison
from selfplay.grading.comparison_columns import RESULTS
from selfplay.grading.grade import SEAT_NAMES, Grade, is_unbeatable, lines_text, share_text
from selfplay.grading.large_game_comparison import measured_verdict
from selfplay.grading.progress_text import progress_text
from selfplay.grading.proof import Grader
from selfplay.grading.ways_of_playing import ways_text
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.run import Settings

SOLVED_COLUMNS = {
    "endgame_optimal_rate": ("optimal", ".3f"),
    "endgame_mean_loss": ("loss", ".2f"),
    "judged_mistake_rate": ("mistakes", ".3f"),
    "judged_perfect_rate": ("perfect", ".3f"),
}
"""Columns about positions with exact values, and their titles and formats on the screen."""

SIGNS = {BETTER: "+", WORSE: "-", UNDECIDED: "="}


def comparison_report(comparison: Comparison, settings: Settings) -> str:
    """The verdict, the progress against the random player, and the table. `settings`: of the run."""
    progress = f"{gate_text(settings)}{progress_text(comparison.table, settings)}"
    parts = [f"{verdict(comparison)}\n{progress}", ways_text(comparison.ways).strip(), comparison_table(comparison)]
    return "\n\n".join(filter(None, parts))


# ---------------------------------------------------------------------- the table


def comparison_table(comparison: Comparison) -> str:
    """A row per level, for the screen, with a legend; comparison/levels.csv has more columns."""
    shown = [_shown_row(row, comparison.grades.get(int(row["level"]))) for _, row in comparison.table.iterrows()]
    table = pd.DataFrame(shown)
    return f"{table.fillna('').to_string(index=False)}\n{_legend(table)}"


def _legend(table: pd.DataFrame) -> str:
    """What the columns mean, in three lines."""
    meanings = {
        "p(loss)": "p(loss): to random, exactly",
        "lost first": "lost: of all lines tried",
        "optimal": "optimal: best actions",
        "loss": "loss: points per action",
        "mistakes": "mistakes: wins and draws given away",
        "rating": "rating: Elo",
    }
    return "\n".join(
        [
            "v: won-drawn-lost; exact sign test, 5 %: + better, - worse, = not significant",
            "; ".join(meaning for column, meaning in meanings.items() if column in table),
            "More columns and intervals: comparison/levels.csv",
        ]
    )


def _shown_row(row: "pd.Series[Any]", grade: Grade | None) -> dict[str, str]:
    shown = {"level": str(int(row["level"]))}
    is_played = not pd.isna(row["wins_vs_previous"])
    for opponent, word in (("previous", "word_vs_previous"), ("random", None)):
        results = (str(int(row[f"{result}_vs_{opponent}"])) for result in RESULTS) if is_played else ()
        shown[f"v {opponent}"] = "-".join(results)
        if word is not None:
            shown["+"] = SIGNS[row[word]] if is_played else ""
    if grade is not None:
        shown |= {
            "p(loss)": share_text(row["exact_loss_vs_random"]),
            "lost first": lines_text(grade.lines[0]),
            "lost second": lines_text(grade.lines[1]),
            "optimal": f"{row['optimal_action_rate']:.3f}",
        }
    return shown | _solved_columns(row) | {"rating": f"{row['rating']:.0f}"}


def _solved_columns(row: "pd.Series[Any]") -> dict[str, str]:
    shown = {}
    for column, (title, form) in SOLVED_COLUMNS.items():
        if column in row and not pd.isna(row[column]):
            shown[title] = f"{row[column]:{form}}"
    return shown


# ---------------------------------------------------------------------- the verdict


def verdict(comparison: Comparison) -> str:
    """The verdict on the newest level: whether it can lose, with a shortest lost line, or what was measured.

    The former is proved by trying every line, in games that can be enumerated.
    """
    if comparison.grader is None:
        assert comparison.measurement is not None, "a comparison has either exact grades or a measurement"
        return measured_verdict(comparison.game, comparison.measurement)
    level = comparison.newest
    grade = comparison.grades[level]
    lines = [grade.verdict(f"Level {level}"), _versus_random_text(comparison, grade)]
    if not all(comparison.grader.can_hold(seat) for seat in range(2)):
        lines.append(_wins_taken_text(level, grade))
    elif proved := [n for n, g in comparison.grades.items() if is_unbeatable(g.lines)]:
        lines.append(f"Levels proved unbeatable: {_ranges(proved)}.")
    return "\n".join([*lines, *_lost_lines(comparison.game, comparison.grader, level, grade)])


def _lost_lines(game: Game, grader: Grader, level: int, grade: Grade) -> list[str]:
    """A shortest lost line in each seat in which perfect play does not lose."""
    lines: list[str] = []
    for seat, actions in enumerate(grade.shortest_loss):
        if actions is not None and grader.can_hold(seat):
            lines += [f"A shortest line that level {level} loses, moving {SEAT_NAMES[seat]}:", ""]
            lines.append(game.presentation.line_text(actions))
    return lines


def _versus_random_text(comparison: Comparison, grade: Grade) -> str:
    win, draw, loss = (sum(column) / 2 for column in zip(*grade.versus_random, strict=True))
    shares = f"wins {share_text(win)}, draws {share_text(draw)} and loses {share_text(loss)}"
    text = f"Against the random player it {shares} of its matches, exactly"
    ceiling = comparison.ceiling
    return f"{text}." if ceiling is None else f"{text};\na player who never loses can win at most {ceiling:.4f}."


def _wins_taken_text(level: int, grade: Grade) -> str:
    missed, total = grade.wins_taken
    if missed == 0:
        return f"Level {level} plays a winning action in all {total} positions that the player to move can win."
    return f"Level {level} gives the win away in {missed} of the {total} positions that the player to move can win."


def _ranges(numbers: Sequence[int]) -> str:
    """[1, 2, 3, 7] as "1 to 3, 7"."""
    breaks = np.flatnonzero(np.diff(numbers) != 1) + 1
    runs = [part.tolist() for part in np.split(np.array(numbers), breaks)]
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def gate_text(settings: Settings) -> str:
    """A line for each level of the run that was not taken; empty if there is none.

    Raises InvalidFileError if the manifest of a level is broken.
    """
    run = RunFolder.of(settings)
    sections = {level: Manifest(run.level(level)).sections.get("training", {}) for level in run.trained_levels()}
    lines = [_sentence(level, section) for level, section in sections.items() if _is_rejected(section)]
    return "".join(f"{line}\n" for line in lines)


def _is_rejected(section: dict[str, Any]) -> bool:
    return bool(section.get("counts", {}).get("gate_taken") == 0)


def _sentence(level: int, section: dict[str, Any]) -> str:
    wins, draws, losses = (section["counts"].get(f"gate_{result}", 0) for result in ("wins", "draws", "losses"))
    gate = section["settings"].get("gate")
    return (
        f"Level {level} was not taken: it won {wins}, drew {draws} and lost {losses} matches against "
        f"level {level - 1}, too few for gate={gate}; it has the weights of level {level - 1}."
    )
