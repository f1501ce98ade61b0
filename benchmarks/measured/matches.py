"""Matches played and written as datasets per second."""

import tempfile
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch

from measured.timing import per_second
from measured.whole_matches import play_random_matches
from selfplay import play_matches
from selfplay.api.stages import generate_level, train_level
from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.executors import Executor, ExecutorOptions, open_executor
from selfplay.players.player import RandomPlayer
from selfplay.runs.levels import load_agent
from selfplay.runs.manifest import Manifest
from selfplay.runs.run_folder import RunFolder
from selfplay.settings.run import Settings, compose_settings
from selfplay.stages.learning_run import LearningRun, resources_of

TABLES = {
    "connect_four": ["architecture=ntuple_connect_four"],
    "othello": ["architecture=ntuple_othello"],
}
"""What makes a level of tables of each game; elsewhere architecture=ntuple."""
LEVELS: dict[str, list[str]] = {"ntuple": [], "mlp": ["architecture=mlp"]}
"""The players that are levels."""
MOMENT = ["matches=2000", "learner.epochs=1", "learner.steps_per_epoch=20"]
PARTS = 8
"""The smallest number of parts per worker."""
LONGEST = 4.0
"""Seconds. Batches that would take longer are left out, except the smallest."""
COLUMNS = ("in batches", "whole", "csv", "parquet")


class Part(NamedTuple):
    """Matches that a worker plays as one task."""

    run: LearningRun
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
    settings, game, device = part.run.settings, part.run.game, part.run.device
    key, size = stream_key(settings.seed, part.level, Activity.GENERATION), settings.batch_size
    with settings.computing():
        file, resources = part.run.playing_agent(part.level), resources_of(part.run, settings.learner)
        player = RandomPlayer(game) if file is None else settings.learner.player(load_agent(file, game), resources)
        for _ in play_matches(game, (player, player), part.matches, key, batch_size=size, device=device):
            pass


def play_whole(part: Part) -> None:
    """Play random matches, each to its end before the next one begins."""
    key = stream_key(part.run.settings.seed, part.level, Activity.GENERATION)
    match = torch.arange(part.matches.start, part.matches.stop)
    play_random_matches(part.run.game, Draws(key, match, 0))


def played(executor: Executor, settings: Settings, level: int, column: str, workers: int, matches: int) -> int:
    """Play this number of matches in the way of a column; returns it."""
    size = max(settings.batch_size or 1, matches // (PARTS * workers))
    if column in COLUMNS[:2]:
        function = play_in_batches if column == COLUMNS[0] else play_whole
        all_of_them, run = range(matches), LearningRun.of(settings)
        parts = (Part(run, level, all_of_them[start : start + size]) for start in range(0, matches, size))
        for _ in executor.map(function, parts, run.task_files(run.agents([level] if level else []), run.outside_files)):
            pass
    else:
        dataset = replace(settings.dataset, format=column, shard_matches=size)
        Manifest(RunFolder(Path(settings.run_dir)).level(level)).forget("generation")
        generate_level(replace(settings, matches=matches, dataset=dataset), level, executor=executor)
    return matches


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
        own = ExecutorOptions(name, options.workers)
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
