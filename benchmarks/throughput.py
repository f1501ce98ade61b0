"""Measure how fast matches are played and written as datasets, and networks trained, as Markdown tables.

    python benchmarks/throughput.py
    python benchmarks/throughput.py --games othello --players ntuple mlp --executors process ray --seconds 5
    python benchmarks/throughput.py --device cuda matches training
    python benchmarks/throughput.py memory --matches 100000 10000000
    python benchmarks/throughput.py costs
    python benchmarks/throughput.py self_play --together 64 --repeats 3
    python benchmarks/throughput.py search --games tictactoe connect_four

Each figure is measured over as many matches or steps as take --seconds, with at least eight parts per worker if there
are several workers, after a warm-up in which workers start; with --repeats it is a median. One torch thread per
process. The levels are only trained briefly, on 2,000 random matches.

The section search measures tree search with random matches, in turn with OpenSpiel where it is installed
(pip install open_spiel); benchmarks/tree_search.py measures it with tables and networks.
"""

import project_environment

import argparse
import logging

import torch
from measured.matches import COLUMNS, LEVELS, matches_per_second
from measured.processes import fixed_costs, memory
from measured.self_play import simulations_per_second
from measured.training import training_rows_per_second
from measured.tree_search import rollouts_per_second

from selfplay.cli.entry import reporting_errors
from selfplay.compute.devices import CPU, DEVICES, chosen_device, computing_on
from selfplay.compute.process import usable_cores
from selfplay.executors import EXECUTORS
from selfplay.games import game_names

PLAYED_GAMES = ("tictactoe", "connect_four", "othello")


SECTIONS = {
    "memory": memory,
    "matches": matches_per_second,
    "training": training_rows_per_second,
    "costs": fixed_costs,
    "self_play": simulations_per_second,
    "search": rollouts_per_second,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], help="default: matches")
    parser.add_argument("--games", nargs="+", choices=sorted(game_names()), default=list(PLAYED_GAMES))
    parser.add_argument("--players", nargs="+", choices=["random", *LEVELS], default=["random", "ntuple"])
    parser.add_argument("--executors", nargs="+", choices=EXECUTORS, default=["serial", "process"])
    parser.add_argument("--workers", type=int, default=usable_cores(), help="of the executors process and ray")
    parser.add_argument("--batch-sizes", nargs="+", type=int, default=[1024, 16384])
    parser.add_argument("--columns", nargs="+", choices=COLUMNS, default=list(COLUMNS))
    parser.add_argument("--matches", nargs="+", type=int, default=[100_000, 1_000_000], help="for the section memory")
    parser.add_argument("--together", type=int, default=64, help="matches at a time, for the section self_play")
    parser.add_argument("--device", choices=DEVICES, default=CPU)
    parser.add_argument("--seconds", type=float, default=0.3, help="shortest time of a measurement")
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    logging.disable(logging.INFO)
    options.device = chosen_device(options.device)
    print(f"Device: {torch.cuda.get_device_name() if options.device != CPU else CPU}, torch {torch.__version__}")
    with computing_on(options.device, threads=1, searching=1):
        for section in [name for name in SECTIONS if name in (options.sections or ["matches"])]:
            SECTIONS[section](options)


if __name__ == "__main__":
    with reporting_errors():
        main()
