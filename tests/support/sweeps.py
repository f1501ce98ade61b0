"""Finished runs of a sweep: their tables and settings, without playing or training."""

import json
import shutil

import numpy as np
import pandas as pd

from selfplay.runs.finished_runs import FinishedRun
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder

LARGE = 31 * 10**20
"""A count of lines that 64 bits do not hold."""


def level_table(wins=(0.4, 0.8, 0.9), lost=(50, 4, 0), ratings=(0, 300, 400), *, exact=True):
    """A table like comparison/levels.csv, with wins in 1,000 matches and equal exact shares."""
    levels = np.arange(len(wins))
    table = pd.DataFrame({"level": levels, "exact_win_vs_random": [share if exact else np.nan for share in wins]})
    for seat in ("first", "second"):
        table[f"losing_lines_{seat}"] = [count if exact else pd.NA for count in lost]
        table[f"lines_{seat}"] = LARGE if exact else pd.NA
    table["wins_vs_random"] = [pd.NA, *(round(1000 * share) for share in wins[1:])]
    table["draws_vs_random"] = [pd.NA] + [0] * (len(wins) - 1)
    table["losses_vs_random"] = 1000 - table["wins_vs_random"]
    table["optimal_action_rate"] = 0.5 if exact else np.nan
    return table.assign(rating=[float(rating) for rating in ratings])


def run_of(name, table=None, *, game="tictactoe", loss=0.25, **training):
    first = {"game.name": game, "seed": training.pop("seed", 0), "gamma": training.pop("gamma", 0.95)}
    table = level_table() if table is None else table
    return FinishedRun(name, {"play_0": first, "training": {"learner.epochs": 3} | training}, table, loss)


def finish(run_dir, table=None):
    path = RunFolder(run_dir).comparison
    path.parent.mkdir(exist_ok=True)
    (level_table((0.4, 0.7, 0.8, 0.9), (9, 4, 0, 0), (0, 1, 2, 3)) if table is None else table).to_csv(
        path, index=False
    )


def folder_of_runs(tiny_run, folder):
    """Fill `folder` with two finished copies of a run and one of each unfinished kind; returns it."""
    for name in ("seed=9", "seed=10", "not compared", "newer level", "broken", "cut off"):
        shutil.copytree(tiny_run, folder / name)
        if name != "not compared":
            finish(folder / name)
    for number in (9, 10):
        for level, part in ((0, "generation"), (3, "training")):
            manifest = Manifest(folder / f"seed={number}" / f"level_{level:02d}")
            manifest.sections[part]["settings"]["seed"] = number
            manifest.path.write_text(json.dumps({"format": 2, **manifest.sections}))
    finish(folder / "newer level", level_table())
    RunFolder(folder / "broken").comparison.write_text("level,rating\n0,zero\n")
    path = RunFolder(folder / "cut off").epoch_loss(3)
    path.write_text(path.read_text()[:-4])
    (folder / "just begun").mkdir()
    (folder / "just begun" / ".lock").touch()
    (folder / "something else").mkdir()
    return folder
