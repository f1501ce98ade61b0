"""How fast matches are played, datasets written and networks trained here, as a markdown table.

    python benchmarks/throughput.py
    python benchmarks/throughput.py --repeats 5 --run-dir outputs/tictactoe --level 10

Medians of several repeats after a warm-up, with one thread of torch. Without a run the agent is an untrained network,
which plays as fast as a trained one.
"""

import argparse
import logging
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter

import torch

from architectures import build_network
from selfplay.arena import play_matches
from selfplay.dataset import encode_rows, read_dataset
from selfplay.expectations import expectation_rows
from selfplay.games import Game, make_game
from selfplay.generation import generate_level
from selfplay.level_players import load_level
from selfplay.levels import train_level
from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer
from selfplay.players.player import Player
from selfplay.players.random import RandomPlayer
from selfplay.players.value_net import ValueNetPlayer
from selfplay.randomness import Activity, stream_key
from selfplay.run_folder import RunFolder
from selfplay.settings import PROJECT_FOLDER, compose_settings
from selfplay.training import held_out_rows, seeded, train

BATCH_SIZES = (1, 16, 256, 1024, 4096, 16384, 32768)
GENERATE = PROJECT_FOLDER / "preprocessing" / "generate_positions_expectations.py"
TRAIN = PROJECT_FOLDER / "train" / "train_agent.py"


def seconds(function: Callable[[], object], repeats: int) -> float:
    """The median time of a call of `function`, after one that warms up."""
    function()
    times = []
    for _ in range(repeats):
        start = perf_counter()
        function()
        times.append(perf_counter() - start)
    return median(times)


def play(game: Game, player: Player, matches: int, batch_size: int, dataset: Path | None) -> None:
    """Play matches of `player` against itself, and with `dataset` write their rows there."""
    records = play_matches(game, (player, player), range(matches), 0, batch_size=batch_size)
    if dataset is None:
        for _ in records:
            pass
    else:
        size = game.observation_bits(game.init()).shape[1]
        parts = (expectation_rows(game, record, 0.95) for record in records)
        dataset.write_bytes(encode_rows(parts, "csv", size)[0])


def matches_per_second(game: Game, players: list[Player], folder: Path, repeats: int) -> None:
    print("\n| batch | random | random, dataset.csv | agent | agent, dataset.csv |")
    print("|---:|---:|---:|---:|---:|")
    for batch_size in BATCH_SIZES:
        matches = max(batch_size, min(64 * batch_size, 8192))
        cells = [f"{batch_size:,}"]
        for player in players:
            for dataset in (None, folder / "dataset.csv"):
                taken = seconds(partial(play, game, player, matches, batch_size, dataset), repeats)
                cells.append(f"{matches / taken:,.0f}")
        print(f"| {' | '.join(cells)} |", flush=True)


def generation_seconds(run_dir: Path, repeats: int) -> None:
    settings = compose_settings(["matches=30000", f"run_dir={run_dir}"])
    generate_level(settings, 0)
    train_level(settings, 1)
    run = RunFolder(run_dir)

    def generate(level: int) -> None:
        run.dataset(level).unlink(missing_ok=True)
        generate_level(settings, level)

    for level, name in ((0, "random player"), (1, "level 1")):
        taken = seconds(partial(generate, level), repeats)
        print(f"| 30,000 matches of the {name} to dataset.csv | {taken:.2f} s |", flush=True)


def training_rows_per_second(run_dir: Path, game: Game, repeats: int) -> None:
    rows = read_dataset(RunFolder(run_dir).dataset(0), 18)
    key = stream_key(0, 1, Activity.TRAINING)
    for recipe, epochs in (("default", 20), ("article", 1)):
        settings = compose_settings([f"recipe={recipe}", f"training.epochs={epochs}"])
        training = settings.training
        with seeded(0):
            network = build_network(settings.architecture, game.observation_shape)
        one_pass = int((~held_out_rows(rows, training.validation_fraction, key)).sum())
        steps = training.steps_per_epoch
        seen = epochs * (steps * training.batch_size if steps else one_pass)
        fit = partial(train, network, rows, training, game.symmetries, game.observation_shape, key)
        print(f"| training rows a second, recipe={recipe} | {seen / seconds(fit, repeats):,.0f} |", flush=True)


def fixed_costs(folder: Path, repeats: int) -> None:
    """What a process costs that has next to nothing to do; a new seed each time, so that it does it."""
    seeds = count()

    def stage(script: Path, level: int) -> None:
        tiny = ["matches=20", "training.epochs=1", "training.steps_per_epoch=1", "force=true", f"run_dir={folder}"]
        python(script, f"--level={level}", f"seed={next(seeds)}", *tiny)

    for name, function in (
        ("import torch", partial(python, "-c", "import torch")),
        ("stage 1 with 20 matches", partial(stage, GENERATE, 0)),
        ("stage 2 with one step", partial(stage, TRAIN, 1)),
    ):
        print(f"| a process: {name} | {seconds(function, repeats):.2f} s |", flush=True)


def python(*arguments: str | Path) -> None:
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--run-dir", type=Path, help="take the agent from this run")
    parser.add_argument("--level", type=int, default=1, help="which level of it")
    options = parser.parse_args()
    torch.set_num_threads(1)
    logging.disable(logging.INFO)
    game = make_game("tictactoe")
    if options.run_dir:
        agent = load_level(options.run_dir, options.level, game)
    else:
        with seeded(0):
            agent = ValueNetPlayer(game, build_network({"name": "mlp"}, game.observation_shape))
    players: list[Player] = [RandomPlayer(game), EpsilonGreedyPlayer(game, agent, [0.5, 0.5, 0.2])]
    with tempfile.TemporaryDirectory() as folder:
        print("Matches of tic-tac-toe a second, one process, one thread")
        matches_per_second(game, players, Path(folder), options.repeats)
        print("\n| what | |\n|---|---:|")
        generation_seconds(Path(folder) / "run", options.repeats)
        training_rows_per_second(Path(folder) / "run", game, options.repeats)
        fixed_costs(Path(folder) / "tiny", options.repeats)


if __name__ == "__main__":
    main()
