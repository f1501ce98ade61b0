"""Strength of levels by processor time, with self-play one ply ahead and with a search: the data of a figure.

    NUMBA_NUM_THREADS=1 python benchmarks/strength_by_time.py --table docs/data/strength_by_time.csv
    python benchmarks/strength_by_time.py othello

For each game, the levels of an earlier recipe, and levels that continue from one of them with the current recipe
(CURVES). Each level is trained in a process of its own, whose processor time counts, and plays its matches: in Connect
Four moving first against perfect play with random ties, one ply ahead, with wins taken and immediate losses avoided;
in Othello against the agent that comes with the program, both four plies ahead; that agent is the last level of the
second curve, which plays no matches. Levels that are in points.csv of their folder in --run-dir are not trained again;
delete the folders of both curves after a change of a recipe. `python docs/figures.py strength_by_time` draws the table.
"""

import project_environment

import argparse
import csv
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import torch
from perfect_play import Blocking

from selfplay.agents.pretrained import pretrained_agents
from selfplay.cli.entry import reporting_errors
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.errors import StageError
from selfplay.files import written_whole
from selfplay.games import make_game
from selfplay.games.win_draw_loss import WinDrawLoss
from selfplay.matches.series import Series
from selfplay.named_players.make import make_player
from selfplay.players.perfect import SolverPlayer
from selfplay.search.exact_solver import make_exact_solver

PERFECT_MATCHES, MATCHES, OPENING_PLIES = 200, 1000, 8


class Curve(NamedTuple):
    """Levels that are trained one after the other, `first` from the level before it of the earlier curve."""

    label: str
    settings: tuple[str, ...]
    first: int
    last: int


CURVES = {
    "connect_four": (
        Curve("self-play one ply ahead", ("recipe=connect_four",), 1, 15),
        Curve("then corrected by a search", ("recipe=connect_four_taught",), 16, 16),
    ),
    "othello": (
        Curve(
            "self-play one ply ahead", ("recipe=othello", "levels=14", "from_level={9:{learner.self_play:null}}"), 1, 11
        ),
        Curve("matches played by a search", ("recipe=othello",), 9, 11),
    ),
}
COLUMNS = ("game", "curve", "level", "minutes", "score")


class Point(NamedTuple):
    """A level after its training."""

    level: int
    seconds: float
    """Processor time of the training of this level alone."""
    won: int
    drawn: int
    lost: int

    @property
    def score(self) -> str:
        """Empty if it played no matches."""
        matches = self.won + self.drawn + self.lost
        return f"{(self.won + self.drawn / 2) / matches:.4f}" if matches else ""


def processor_seconds(command: list[str]) -> float:
    """The processor time of a command. Raises StageError if it fails."""
    process = subprocess.Popen([sys.executable, "-m", "selfplay", *command], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise StageError(f"selfplay {' '.join(command)} has failed")
    return usage.ru_utime + usage.ru_stime


def against_perfect_play(level: int, run_dir: Path) -> WinDrawLoss[int]:
    """The matches of a level of Connect Four."""
    game = make_game("connect_four")
    player = Blocking(game, make_player(f"level:{level}", game, run_dir), run_dir)
    pair, key = (player, SolverPlayer(make_exact_solver(game))), stream_key(0, 0, Activity.VERSUS_PERFECT)
    return Series(range(PERFECT_MATCHES), key, alternate=False).play(game, pair).results


def against_pretrained(level: int, run_dir: Path) -> WinDrawLoss[int]:
    """The matches of a level of Othello; none of the level that is the opponent."""
    if f"level_{level:02}" == pretrained_agents()["othello"].parent.name:
        return WinDrawLoss(0, 0, 0)
    game, key = make_game("othello"), stream_key(0, 0, Activity.TOURNAMENT)
    evaluations = (f"level:{level}", "pretrained")
    one, other = (make_player(f"search:negascout?depth=4&evaluation={name}", game, run_dir) for name in evaluations)
    return Series(range(MATCHES), key, opening_plies=OPENING_PLIES).play(game, (one, other)).results


MEASURES = {"connect_four": against_perfect_play, "othello": against_pretrained}


def read(file: Path) -> list[Point]:
    if not file.exists():
        return []
    with file.open(newline="") as lines:
        kinds = Point.__annotations__.values()
        return [
            Point(*(kind(row[name]) for name, kind in zip(Point._fields, kinds, strict=True)))
            for row in csv.DictReader(lines)
        ]


def points_of(game: str, curve: Curve, run_dir: Path, earlier: Path | None) -> Iterator[Point]:
    """The points of a curve, from points.csv or measured now.

    Args:
        earlier: the run of the earlier curve.
    """
    file = run_dir / "points.csv"
    known = {point.level: point for point in read(file)}
    if earlier is not None:
        before = f"level_{curve.first - 1:02}"
        shutil.copytree(earlier / before, run_dir / before, dirs_exist_ok=True)
    for level in range(curve.first, curve.last + 1):
        if level not in known:
            run = [f"game={game}", *curve.settings, f"run_dir={run_dir}", f"level={level}", "force=true"]
            seconds = processor_seconds(["train", *run])
            known[level] = Point(level, round(seconds, 1), *MEASURES[game](level, run_dir))
            with written_whole(file) as beside, beside.open("w", newline="") as lines:
                csv.writer(lines).writerows([Point._fields, *known.values()])
        yield known[level]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", choices=[*CURVES, []], metavar="GAME", help="default: all")
    parser.add_argument("--run-dir", type=Path, default=Path("outputs/strength_by_time"))
    parser.add_argument("--table", type=Path, default=Path("outputs/strength_by_time/strength_by_time.csv"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    print("| game | | level | seconds | won-drawn-lost | score |\n|---|---|---:|---:|---:|---:|")
    rows = list[tuple[str | int, ...]]()
    for game in options.games or CURVES:
        earlier, trained = None, list[Point]()
        for number, curve in enumerate(CURVES[game], 1):
            run_dir = options.run_dir / f"{game}_{number}"
            before = [point for point in trained if point.level < curve.first]
            trained = before.copy()
            for point in points_of(game, curve, run_dir, earlier):
                trained.append(point)
                matches = f"{point.won}-{point.drawn}-{point.lost}"
                cells = (game, curve.label, point.level, f"{point.seconds:.0f}", matches, point.score)
                print("|", " | ".join(map(str, cells)), "|", flush=True)
            minutes = list(accumulate(point.seconds / 60 for point in trained))
            shown = list(zip(trained, minutes, strict=True))[max(len(before) - 1, 0) :]
            rows += [(game, curve.label, point.level, f"{at:.1f}", point.score) for point, at in shown]
            earlier = run_dir
    with written_whole(options.table) as beside, beside.open("w", newline="") as lines:
        csv.writer(lines, lineterminator="\n").writerows([COLUMNS, *rows])


if __name__ == "__main__":
    with reporting_errors():
        main()
