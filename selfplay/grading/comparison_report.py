"""The report of a comparison: the table, whether the newest level can lose, and whether levels improve."""

from collections.abc import Mapping, Sequence
from math import sqrt
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd

from selfplay.games import Game
from selfplay.games.win_draw_loss import BETTER, NORMAL_QUANTILE, UNDECIDED, WORSE, WinDrawLoss, mean_of_seats
from selfplay.grading.comparison import Comparison
from selfplay.grading.large_game_comparison import measured_verdict
from selfplay.grading.policy_measures import policy_text, ways_text
from selfplay.grading.proof import Grade, Grader, is_unbeatable, lines_text, share_text
from selfplay.grading.tables import RESULTS
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.matches import SEATS
from selfplay.settings.run import Settings

SOLVED_COLUMNS = {
    "endgame_optimal_rate": ("optimal", ".3f"),
    "endgame_mean_loss": ("loss", ".2f"),
    "judged_mistake_rate": ("mistakes", ".3f"),
    "judged_perfect_rate": ("perfect", ".3f"),
}
"""Columns about positions with exact values, and their titles and formats on the screen."""

WIDTH = 80
SIGNS = {BETTER: "+", WORSE: "-", UNDECIDED: "="}


def comparison_report(comparison: Comparison, settings: Settings) -> str:
    """The verdict, the progress against the random player, and the table. `settings`: of the run."""
    progress = f"{gate_text(settings)}{progress_text(comparison.table, settings)}"
    ways = "" if comparison.grader is None else ways_text(comparison.policies)
    parts = [f"{verdict(comparison)}\n{progress}", ways, comparison_table(comparison)]
    return "\n".join(map(_wrapped, "\n\n".join(filter(None, parts)).splitlines()))


