"""How fast matches are played and networks trained on a device, as a markdown table.

    python benchmarks/device.py --device cuda
    python benchmarks/device.py --device cpu --seconds 2

Each figure comes from as many matches or steps as fill `--seconds`, after a warm-up, in one process with one thread of
torch. Networks are untrained and explore as in recipe=default; they play and train as fast as trained ones. "Compiled"
are tables as a level of them plays, by a search that runs on the CPU whatever the device.
"""

import argparse
import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

import torch

from architectures import build_network
from architectures.ntuple import NTuple
from selfplay.arena import play_matches
from selfplay.command_line import run_reporting_errors
from selfplay.devices import CPU, DEVICES, chosen_device
from selfplay.expectations import Rows, expectation_rows
from selfplay.games import Game, make_game
from selfplay.match_memory import fitting_batch_size
from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer
from selfplay.players.player import Player
from selfplay.players.random import RandomPlayer
from selfplay.players.search import SearchPlayer
from selfplay.players.value_net import ValueNetPlayer
from selfplay.search.pattern_evaluation import PatternEvaluation
from selfplay.search.searcher import Searcher
from selfplay.settings import PRECISIONS, TrainingSettings, compose_settings
from selfplay.training import seeded, train

GAMES = {"tictactoe": "ntuple", "connect_four": "ntuple_connect_four", "othello": "ntuple_othello"}
"""The games, and the tables that fit each."""
MATCHES_TRAINED_ON = 1000
STEPS_IN_EPOCH = 10


def per_second(work: Callable[[int], int], least: float) -> float:
    """What `work` does in a second; it is told how much of it, twice as much until that takes `least` seconds."""
    work(1)
    amount = 1
    while True:
        start = perf_counter()
        done = work(amount)
        taken = perf_counter() - start
        if taken >= least:
            return done / taken
        amount *= 2


def play(game: Game, player: Player, batch: int, device: str, batches: int) -> int:
    """Play so many batches; returns the number of matches. Each record comes to the CPU, so the device is done then."""
    matches = batch * batches
    for _ in play_matches(game, (player, player), range(matches), 0, batch_size=batch, device=device):
        pass
    return matches


def fit(game: Game, architecture: dict[str, Any], rows: Rows, training: TrainingSettings, device: str, n: int) -> int:
    """Train for n epochs; returns the number of rows that were stepped on."""
    network = network_of(game, architecture)
    train(network, rows, replace(training, epochs=n), game.symmetries, game.observation_shape, 0, device=device)
    return n * STEPS_IN_EPOCH * training.batch_size


def network_of(game: Game, architecture: dict[str, Any]) -> torch.nn.Module:
    with seeded(0):
        return build_network(architecture, game.observation_shape)


def random_rows(game: Game) -> Rows:
    player = RandomPlayer(game)
    (record,) = play_matches(game, (player, player), range(MATCHES_TRAINED_ON), 0, batch_size=MATCHES_TRAINED_ON)
    return expectation_rows(game, record, 0.95)


def measure(name: str, device: str, least: float, most: int | None) -> None:
    """Print the rows of one game."""
    game = make_game(name)
    rows = random_rows(game)

    def matches(player: Player, place: str) -> str:
        batch = min(fitting_batch_size(game, (player,), place), most or 1 << 30)
        return f"{per_second(partial(play, game, player, batch, place), least):,.0f} ({batch:,})"

    print(f"| {name} | random | {matches(RandomPlayer(game), device)} | | |", flush=True)
    for option in ("mlp", "residual", GAMES[name]):
        settings = compose_settings([f"game={name}", f"architecture={option}"])
        network = network_of(game, settings.architecture)
        training = replace(settings.training, steps_per_epoch=STEPS_IN_EPOCH)
        cells = [matches(exploring(game, ValueNetPlayer(game, network), settings.epsilons), device)]
        for precision in PRECISIONS:
            one = replace(training, precision=precision)
            cells.append(f"{per_second(partial(fit, game, settings.architecture, rows, one, device), least):,.0f}")
        print(f"| {name} | {option} | {' | '.join(cells)} |", flush=True)
        if isinstance(network, NTuple):
            evaluation = PatternEvaluation(option, name, 1.0, 0.0, network.cpu().tables())
            searching = SearchPlayer(Searcher(game, evaluation, ordered=False, table_bits=0), 1)
            print(
                f"| {name} | {option}, compiled | {matches(exploring(game, searching, settings.epsilons), CPU)} | | |"
            )


def exploring(game: Game, player: Player, epsilons: list[float]) -> Player:
    return EpsilonGreedyPlayer(game, player, epsilons)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=DEVICES, default="auto")
    parser.add_argument("--games", nargs="+", choices=GAMES, default=list(GAMES))
    parser.add_argument("--seconds", type=float, default=5.0, help="the least time of a measurement")
    parser.add_argument("--batch-size", type=int, help="at most so many matches in lockstep")
    options = parser.parse_args()
    torch.set_num_threads(1)
    logging.disable(logging.INFO)
    device = chosen_device(options.device)
    print(f"Device: {torch.cuda.get_device_name() if device != CPU else CPU}, torch {torch.__version__}\n")
    print("| game | player | matches a second (in lockstep) | training rows a second, float32 | bfloat16 |")
    print("|---|---|---:|---:|---:|")
    for name in options.games:
        measure(name, device, options.seconds, options.batch_size)


if __name__ == "__main__":
    run_reporting_errors(main)
