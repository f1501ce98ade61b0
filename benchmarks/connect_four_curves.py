"""Connect Four by processor time: a table and a figure of the levels of recipe=connect_four.

    NUMBA_NUM_THREADS=1 python benchmarks/connect_four_curves.py
    python benchmarks/connect_four_curves.py --levels 5 --figure outputs/curves.png

Trains the levels (--run-dir), each in a process of its own, whose processor time counts. Levels play one ply ahead,
take wins and avoid immediate losses, as in perfect_play.py --blocks: mistakes are those in the 300 published positions,
matches those moving first against perfect play with random ties. Levels that are in curves.csv in --run-dir are not
trained again; delete it after a change of the recipe.
"""

import project_environment

import argparse
import csv
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import torch
from matplotlib.figure import Figure
from perfect_play import Blocking, exact_results, mistakes, published

from selfplay.cli.main import reporting_errors
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import StageError
from selfplay.figures.style import BLUE, decorate, default_style, empty_figure, rendered
from selfplay.files import written_whole
from selfplay.games import make_game
from selfplay.matches.series import count_matches
from selfplay.named_players.make import make_player
from selfplay.players.perfect import SolverPlayer
from selfplay.search.exact_solver import make_exact_solver

MATCHES = 200


class Point(NamedTuple):
    """A level after its training."""

    level: int
    seconds: float
    """Processor time of the training of this level alone."""
    mistakes: float
    """In percent of all positions."""
    won: int
    drawn: int
    lost: int


def processor_seconds(command: list[str]) -> float:
    """The processor time of a command. Raises StageError if it fails."""
    process = subprocess.Popen([sys.executable, "-m", "selfplay", *command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise StageError(f"selfplay {' '.join(command)} has failed")
    return usage.ru_utime + usage.ru_stime


def trained(run_dir: Path, level: int) -> float:
    """Train a level, also if it is there already; returns the processor time."""
    settings = ["game=connect_four", "recipe=connect_four", f"run_dir={run_dir}", "force=true"]
    return processor_seconds(["train", f"level={level}", *settings])


def read(file: Path) -> list[Point]:
    if not file.exists():
        return []
    with file.open(newline="") as lines:
        kinds = Point.__annotations__.values()
        return [
            Point(*(kind(row[name]) for name, kind in zip(Point._fields, kinds, strict=True)))
            for row in csv.DictReader(lines)
        ]


def points_of(run_dir: Path, levels: int) -> Iterator[Point]:
    """The points of the levels, from curves.csv or measured now."""
    file, game, groups = run_dir / "curves.csv", make_game("connect_four"), published()
    known = {point.level: point for point in read(file)}
    perfect = SolverPlayer(make_exact_solver(game))
    results = {name: exact_results(perfect, state) for name, state in groups.items()}
    key = stream_key(0, 0, Activity.VERSUS_PERFECT)
    for level in range(1, levels + 1):
        if level not in known:
            seconds = trained(run_dir, level)
            player = Blocking(game, make_player(f"level:{level}", game, run_dir), run_dir)
            shares = mistakes(player, groups, results)
            won, drawn, lost = count_matches(game, (player, perfect), MATCHES, key, MATCHES, alternate=False).results
            known[level] = Point(level, round(seconds, 1), round(sum(shares) / len(shares), 2), won, drawn, lost)
            with written_whole(file) as beside, beside.open("w", newline="") as lines:
                csv.writer(lines).writerows([Point._fields, *known.values()])
        yield known[level]


@default_style()
def draw(points: list[Point]) -> Figure:
    figure = empty_figure(12, 5)
    left, right = figure.subplots(1, 2)
    decorate(left, "Mistakes in the 300 published positions", "minutes of processor time", "percent")
    decorate(right, f"Won of {MATCHES} moving first against perfect play", "minutes of processor time", "matches")
    minutes = list(accumulate(point.seconds / 60 for point in points))
    style = {"color": BLUE, "marker": "o", "markersize": 4, "clip_on": False}
    left.plot(minutes, [point.mistakes for point in points], **style)
    right.plot(minutes, [point.won for point in points], **style)
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_ylim(bottom=0)
        axes.set_xticks([0.3, 1, 3, 10, 30], ["0.3", "1", "3", "10", "30"])
        axes.minorticks_off()
    right.set_ylim(top=MATCHES)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run-dir", type=Path, default=Path("outputs/connect_four_curves"))
    parser.add_argument("--levels", type=int, default=15)
    parser.add_argument("--figure", type=Path, default=Path("outputs/connect_four_curves/curves.png"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    print("| level | seconds | mistakes, % | won-drawn-lost |\n|---:|---:|---:|---:|")
    points = []
    for point in points_of(options.run_dir, options.levels):
        points.append(point)
        result = f"{point.won}-{point.drawn}-{point.lost}"
        print(f"| {point.level} | {point.seconds:.0f} | {point.mistakes:.1f} | {result} |", flush=True)
    with written_whole(options.figure) as beside:
        rendered(draw(points)).save(beside, format="PNG", optimize=True)


if __name__ == "__main__":
    with reporting_errors():
        main()
