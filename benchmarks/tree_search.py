"""Measure simulations of tree search per second of processor time, as a Markdown table.

    python benchmarks/tree_search.py
    python benchmarks/tree_search.py --game othello --evaluators rollouts alphazero_residual --batches 1 1024

Positions after four random plies; each figure is the median of --repeats searches of the batch, on one thread. The
networks and tables have random weights. The last column is the share of the time that is spent in the network; what it
has said of positions is not remembered here.
"""

import project_environment

import argparse
from collections.abc import Callable
from itertools import product
from statistics import median
from time import process_time
from typing import Any

import torch
from torch import nn

from selfplay.architectures import build_network
from selfplay.cli.command import run_reporting_errors
from selfplay.compute.random_numbers import Draws
from selfplay.games import GAMES, Game, State, make_game
from selfplay.players.network_evaluator import checkpoint_evaluator
from selfplay.runs.checkpoints import Checkpoint
from selfplay.search.mcts.rollouts import RolloutEvaluator
from selfplay.search.mcts.rule import make_rule
from selfplay.search.mcts.tree_search import TreeSearch
from selfplay.settings.choices import SEARCH_RULES
from selfplay.settings.run import compose_settings
from selfplay.training.fitting import seeded

ROLLOUTS = "rollouts"
NOISE = {"puct": {"noise": 0.25}, "gumbel": {"gumbel_scale": 1.0}}
OPENING_PLIES = 4


class TimedNetwork(nn.Module):
    """A network that adds up the time it takes."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network, self.seconds = network, 0.0

    def forward(self, observations: torch.Tensor) -> Any:
        start = process_time()
        output = self.network(observations)
        self.seconds += process_time() - start
        return output


def positions(game: Game, batch_size: int) -> State:
    state = game.init(batch_size)
    for ply in range(OPENING_PLIES):
        state = game.step_unchecked(state, game.kernels.random_actions(state, Draws(1, torch.arange(batch_size), ply)))
    return state


def evaluator_of(name: str, game: Game) -> tuple[Any, TimedNetwork | None]:
    """The evaluator, and its network if it is evaluated in batches."""
    if name == ROLLOUTS:
        return RolloutEvaluator(), None
    architecture = compose_settings(["run_dir=unused", f"architecture={name}", f"game={game.name}"]).architecture
    with seeded(0):
        network = build_network(architecture, game.observation_shape, game.num_distinct_actions)
        for parameter in network.parameters():
            nn.init.normal_(parameter, std=0.05)
    evaluator: Any = checkpoint_evaluator(Checkpoint(network, {"outcome": "return"}), game)
    if not hasattr(evaluator, "network"):
        return evaluator, None
    evaluator.network, evaluator.evaluate = TimedNetwork(network), evaluator._evaluate
    return evaluator, evaluator.network


def measure(run: Callable[[], Any], repeats: int) -> float:
    """The median of the simulations per second."""
    rates = []
    for _ in range(repeats):
        start = process_time()
        visits = int(run().visits.sum())
        rates.append(visits / (process_time() - start))
    return median(rates)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="connect_four", choices=list(GAMES))
    default = [ROLLOUTS, "ntuple_connect_four", "alphazero_mlp", "alphazero_residual"]
    parser.add_argument("--evaluators", nargs="+", default=default, help=f"{ROLLOUTS}, or names in conf/architecture")
    parser.add_argument("--rules", nargs="+", default=list(SEARCH_RULES))
    parser.add_argument("--batches", nargs="+", type=int, default=[1, 64, 1024])
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(1)
    game = make_game(options.game)
    print(f"\n{game.name}, {options.simulations} simulations\n")
    print("| evaluator | rule | positions | simulations/s | network |\n|---|---|---:|---:|---:|")
    for name, rule, batch_size in product(options.evaluators, options.rules, options.batches):
        evaluator, network = evaluator_of(name, game)
        search = TreeSearch(game, evaluator, make_rule(rule, NOISE.get(rule)), options.simulations)
        state, draws = positions(game, batch_size), Draws(1, torch.arange(batch_size), OPENING_PLIES)
        search.search(state.select(torch.arange(1)), draws._replace(match=torch.arange(1)))
        start = process_time()
        if network is not None:
            network.seconds = 0.0
        rate = measure(lambda search=search, state=state, draws=draws: search.search(state, draws), options.repeats)
        share = "" if network is None else f"{network.seconds / (process_time() - start):.0%}"
        print(f"| {name} | {rule} | {batch_size:,} | {rate:,.0f} | {share} |", flush=True)


if __name__ == "__main__":
    run_reporting_errors(main)
