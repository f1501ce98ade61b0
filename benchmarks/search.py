"""Measure how fast Othello positions are counted, searched and solved, as Markdown tables.

    python benchmarks/search.py
    python benchmarks/search.py perft visited
    python benchmarks/search.py endgames --repeats 5
    python benchmarks/search.py together endgames --threads 2

Times are medians, after a warm-up, on one core; those of searches are processor times. Endgames start with an empty
table. The counts are the same on every machine, except for endgames that several threads solve.
"""

import project_environment

import argparse
import json
import os
import platform
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import torch
from measured.positions import random_positions
from measured.timing import seconds
from measured.whole_matches import play_random_matches

from selfplay import play_matches
from selfplay.agents.agent import Agent
from selfplay.agents.pretrained import pretrained_agent
from selfplay.compute.devices import SEARCH_THREADS
from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.games import Game, State, make_game
from selfplay.games.othello import Othello
from selfplay.named_players.evaluations import make_evaluation
from selfplay.players.player import RandomPlayer
from selfplay.runs.folders import PROJECT_FOLDER
from selfplay.search.endgame.solver import EndgameSolver
from selfplay.search.searcher import Searcher, SearchParameters

FFO = PROJECT_FOLDER / "tests" / "data" / "ffo.json"
LONG_ENDGAMES = "FFO#"
RANDOM_MATCHES = 65_536
PERFT_DEPTHS = (9, 10, 11)
POSITIONS = 50
POSITION_PLIES = 20
"""The searched positions: their number, and the number of random plies that lead to each."""
SEARCH_DEPTH = 6
COMPARED_DEPTHS = range(2, 8)
DEPTHS_TOGETHER = (6, 8, 10)
VARIANTS = (
    ("minimax", False, 0),
    ("alpha_beta", False, 0),
    ("negascout", False, 0),
    ("alpha_beta", True, 18),
    ("negascout", True, 18),
)
"""Search, whether actions are ordered, size of the transposition table."""


def perft_speed(game: Game, repeats: int) -> None:
    """Positions counted a second; a finished match counts as one, as in published counts."""
    print("\n| perft | positions | seconds | positions a second |\n|---:|---:|---:|---:|")
    for depth in PERFT_DEPTHS:
        perft = partial(game.kernels.perft, game.rules.initial, depth, True)
        taken, count = seconds(perft, repeats), perft()
        print(f"| {depth} | {count:,} | {taken:.3f} | {count / taken:,.0f} |", flush=True)


def positions_visited(game: Game, repeats: int) -> None:
    """The positions that each search visits, summed over the same positions at the same depth."""
    state = random_positions(game, POSITIONS, POSITION_PLIES, stream_key(0, 0, Activity.GENERATION))[0]
    print(f"\n{POSITIONS} positions after {POSITION_PLIES} random plies, depth {SEARCH_DEPTH}, evaluation article")
    print("\n| search | ordered, with table | visited | of minimax | seconds |\n|---|---|---:|---:|---:|")
    most = None
    for algorithm, ordered, bits in VARIANTS:
        visited, taken = search_each(game, state, SEARCH_DEPTH, algorithm, ordered, bits)
        most = most or visited
        cells = (algorithm, "yes" if ordered else "no", f"{visited:,}", f"{visited / most:.4f}", f"{taken:.3f}")
        print(f"| {' | '.join(cells)} |", flush=True)


def negascout_by_depth(game: Game, repeats: int) -> None:
    """How many positions NegaScout visits for each one that alpha-beta visits, by depth."""
    state = random_positions(game, POSITIONS, POSITION_PLIES, stream_key(0, 0, Activity.GENERATION))[0]
    print("\nPositions visited by NegaScout, divided by those of alpha-beta")
    print(f"\n| ordered | table |{''.join(f' {depth} |' for depth in COMPARED_DEPTHS)}")
    print("|---|---|" + "---:|" * len(COMPARED_DEPTHS))
    for ordered, bits in ((False, 0), (False, 18), (True, 0), (True, 18)):
        ratios = []
        for depth in COMPARED_DEPTHS:
            negascout, _ = search_each(game, state, depth, "negascout", ordered, bits)
            alpha_beta, _ = search_each(game, state, depth, "alpha_beta", ordered, bits)
            ratios.append(f"{negascout / alpha_beta:.3f}")
        cells = ("yes" if ordered else "no", "yes" if bits else "no", *ratios)
        print(f"| {' | '.join(cells)} |", flush=True)