def _wrapped(line: str) -> str:
    """A sentence in lines that fit a terminal. Rows of tables, which have gaps between columns, are not changed."""
    if "  " in line.strip():
        return line
    indent = "    " if line.startswith(" ") else ""
    return fill(line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


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
    shown = {"level": str(int(row["level"])), "v previous": "", "+": "", "v random": ""}
    if not pd.isna(row["wins_vs_previous"]):
        for opponent in ("previous", "random"):
            shown[f"v {opponent}"] = "-".join(str(row[f"{result}_vs_{opponent}"]) for result in RESULTS)
        shown["+"] = SIGNS[row["word_vs_previous"]]
    if grade is not None:
        shown |= {
            "p(loss)": share_text(row["exact_loss_vs_random"]),
            "lost first": lines_text(grade.lines[0]),
            "lost second": lines_text(grade.lines[1]),
            "optimal": f"{row['optimal_action_rate']:.3f}",
        }
    for column, (title, form) in SOLVED_COLUMNS.items():
        if column in row and not pd.isna(row[column]):
            shown[title] = f"{row[column]:{form}}"
    return shown | {"rating": f"{row['rating']:.0f}"}


# ---------------------------------------------------------------------- the verdict


def verdict(comparison: Comparison) -> str:
    """The verdict on the newest level: whether it can lose, with a shortest lost line, or what was measured."""
    if comparison.grader is None:
        assert comparison.measurement is not None, "a comparison has either exact grades or a measurement"
        return measured_verdict(comparison.measurement, policy_text(comparison.policies))
    level = comparison.newest
    grade = comparison.grades[level]
    lines = [grade.verdict(f"Level {level}"), _versus_random_text(comparison, grade)]
    if not all(comparison.grader.can_hold(seat) for seat in range(2)):
        missed, total = grade.wins_given_away
        deed = f"gives the win away in {missed} of the" if missed else "plays a winning action in all"
        lines.append(f"Level {level} {deed} {total} positions that the player to move can win.")
    elif proved := [n for n, g in comparison.grades.items() if is_unbeatable(g.lines)]:
        lines.append(f"Levels proved unbeatable: {_ranges(proved)}.")
    return "\n".join([*lines, *_lost_lines(comparison.game, comparison.grader, level, grade)])


def _lost_lines(game: Game, grader: Grader, level: int, grade: Grade) -> list[str]:
    """A shortest lost line in each seat in which perfect play does not lose."""
    lines: list[str] = []
    for seat, actions in enumerate(grade.shortest_loss):
        if actions is not None and grader.can_hold(seat):
            lines += [f"A shortest line that level {level} loses, moving {SEATS[seat]}:", ""]
            lines.append(game.presentation.line_text(actions))
    return lines


def _versus_random_text(comparison: Comparison, grade: Grade) -> str:
    win, draw, loss = mean_of_seats(*grade.versus_random)
    shares = f"{share_text(win)}, draws {share_text(draw)}, loses {share_text(loss)}"
    text = f"Against the random player it wins exactly {shares}"
    ceiling = comparison.ceiling
    return f"{text}." if ceiling is None else f"{text};\na player who never loses can win at most {ceiling:.4f}."


def _ranges(numbers: Sequence[int]) -> str:
    """[1, 2, 3, 7] as "1 to 3, 7"."""
    breaks = np.flatnonzero(np.diff(numbers) != 1) + 1
    runs = [part.tolist() for part in np.split(np.array(numbers), breaks)]
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def gate_text(settings: Settings) -> str:
    """A line for each level of the run that was not taken. Raises InvalidFileError if a manifest is broken."""
    run, text = RunFolder.of(settings), ""
    for level in run.trained_levels():
        section = Manifest(run.level(level)).sections.get("training", {})
        counts = section.get("counts", {})
        if counts.get("gate_taken") == 0:
            wins, draws, losses = (counts.get(f"gate_{result}", 0) for result in RESULTS)
            text += (
                f"Level {level} was not taken: it won {wins}, drew {draws} and lost {losses} matches against level "
                f"{level - 1}, too few for gate={section['settings'].get('gate')}; it has the weights of level "
                f"{level - 1}.\n"
            )
    return text


SMALL_LOSS = 0.01
"""The largest share of lost matches at which the newest level need not be better than level 1."""
CLEARLY = 3.0
"""The difference between the newest level and the best of many earlier ones, in standard errors, that is not chance."""


def progress_text(table: pd.DataFrame, settings: Settings) -> str:
    """The result of the newest level against the random player; if levels do not improve, that and what to change.

    Args:
        table: comparison/levels.csv.
        settings: those that the levels were trained with.
    """
    results = _results(table)
    newest = max(results)
    text = (
        f"In {results[newest].matches:,} matches against the random player, moving first in half of them, "
        f"level {newest} won {results[newest].wins}, drew {results[newest].draws} and lost {results[newest].losses}."
    )
    warning = [] if _is_best_level(table) else _warning(results, newest, settings)
    return "\n".join([text, *warning])


def _is_best_level(table: pd.DataFrame) -> bool:
    """Whether the newest level has the highest rating, or the smallest exact share of lost matches, of all levels."""
    measures = [table["rating"], -table["exact_loss_vs_random"].astype(float)]
    return any(bool(measure.iloc[-1] > measure.iloc[1:-1].max()) for measure in measures)


def _results(table: pd.DataFrame) -> dict[int, WinDrawLoss[int]]:
    played = table.dropna(subset="wins_vs_random").set_index("level")
    counts = played[[f"{result}_vs_random" for result in RESULTS]].astype(int)
    return {level: WinDrawLoss(*row) for level, *row in counts.itertuples()}


def _warning(results: Mapping[int, WinDrawLoss[int]], newest: int, settings: Settings) -> list[str]:
    """The problem and what to change, if the newest level is not better than level 1, or is worse than the best one."""
    first, best = min(results), max(results, key=lambda level: results[level].score)
    is_better = newest == first or standard_errors(results[newest], results[first]) > NORMAL_QUANTILE
    is_worse = standard_errors(results[newest], results[best]) < -CLEARLY
    if results[newest].rates.losses <= SMALL_LOSS or (is_better and not is_worse):
        return []
    others = sorted({first, best} - {newest})
    earlier = " and ".join(f"level {level} won {results[level].wins}" for level in others)
    return [
        f"Levels are not improving: level {newest} won {results[newest].wins} of these matches, {earlier}.",
        "Probably each level is trained on too few matches; with another run_dir, try",
        *(f"  {way}" for way in _ways_to_learn_more(settings)),
    ]


def _ways_to_learn_more(settings: Settings) -> list[str]:
    """Settings that give a level more to learn from, each with its effect."""
    ways = [f"matches={10 * settings.matches} (now {settings.matches})"]
    if not settings.training.symmetries:
        ways.append("training.symmetries=true, to train on every symmetric image of a position")
    if settings.viewpoints == "agent":
        ways.append("viewpoints=both, to train on the moves of both players")
    if settings.dataset.replay == 0:
        ways.append("dataset.replay=5, to train on the matches of earlier levels too")
    return ways


def standard_errors(one: WinDrawLoss[int], other: WinDrawLoss[int]) -> float:
    """How much better `one` did, in standard errors of the difference of the means of wins minus losses."""
    means = [results.rates.wins - results.rates.losses for results in (one, other)]
    variance = sum(
        (results.rates.wins + results.rates.losses - mean**2) / results.matches
        for results, mean in zip((one, other), means, strict=True)
    )
    return 0.0 if variance <= 0 else (means[0] - means[1]) / sqrt(variance)
