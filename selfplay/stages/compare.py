"""What a comparison says, in words: the table, and whether the newest level can lose at all."""

import logging
import os
import shlex
import sys
from dataclasses import asdict
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from selfplay.figures.comparison import plot_comparison
from selfplay.figures.tensorboard import write_comparison_events
from selfplay.games import Game
from selfplay.grading.comparison import Comparison, compare_levels
from selfplay.grading.large_game_report import measured_verdict
from selfplay.grading.proof import SEAT_NAMES, Grade
from selfplay.grading.proof_text import is_unbeatable, lines_text, seats_verdict
from selfplay.progress import NoProgress, ProgressBar
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.runs.written_files import sha256
from selfplay.settings.common import GameSettings
from selfplay.settings.folders import PROJECT_FOLDER
from selfplay.settings.run import Settings

log = logging.getLogger(__name__)

LINE_WIDTH = 100
GAP = "    "


def compare_and_report(settings: Settings, progress: ProgressBar = NoProgress) -> str:
    """Compare all levels of the run, write its table and figures, and say what came out and how to play against it.

    Raises as compare_levels.
    """
    manifest = Manifest(Path(settings.run_dir))
    manifest.forget("comparison")
    comparison = compare_levels(settings, progress)
    plot_comparison(settings, comparison)
    write_comparison_events(settings, comparison.table)
    counts = {"levels": len(comparison.table) - 1}
    manifest.record("comparison", _comparison_record(settings), counts, _compared_files(settings))
    return f"{comparison_table(comparison)}\n\n{verdict(comparison)}\n\n{how_to_play(settings)}"


def is_compared(settings: Settings) -> bool:
    """Whether `compare_and_report` has compared the levels of the run as they are now, with these settings.

    Raises InvalidFileError if the run's manifest is broken.
    """
    manifest = Manifest(Path(settings.run_dir))
    done = manifest.is_done("comparison", _comparison_record(settings), force=True)
    if done:
        table = RunFolder(Path(settings.run_dir)).comparison
        log.info("the levels are compared, see %s; train/compare_levels.py compares them anew", table)
    return done


def _comparison_record(settings: Settings) -> dict[str, Any]:
    run = RunFolder(Path(settings.run_dir))
    return {
        "game": settings.game.name,
        "seed": settings.seed,
        "comparison": asdict(settings.comparison),
        "player": asdict(settings.player),
        "threads": settings.threads,
        "logger": settings.logger,
        "agents_sha256": [sha256(run.agent(level)) for level in run.trained_levels()],
    }


def _compared_files(settings: Settings) -> list[str]:
    run = RunFolder(Path(settings.run_dir))
    tables = (run.comparison, run.matches, run.references)
    figures = (run.figures / f"{name}.png" for name in ("wins_minus_losses", "ratings", "exact"))
    return [str(path.relative_to(run.path)) for path in (*tables, *figures) if path.exists()]


def how_to_play(settings: Settings) -> str:
    """The commands that play against the newest level, as they can be given from the current folder."""
    own_python = PROJECT_FOLDER / ".venv" / "bin" / "python"
    # The shell scripts activate the project's own environment for themselves only.
    python = os.path.relpath(own_python) if Path(sys.prefix) == PROJECT_FOLDER / ".venv" else "python"
    words = []
    if settings.game != GameSettings():
        words.append(f"game={settings.game.name}")
    if Path(settings.run_dir).resolve() != PROJECT_FOLDER / "outputs" / settings.game.name:
        words.append(f"run_dir={settings.run_dir}")
    console, page = (
        shlex.join([python, os.path.relpath(PROJECT_FOLDER / "play" / f"{face}.py"), *words])
        for face in ("console", "web")
    )
    return f"Play against it: {console}   or in a browser: {page}"


def comparison_table(comparison: Comparison) -> str:
    """A row a level, for the screen; comparison/levels.csv has more columns.

    "won" is the 95 % interval of the share of matches won, "distinct" the number of different matches, against the
    predecessor and the random player in turn.
    """
    shown = [_shown_row(row, comparison.grades.get(int(row["level"]))) for _, row in comparison.table.iterrows()]
    return pd.DataFrame(shown).to_string(index=False)


