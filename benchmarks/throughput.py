"""Measure how fast matches are played and written as datasets, and networks trained, as Markdown tables.

    python benchmarks/throughput.py
    python benchmarks/throughput.py --games othello --players ntuple mlp --executors process ray --seconds 5
    python benchmarks/throughput.py --device cuda matches training
    python benchmarks/throughput.py memory --matches 100000 10000000
    python benchmarks/throughput.py costs

Each figure is measured over as many matches or steps as take --seconds, with at least eight parts per worker if there
are several workers, after a warm-up in which workers start; with --repeats it is a median. One torch thread per
process. The levels are only trained briefly, on 2,000 random matches.
"""

import project_environment

import argparse
import logging
import os
import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import torch

from selfplay.architectures import build_network
from selfplay.cli.command import run_reporting_errors
from selfplay.compute.devices import CPU, DEVICES, chosen_device
from selfplay.compute.memory import keep_freed_memory
from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.dataset.match_rows import match_rows
from selfplay.dataset.rows import Rows
from selfplay.dataset.target_rules import full
from selfplay.dataset.targets import PlayedMatches
from selfplay.executors import Executor, open_executor
from selfplay.executors.processes import usable_cores
from selfplay.games import GAMES, Game, make_game
from selfplay.matches.arena import play_matches
from selfplay.players.dataset_players import exploring_player
from selfplay.players.random import RandomPlayer
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.choices import OPTIMIZERS
from selfplay.settings.common import EXECUTORS, ExecutorSettings
from selfplay.settings.folders import PROJECT_FOLDER
from selfplay.settings.run import Settings, compose_settings
from selfplay.settings.training import PRECISIONS, TrainingSettings
from selfplay.stages.generate import generate_level
from selfplay.stages.train import train_level
from selfplay.training.fitting import fit, seeded
from selfplay.training.rows_in_memory import RowsInMemory

GENERATE = PROJECT_FOLDER / "preprocessing" / "generate_positions_expectations.py"
TRAIN = PROJECT_FOLDER / "train" / "train_agent.py"
PLAYED_GAMES = ("tictactoe", "connect_four", "othello")
TABLES = {
    "connect_four": ["recipe=connect_four"],
    "othello": ["recipe=othello"],
    "othello_4x4": ["recipe=othello", "architecture=ntuple"],
    "othello_6x6": ["recipe=othello", "architecture=ntuple"],
}
"""What makes a level of tables of each game; elsewhere architecture=ntuple."""
LEVELS: dict[str, list[str]] = {"ntuple": [], "mlp": ["architecture=mlp"]}
"""The players that are levels."""
MOMENT = ["matches=2000", "training.epochs=1", "training.steps_per_epoch=20"]
PARTS = 8
"""The smallest number of parts per worker."""
LONGEST = 4.0
"""Seconds. Batches that would take longer are left out, except the smallest."""
COLUMNS = ("in batches", "whole", "csv", "parquet")
STEPS_IN_EPOCH = 10
FITTING, RARE_COLLECTIONS = "import selfplay.stages.fit_level", "import gc; gc.set_threshold(200_000)"


class Part(NamedTuple):
    """Matches that a worker plays as one task."""

    settings: Settings
    level: int
    matches: range


class Measured(NamedTuple):
    rate: float
    player: str
    executor: str
    batch: int
    column: str

    def __str__(self) -> str:
        what = "playing only" if self.column in COLUMNS[:2] else f"dataset.format={self.column}"
        return f"{self.player}, {what}: executor={self.executor} batch_size={self.batch} ({self.rate:,.0f} per second)"


def play_in_batches(part: Part) -> None:
    settings, key = part.settings, stream_key(part.settings.seed, part.level, Activity.GENERATION)
    torch.set_num_threads(settings.threads)
    game, size, device = make_game(settings.game.name), settings.batch_size, chosen_device(settings.device)
    player = exploring_player(settings, game, part.level)
    for _ in play_matches(game, (player, player), part.matches, key, batch_size=size, device=device):
        pass


def play_whole(part: Part) -> None:
    """Play random matches, each to its end before the next one begins."""
    key = stream_key(part.settings.seed, part.level, Activity.GENERATION)
    match = torch.arange(part.matches.start, part.matches.stop)
    make_game(part.settings.game.name).kernels.random_matches(Draws(key, match, 0))


