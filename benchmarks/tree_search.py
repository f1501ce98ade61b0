"""Measure simulations of tree search per second of processor time, as a Markdown table.

    python benchmarks/tree_search.py
    python benchmarks/tree_search.py --game othello --evaluators rollouts alphazero_residual --batches 1 1024
    python benchmarks/tree_search.py --evaluators alphazero_mlp --settings architecture.hidden_sizes=[512,512]

Positions after four random plies, on one thread. Each figure is the median of --repeats measurements, in which the
batch is searched, or several batches of together at least 64 positions. The networks and tables have random weights.
The last column is the share of the time that is spent in a network with a policy head; its outputs are not kept here.
If it is computed inside the search, this is the time of as many forward passes alone. The networks of pretrained agents
are measured with --evaluators pretrained. `benchmarks/throughput.py search` measures searches with random matches
beside OpenSpiel.
"""

import project_environment

import argparse
from collections.abc import Sequence
from itertools import product
from statistics import median
from time import process_time
from typing import Any

import torch
from measured.positions import random_positions
from measured.tree_search import OPENING_PLIES
from torch import nn

from selfplay.agents.agent import Agent
from selfplay.agents.checkpoints import Checkpoint
from selfplay.agents.network_evaluator import NetworkEvaluator
from selfplay.agents.pretrained import PRETRAINED, pretrained_agent
from selfplay.architectures import build_network
from selfplay.cli.entry import reporting_errors
from selfplay.compute.layer_steps import run_steps
from selfplay.compute.random_numbers import Draws
from selfplay.games import Game, game_names, make_game
from selfplay.search.mcts.evaluator import RolloutEvaluator
from selfplay.search.mcts.rule import SEARCH_RULES, make_rule
from selfplay.search.mcts.tree_search import TreeSearch
from selfplay.settings.run import compose_settings
from selfplay.training.fitting import seeded

ROLLOUTS = "rollouts"
NOISE = {"puct": {"noise": 0.25}, "gumbel": {"gumbel_scale": 1.0}}
FEWEST_POSITIONS = 64
PASSES = 9


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


def evaluator_of(name: str, game: Game, settings: Sequence[str] = ()) -> tuple[Any, TimedNetwork | None]:
    """The evaluator, and its network if torch evaluates it in batches."""
    if name == ROLLOUTS:
        return RolloutEvaluator(), None
    if name == PRETRAINED:
        return Agent.load(pretrained_agent(game.name), game).evaluator(), None
    chosen = ["run_dir=unused", f"architecture={name}", f"game={game.name}", *settings]
    architecture = compose_settings(chosen).architecture
    with seeded(0):
        network = build_network(architecture, game.observation_shape, game.num_distinct_actions)
        for parameter in network.parameters():
            nn.init.normal_(parameter, std=0.05)
    evaluator: Any = Agent(Checkpoint(network, {"outcome": "return"}), game, name).evaluator()
    if not isinstance(evaluator, NetworkEvaluator):
        return evaluator, None
    if evaluator.position_value is not None:
        return evaluator, None
    timed = TimedNetwork(network)
    evaluator.player.network, evaluator.evaluate = timed, evaluator._evaluate
    return evaluator, timed


def seconds_of_pass(evaluator: Any, game: Game) -> float:
    """Processor time of a forward pass of a network that is computed inside the search."""
    program = evaluator.parameters(game).program
    given = program.steps, program.weights, program.indices, program.memory, program.is_portable
    seconds = []
    for _ in range(PASSES):
        start = process_time()
        for _ in range(FEWEST_POSITIONS):
            run_steps(*given)
        seconds.append((process_time() - start) / FEWEST_POSITIONS)
    return median(seconds)


def measure(search: TreeSearch, batch_size: int, repeats: int) -> float:
    """The median of the simulations per second, after a search that warms up."""
    count = max(batch_size, FEWEST_POSITIONS)
    state, match = random_positions(search.game, count, OPENING_PLIES, key=1)[0], torch.arange(count)
    rates = []
    search.search(state.select(match[:1]), Draws(1, match[:1], OPENING_PLIES))
    for _ in range(repeats):
        start = process_time()
        results = [search.search(state.select(rows), Draws(1, rows, OPENING_PLIES)) for rows in match.split(batch_size)]
        rates.append(sum(int(result.visits.sum()) for result in results) / (process_time() - start))
    return median(rates)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="connect_four", choices=game_names())
    default = [ROLLOUTS, "ntuple_connect_four", "ntuple_walks", "alphazero_mlp", "alphazero_residual"]
    parser.add_argument(
        "--evaluators", nargs="+", default=default, help=f"{ROLLOUTS}, {PRETRAINED}, or names in conf/architecture"
    )
    parser.add_argument("--settings", nargs="+", default=[], help="of the networks, such as architecture.blocks=5")
    parser.add_argument("--rules", nargs="+", default=list(SEARCH_RULES))
    parser.add_argument("--batches", nargs="+", type=int, default=[1, 64, 1024])
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--parallel", type=int, default=1, help="positions of a tree that torch evaluates together")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(1)
    game = make_game(options.game)
    print(f"\n{game.name}, {options.simulations} simulations\n")
    print("| evaluator | rule | positions | simulations/s | network |\n|---|---|---:|---:|---:|")
    for name, rule, batch_size in product(options.evaluators, options.rules, options.batches):
        evaluator, network = evaluator_of(name, game, options.settings)
        how = make_rule(rule, NOISE.get(rule)), options.simulations
        search = TreeSearch(game, evaluator, *how, parallel=options.parallel)
        start = process_time()
        if network is not None:
            network.seconds = 0.0
        rate = measure(search, batch_size, options.repeats)
        share = ""
        if network is not None:
            share = f"{network.seconds / (process_time() - start):.0%}"
        elif isinstance(evaluator, NetworkEvaluator) and evaluator.temperature is None:
            share = f"{rate * seconds_of_pass(evaluator, game):.0%}"
        print(f"| {name} | {rule} | {batch_size:,} | {rate:,.0f} | {share} |", flush=True)


if __name__ == "__main__":
    with reporting_errors():
        main()