def _shown_row(row: "pd.Series[Any]", grade: Grade | None) -> dict[str, str]:
    shown = {"level": str(int(row["level"]))}
    for opponent in ("previous", "random"):
        shown |= {f"v {opponent}": "", f"won v {opponent}": ""}
        if not pd.isna(row[f"wins_vs_{opponent}"]):
            results = (str(int(row[f"{result}_vs_{opponent}"])) for result in ("wins", "draws", "losses"))
            low, high = (row[f"wins_rate_{end}_vs_{opponent}"] for end in ("low", "high"))
            shown |= {f"v {opponent}": "-".join(results), f"won v {opponent}": f"{low:.3f}..{high:.3f}"}
    is_played = not pd.isna(row["wins_vs_previous"])
    shown["than previous"] = row["word_vs_previous"] if is_played else ""
    distinct = (f"{row[f'distinct_vs_{opponent}']:.0f}" for opponent in ("previous", "random"))
    shown["distinct"] = " ".join(distinct) if is_played else ""
    if grade is not None:
        shown |= {
            "exact win": f"{row['exact_win_vs_random']:.4f}",
            "exact loss": f"{row['exact_loss_vs_random']:.4f}",
            "lost as first": lines_text(grade.lines[0]),
            "as second": lines_text(grade.lines[1]),
            "optimal": f"{row['optimal_action_rate']:.4f}",
        }
    return shown | _measured_columns(row) | {"rating": f"{row['rating']:.0f}"}


def _measured_columns(row: "pd.Series[Any]") -> dict[str, str]:
    """What only games that are measured have."""
    shown = {}
    for column, title, form in (("endgame_optimal_rate", "optimal", ".3f"), ("endgame_mean_loss", "loss", ".2f")):
        if column in row and not pd.isna(row[column]):
            shown[title] = f"{row[column]:{form}}"
    return shown


def verdict(comparison: Comparison) -> str:
    """Whether the newest level can lose, proved by trying every line; if it can, a shortest line in which it does."""
    level = max(int(number) for number in comparison.table["level"])
    if comparison.measurement is not None:
        return measured_verdict(comparison.game, comparison.measurement)
    if comparison.grader is None:
        name = comparison.game.name
        return f"{name} has too many positions to try every line, so level {level} is measured, not proved."
    grade = comparison.grades[level]
    lines = [seats_verdict(f"Level {level}", grade, comparison.grader), _versus_random_text(comparison, grade)]
    if not all(comparison.grader.can_hold(seat) for seat in range(2)):
        lines.append(_wins_taken_text(level, grade))
    elif proved := [n for n, g in comparison.grades.items() if is_unbeatable(g.lines)]:
        lines.append(f"Levels proved unbeatable: {_ranges(proved)}.")
    for seat in range(2):
        actions = grade.shortest_loss[seat]
        if actions is not None and comparison.grader.can_hold(seat):
            lines += [f"A shortest line that level {level} loses, moving {SEAT_NAMES[seat]}:", ""]
            lines.append(draw_line(comparison.game, actions))
    return "\n".join(lines)


def _versus_random_text(comparison: Comparison, grade: Grade) -> str:
    win, draw, loss = (sum(column) / 2 for column in zip(*grade.versus_random, strict=True))
    text = f"Against the random player it wins {win:.4f}, draws {draw:.4f} and loses {loss:.4f} of its matches, exactly"
    ceiling = comparison.ceiling
    return f"{text}." if ceiling is None else f"{text};\na player who never loses can win at most {ceiling:.4f}."


def _wins_taken_text(level: int, grade: Grade) -> str:
    missed, total = grade.wins_taken
    if missed == 0:
        return f"From all {total} positions that the player to move can win, level {level} plays a winning action."
    return f"From {missed} of the {total} positions that the player to move can win, level {level} lets the win go."


def _ranges(numbers: list[int]) -> str:
    """[1, 2, 3, 7] as "1 to 3, 7"."""
    breaks = np.flatnonzero(np.diff(numbers) != 1) + 1
    runs = [part.tolist() for part in np.split(np.array(numbers), breaks)]
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def draw_line(game: Game, actions: tuple[int, ...]) -> str:
    """The boards of a match after each of `actions`, side by side, each under the name of its action."""
    state = game.init()
    columns: list[list[str]] = []
    for action in actions:
        state = game.step(state, torch.tensor([action]))
        columns.append([f"{len(columns) + 1}. {game.action_to_string(action)}", *game.to_string(state).splitlines()])
    width = max(len(text) for column in columns for text in column)
    per_row = max(1, (LINE_WIDTH + len(GAP)) // (width + len(GAP)))
    rows = []
    for start in range(0, len(columns), per_row):
        texts = zip_longest(*columns[start : start + per_row], fillvalue="")
        rows.append("\n".join(GAP.join(f"{text:{width}}" for text in line).rstrip() for line in texts))
    return "\n\n".join(rows)