def played(executor: Executor, settings: Settings, level: int, column: str, workers: int, matches: int) -> int:
    """Play this number of matches in the way of a column; returns it."""
    size = max(settings.batch_size or 1, matches // (PARTS * workers))
    if column in COLUMNS[:2]:
        function = play_in_batches if column == COLUMNS[0] else play_whole
        all_of_them = range(matches)
        parts = (Part(settings, level, all_of_them[start : start + size]) for start in range(0, matches, size))
        for _ in executor.map(function, parts, agents(settings, level)):
            pass
    else:
        dataset = replace(settings.dataset, format=column, shard_matches=size)
        Manifest(RunFolder(Path(settings.run_dir)).level(level)).forget("generation")
        generate_level(replace(settings, matches=matches, dataset=dataset), level, executor=executor)
    return matches


def agents(settings: Settings, level: int) -> list[Path]:
    return [Path(settings.run_dir) / f"level_{level:02d}" / "agent.safetensors"] if level else []


def seconds(function: Callable[[], object], repeats: int) -> float:
    """The median time of a call of `function`, after one that warms up."""
    function()
    times = []
    for _ in range(repeats):
        start = perf_counter()
        function()
        times.append(perf_counter() - start)
    return median(times)


def per_second(work: Callable[[int], int], smallest: int, least: float, repeats: int) -> float:
    """The amount of `work` done per second, measured with an amount that takes at least `least` seconds."""
    amount = smallest
    while True:
        start = perf_counter()
        work(amount)
        if perf_counter() - start >= least:
            break
        amount *= 2
    times = []
    for _ in range(repeats):
        start = perf_counter()
        done = work(amount)
        times.append((perf_counter() - start) / done)
    return 1 / median(times)


def settings_of(game: str, player: str, folder: Path, device: str) -> Settings:
    """The settings of a run of this game with a level of this kind, trained briefly if it is a level."""
    own = TABLES.get(game, ["architecture=ntuple"]) if player == "ntuple" else LEVELS.get(player, [])
    settings = compose_settings([f"game={game}", *own, *MOMENT, f"run_dir={folder / game / player}", "device=cpu"])
    if player in LEVELS:
        generate_level(settings, 0)
        train_level(settings, 1)
    return replace(settings, device=device)


def matches_per_second(options: Namespace) -> None:
    """Print tables of matches per second, and the best settings."""
    best = []
    with tempfile.TemporaryDirectory() as folder:
        for game in options.games:
            print(f"\nMatches of {game} per second\n")
            print(f"| player | executor | batch | {' | '.join(COLUMNS)} |\n|---|---|---:|{'---:|' * len(COLUMNS)}")
            found = list(_of_game(game, Path(folder), options))
            chosen = [max((one for one in found if one.player == name), default=None) for name in options.players]
            best.append(f"Best for {game}: {'; '.join(str(one) for one in chosen if one)}")
    print("\n" + "\n".join(best))


def _of_game(game: str, folder: Path, options: Namespace) -> Iterator[Measured]:
    players = {name: settings_of(game, name, folder, options.device) for name in options.players}
    for name in options.executors:
        own = ExecutorSettings(name, options.workers)
        with open_executor(own) as executor:
            workers = 1 if name == "serial" else options.workers
            for player, settings in players.items():
                yield from _of_player(settings, player, name, executor, workers, options)


def _of_player(
    settings: Settings, player: str, name: str, executor: Executor, workers: int, options: Namespace
) -> Iterator[Measured]:
    """Print the rows of a player; yields the rates of the last column."""
    level, rate = int(player in LEVELS), float("inf")
    for batch in sorted(options.batch_sizes):
        if batch / rate > LONGEST:
            continue
        cells = []
        for column in COLUMNS:
            if column not in options.columns or (column == "whole" and level):
                cells.append("")
                continue
            work = partial(played, executor, replace(settings, batch_size=batch), level, column, workers)
            rate = per_second(work, batch * workers, options.seconds, options.repeats)
            cells.append(f"{rate:,.0f}")
            if column == options.columns[-1]:
                yield Measured(rate, player, name, batch, column)
        print(f"| {player} | {name} | {batch:,} | {' | '.join(cells)} |", flush=True)


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


def training_rows_per_second(options: Namespace) -> None:
    """Print the number of rows trained on per second, by recipe and precision."""
    print("\nRows trained on per second")
    print(f"\n| game | trained by | {' | '.join(PRECISIONS)} |\n|---|---|{'---:|' * len(PRECISIONS)}")
    for name in options.games:
        game = make_game(name)
        player = RandomPlayer(game)
        (record,) = play_matches(game, (player, player), range(1000), 0, batch_size=1000)
        rows = match_rows(PlayedMatches(game, record, (player, player), 0, 0.95), full)
        networks = [["recipe=default"], ["recipe=article"], ["architecture=residual"]]
        for overrides in (*networks, TABLES.get(name, ["architecture=ntuple"])):
            settings = compose_settings([f"game={name}", *overrides])
            training = replace(settings.training, steps_per_epoch=STEPS_IN_EPOCH)
            by_rows = OPTIMIZERS[training.optimizer.name].runs_on_cpu_only
            cells = []
            for precision in PRECISIONS:
                if by_rows and (options.device != CPU or precision != PRECISIONS[0]):
                    cells.append("")
                    continue
                one = replace(training, precision=precision)
                work = partial(train, game, settings.architecture, rows, one, options.device)
                cells.append(f"{per_second(work, 1, options.seconds, options.repeats):,.0f}")
            print(f"| {name} | {' '.join(overrides)} | {' | '.join(cells)} |", flush=True)


def train(game: Game, architecture: dict[str, Any], rows: Rows, training: TrainingSettings, device: str, n: int) -> int:
    """Train for n epochs; returns the number of rows in all steps."""
    with seeded(0):
        network = build_network(architecture, game.observation_shape, game.num_distinct_actions)
    settings = replace(training, epochs=n)
    fit(network, RowsInMemory([rows], settings, game, 0), settings, game.observation_shape, 0, device=device)
    return n * STEPS_IN_EPOCH * training.batch_size


def fixed_costs(options: Namespace) -> None:
    """Print the time of processes with almost no work. Each has a new seed, so that no stage is skipped as done."""
    seeds = count()
    print("\n| one process | seconds |\n|---|---:|")
    with tempfile.TemporaryDirectory() as folder:

        def stage(script: Path, level: int) -> None:
            tiny = ["matches=20", "training.epochs=1", "training.steps_per_epoch=1", "force=true", f"run_dir={folder}"]
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


SECTIONS = {
    "memory": memory,
    "matches": matches_per_second,
    "training": training_rows_per_second,
    "costs": fixed_costs,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", metavar="section", help=f"{', '.join(SECTIONS)}; default: matches")
    parser.add_argument("--games", nargs="+", choices=sorted(GAMES), default=list(PLAYED_GAMES))
    parser.add_argument("--players", nargs="+", choices=["random", *LEVELS], default=["random", "ntuple"])
    parser.add_argument("--executors", nargs="+", choices=EXECUTORS, default=["serial", "process"])
    parser.add_argument("--workers", type=int, default=usable_cores(), help="of the executors process and ray")
    parser.add_argument("--batch-sizes", nargs="+", type=int, default=[1024, 16384])
    parser.add_argument("--columns", nargs="+", choices=COLUMNS, default=list(COLUMNS))
    parser.add_argument("--matches", nargs="+", type=int, default=[100_000, 1_000_000], help="for the section memory")
    parser.add_argument("--device", choices=DEVICES, default=CPU)
    parser.add_argument("--seconds", type=float, default=0.3, help="shortest time of a measurement")
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    if unknown := [section for section in options.sections if section not in SECTIONS]:
        parser.error(f"unknown section {unknown[0]!r}; choose from {', '.join(SECTIONS)}")
    if min(options.repeats, options.workers, *options.batch_sizes, *options.matches) < 1:
        parser.error("--repeats, --workers, --batch-sizes, --matches: give 1 or more")
    torch.set_num_threads(1)
    keep_freed_memory()
    logging.disable(logging.INFO)
    options.device = chosen_device(options.device)
    print(f"Device: {torch.cuda.get_device_name() if options.device != CPU else CPU}, torch {torch.__version__}")
    for section in [name for name in SECTIONS if name in (options.sections or ["matches"])]:
        SECTIONS[section](options)


if __name__ == "__main__":
    run_reporting_errors(main)
