"""How many matches does each learner of tic-tac-toe need until it cannot lose? A table, and the data of a figure.

python benchmarks/learning_curves.py
python benchmarks/learning_curves.py run_dir=outputs/try table=outputs/try.csv experience_matches=3000

Measures, by the number of matches played, the exact probability of losing to the random player, and the number of lines
of play lost when every reply is tried. Tabular learners play against themselves, with five seeds each; the experience
graph learns from matches against the random player, with seed 0; the networks are the levels of a finished run of the
default recipe in run_dir. `python docs/figures.py learning_curves` draws the table that this writes.
"""

import project_environment

import csv
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from selfplay import load_level, play_matches
from selfplay.cli.entry import reporting_errors
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import SettingError
from selfplay.experience.rule import ExperienceRule
from selfplay.experience.store import ExperienceStore
from selfplay.files import written_whole
from selfplay.games.position_graph import positions_of
from selfplay.games.win_draw_loss import mean_of_seats
from selfplay.grading.proof import Grader
from selfplay.players.experience import ExperiencePlayer
from selfplay.players.player import Player, RandomPlayer
from selfplay.players.tabular import TabularPlayer
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.tabular.learning import BACKWARD_VALUE, TEMPORAL_DIFFERENCE, UpdateRule, initial_values, learn_matches

POINTS = (100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
SEEDS = range(5)
TABULAR = ((BACKWARD_VALUE, 0.5, 0.1), (TEMPORAL_DIFFERENCE, 0.1, 0.01))
"""Rule, step size, epsilon."""
BACKUPS = ("absolute", "minimax")


class Point(NamedTuple):
    """How well a player plays after some matches."""

    matches: int
    loss: float
    """The probability of losing to the random player, over both seats."""
    lost_lines: int
    """In both seats."""


class Curve(NamedTuple):
    """A learner, with the points of each of its seeds."""

    name: str
    seeds: list[list[Point]]


def graded(grader: Grader, player: Player, matches: int) -> Point:
    grade = grader.grade(player)
    return Point(matches, mean_of_seats(*grade.versus_random).losses, sum(lines.lost for lines in grade.lines))


def tabular_points(grader: Grader, rule: UpdateRule, step_size: float, epsilon: float, seed: int) -> Iterator[Point]:
    graph, values = grader.graph, initial_values(grader.graph, rule)
    key = stream_key(seed, 0, Activity.TABULAR_TRAINING)
    for counts in learn_matches(
        graph, values, rule, matches=POINTS[-1], step_size=step_size, epsilon=epsilon, key=key, every=POINTS[0]
    ):
        if counts.matches in POINTS:
            yield graded(grader, TabularPlayer(graph, values, rule.ties), counts.matches)


def experience_points(grader: Grader, backup: str, most: int) -> Iterator[Point]:
    """After the matches of `selfplay play-matches first=random second=experience` with seed 0."""
    game, done = grader.graph.game, 0
    key = stream_key(0, 0, Activity.NAMED_PLAYERS)
    with tempfile.TemporaryDirectory() as scratch:
        store = ExperienceStore(Path(scratch) / "experience.sqlite", game, ExperienceRule(backup=backup))
        players = (RandomPlayer(game), ExperiencePlayer(store))
        for matches in (point for point in POINTS if point <= most):
            for _ in play_matches(game, players, range(done, matches), key):
                pass
            done = matches
            yield graded(grader, players[1], matches)
        store.close()


def level_points(grader: Grader, run_dir: Path) -> Iterator[Point]:
    """Of each level L, which has learned from the matches of levels 0 to L - 1."""
    run, matches = RunFolder(run_dir), 0
    for level in run.trained_levels():
        matches += Manifest(run.level(level - 1)).sections["generation"]["counts"]["matches"]
        yield graded(grader, load_level(run_dir, level), matches)


def all_curves(run_dir: Path, experience_matches: int) -> Iterator[Curve]:
    grader = Grader(positions_of("tictactoe"))
    for rule, step_size, epsilon in TABULAR:
        seeds = [list(tabular_points(grader, rule, step_size, epsilon, seed)) for seed in SEEDS]
        yield Curve(rule.name, seeds)
    for backup in BACKUPS:
        yield Curve(f"experience, {backup} backup", [list(experience_points(grader, backup, experience_matches))])
    yield Curve("levels of recipe=default", [list(level_points(grader, run_dir))])


def safe_since(points: list[Point]) -> int | None:
    """The number of matches from which on no point has a lost line; None if the last one has."""
    losing = [number for number, point in enumerate(points) if point.lost_lines]
    first_safe = losing[-1] + 1 if losing else 0
    return points[first_safe].matches if first_safe < len(points) else None


def table_row(curve: Curve) -> str:
    since, last = [safe_since(points) for points in curve.seeds], curve.seeds[0][-1].matches
    texts = [f"{matches:,}" for matches in sorted(matches for matches in since if matches)]
    missing = since.count(None)
    if missing:
        texts.append(f"not by {last:,}" + (f" in {missing} of {len(since)}" if len(since) > 1 else ""))
    ends = [points[-1] for points in curve.seeds]
    loss, lines = median(point.loss for point in ends), median(point.lost_lines for point in ends)
    return f"| {curve.name} | {', '.join(texts)} | {loss:.4f} | {lines:,.0f} |"


def write_table(curves: Sequence[Curve], path: Path) -> None:
    """The points of all seeds, which `docs/figures.py` draws."""
    with written_whole(path) as beside, beside.open("w", newline="") as lines:
        rows = csv.writer(lines, lineterminator="\n")
        rows.writerow(("learner", "seed", *Point._fields))
        for curve in curves:
            for seed, points in enumerate(curve.seeds):
                rows.writerows(
                    (curve.name, seed, point.matches, f"{point.loss:.6g}", point.lost_lines) for point in points
                )


def main() -> None:
    options = {"run_dir": "outputs/tictactoe", "table": "docs/data/learning_curves.csv", "experience_matches": "10000"}
    for argument in sys.argv[1:]:
        name, _, value = argument.partition("=")
        if name not in options:
            raise SettingError(f"{argument}: give {', '.join(f'{option}=...' for option in options)}")
        options[name] = value
    RunFolder(Path(options["run_dir"])).check_level(1)  # Fails before minutes of work.
    curves = []
    print("| learner | matches until it cannot lose | loss v random at the end | lost lines |")
    print("|---|---|---:|---:|")
    for curve in all_curves(Path(options["run_dir"]), int(options["experience_matches"])):
        print(table_row(curve), flush=True)
        curves.append(curve)
    write_table(curves, Path(options["table"]))


if __name__ == "__main__":
    with reporting_errors():
        main()