def search_each(game: Game, state: State, depth: int, algorithm: str, ordered: bool, bits: int) -> tuple[int, float]:
    """The positions visited and the processor time, in seconds, of searches of every position from an empty table."""
    evaluation, visited, taken = make_evaluation("article", game), 0, 0.0
    for row in range(state.batch_size):
        searcher = Searcher(game, evaluation, algorithm, SearchParameters(ordered=ordered, table_bits=bits))
        searcher.num_threads = 1
        single = state.select(torch.tensor([row]))
        start = process_time()
        visited += int(searcher.search_batch(single, depth).visited[0])
        taken += process_time() - start
    return visited, taken


def searches_together(game: Game, repeats: int) -> None:
    """Searches of one position after another by NegaScout with the pretrained agent, in one and in several threads."""
    state = random_positions(game, POSITIONS, POSITION_PLIES, stream_key(0, 0, Activity.GENERATION))[0]
    evaluation = Agent.load(pretrained_agent(game.name), game).evaluation()
    assert evaluation is not None
    print(f"\n| depth | 1 thread, seconds | {SEARCH_THREADS.get()} threads | times as fast |\n|---:|---:|---:|---:|")
    for depth in DEPTHS_TOGETHER:

        def search_all(threads: int, depth: int = depth) -> None:
            searcher = Searcher(game, evaluation)
            searcher.num_threads = threads
            for row in range(state.batch_size):
                searcher.search(state.select(torch.tensor([row])), depth)

        one, several = (seconds(partial(search_all, threads), repeats) for threads in (1, SEARCH_THREADS.get()))
        print(f"| {depth} | {one:.2f} | {several:.2f} | {one / several:.2f} |", flush=True)


def random_matches(game: Game, repeats: int) -> None:
    """Matches of the random player in a second: in lockstep through the arena, and whole, one after another."""
    player, key = RandomPlayer(game), stream_key(0, 0, Activity.GENERATION)

    def in_batches() -> None:
        for _ in play_matches(game, (player, player), range(RANDOM_MATCHES), key):
            pass

    def whole() -> None:
        play_random_matches(game, Draws(key, torch.arange(RANDOM_MATCHES), 0))

    print("\n| random matches | a second |\n|---|---:|")
    for name, function in (("in batches of 16,384", in_batches), ("whole", whole)):
        print(f"| {name} | {RANDOM_MATCHES / seconds(function, repeats):,.0f} |", flush=True)


def endgames(game: Game, repeats: int) -> None:
    """The value of each position of tests/data/ffo.json, solved from an empty table."""
    # The longest first: the solver then reads the values by which it orders moves.
    EndgameSolver(game).value(position_of(game, endgame_positions()[-1]))
    print(f"\n{SEARCH_THREADS.get()} threads\n")
    print("| position | empty squares | value | seconds | processor seconds | visited | positions a second |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    totals = [0.0, 0.0, 0]
    for position in endgame_positions():
        times, processor_times = list[float](), list[float]()
        for _ in range(repeats):
            solver, start, processor_start = EndgameSolver(game), perf_counter(), process_time()
            value = solver.value(position_of(game, position))
            times.append(perf_counter() - start)
            processor_times.append(process_time() - processor_start)
        assert value == max(position["all_moves"].values()), position["name"]
        measured = [median(times), median(processor_times), solver.visited]
        cells = (position["name"], str(position["board"].count("-")), f"{value:+d}", speed(*measured))
        print(f"| {' | '.join(cells)} |", flush=True)
        if position["name"].startswith(LONG_ENDGAMES):
            totals = [total + one for total, one in zip(totals, measured, strict=True)]
    print(f"| all of {LONG_ENDGAMES} | | | {speed(*totals)} |")


def endgame_positions() -> list[dict[str, Any]]:
    positions: list[dict[str, Any]] = json.loads(FFO.read_text())["positions"]
    return positions


def position_of(game: Game, position: dict[str, Any]) -> State:
    assert isinstance(game, Othello)
    return game.read_board(position["board"], position["side"])


def speed(taken: float, processor_time: float, visited: float) -> str:
    return f"{taken:.3f} | {processor_time:.3f} | {visited:,.0f} | {visited / processor_time:,.0f}"


def machine() -> str:
    """The processor's name and how many cores may be used."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor() or platform.machine()}, {os.cpu_count()} cores"


SECTIONS = {
    "perft": perft_speed,
    "matches": random_matches,
    "visited": positions_visited,
    "depths": negascout_by_depth,
    "together": searches_together,
    "endgames": endgames,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], help="all if none is named")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--threads", type=int, default=1, help="in which each endgame is solved, and each position searched together"
    )
    options = parser.parse_args()
    print(f"{machine()}; Python {platform.python_version()}")
    SEARCH_THREADS.set(options.threads)
    for section in options.sections or SECTIONS:
        SECTIONS[section](make_game("othello"), options.repeats)


if __name__ == "__main__":
    main()
