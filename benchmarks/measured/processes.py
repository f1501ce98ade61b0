"""The memory of whole processes, and the time of those with almost no work."""

import os
import subprocess
import sys
import tempfile
from argparse import Namespace
from functools import partial
from itertools import count
from pathlib import Path
from time import perf_counter

from measured.matches import COLUMNS
from measured.timing import seconds
from selfplay.runs.folders import PROJECT_FOLDER

GENERATE = PROJECT_FOLDER / "preprocessing" / "generate_positions_expectations.py"
TRAIN = PROJECT_FOLDER / "train" / "train_agent.py"
FITTING, RARE_COLLECTIONS = "import selfplay.training.fitting", "import gc; gc.set_threshold(200_000)"


def memory(options: Namespace) -> None:
    """Print the memory of the largest process of stage 1 with the random player, and its time, by number of matches."""
    print("\n| game | executor | dataset | matches | largest process, MiB | seconds |\n|---|---|---|---:|---:|---:|")
    for game in options.games:
        for executor in options.executors:
            for form in (column for column in COLUMNS[2:] if column in options.columns):
                for matches in options.matches:
                    with tempfile.TemporaryDirectory() as folder:
                        chosen = [f"game={game}", f"executor={executor}", f"dataset.format={form}"]
                        arguments = [GENERATE, *chosen, f"matches={matches}", f"run_dir={folder}"]
                        start = perf_counter()
                        process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)
                        _, status, usage = os.wait4(process.pid, 0)
                        taken = perf_counter() - start
                    process.returncode = os.waitstatus_to_exitcode(status)
                    assert process.returncode == 0, arguments
                    cells = game, executor, form, f"{matches:,}", f"{usage.ru_maxrss / 1024:,.0f}", f"{taken:.1f}"
                    print(f"| {' | '.join(cells)} |", flush=True)


def fixed_costs(options: Namespace) -> None:
    """Print the time of processes with almost no work. Each has a new seed, so that no stage is skipped as done."""
    seeds = count()
    print("\n| one process | seconds |\n|---|---:|")
    with tempfile.TemporaryDirectory() as folder:

        def stage(script: Path, level: int) -> None:
            tiny = ["matches=20", "learner.epochs=1", "learner.steps_per_epoch=1", "force=true", f"run_dir={folder}"]
            python(script, f"--level={level}", f"seed={next(seeds)}", *tiny)

        for name, function in (
            ("import torch", partial(python, "-c", "import torch")),
            ("import stage 2 to skip a finished level", partial(python, "-c", "import selfplay.stages.train")),
            ("import stage 2 to train", partial(python, "-c", FITTING)),
            ("the same, collecting garbage rarely", partial(python, "-c", f"{RARE_COLLECTIONS}; {FITTING}")),
            ("stage 1 with 20 matches", partial(stage, GENERATE, 0)),
            ("stage 2 with one step", partial(stage, TRAIN, 1)),
        ):
            print(f"| {name} | {seconds(function, options.repeats):.2f} |", flush=True)


def python(*arguments: str | Path) -> None:
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
