"""Measure how fast Connect Four positions are solved, as Markdown tables.

    python benchmarks/connect_four.py
    python benchmarks/connect_four.py groups --groups end-easy middle-easy middle-medium begin-easy begin-medium
    python benchmarks/connect_four.py columns --positions 100

groups    the positions of tests/data/connect_four.json without the opening book, every score checked, beside the solver
          bitbully if it is installed (pip install bitbully; AGPL, therefore not a dependency of this project). Its mean
          over a group, in turn in the same run; within a group each solver keeps its table.
columns   the scores of all columns, with the book, as the page shows them: random positions by number of plies, each
          from an empty table.

Times are processor times of one core.
"""

import project_environment

import argparse
import json
import platform
import random
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from statistics import median
from time import process_time

import numpy as np
import torch
from search import machine

from selfplay.games import State, make_game
from selfplay.games.connect_four import SQUARES
from selfplay.search.connect_four.solver import ConnectFourSolver
from selfplay.settings.folders import PROJECT_FOLDER

GAME = make_game("connect_four")
POSITIONS = PROJECT_FOLDER / "tests" / "data" / "connect_four.json"
GROUPS = ("end-easy", "middle-easy", "middle-medium", "begin-easy", "begin-medium", "begin-hard")
TABLE_BITS = 20
"""8 MiB, as bitbully's table by default."""
SCORE = "score"
WARM_UP = ["12345671234567123456"]
"""Solved first, so that loading the compiled code is not measured."""
COLUMN_PLIES = (0, 2, 4, 6, 8, 10, 11, 12, 13, 14, 16, 18, 20, 24)

Solve = Callable[[list[str]], tuple[list[int], float]]
"""From positions, each the columns played since the start, to their values and the seconds for all of them."""


def makers() -> dict[str, Callable[[], Solve]]:
    """What makes each solver, by name, with an empty table."""
    found: dict[str, Callable[[], Solve]] = {
        SCORE: partial(own_solver, SQUARES),
        "win, draw or loss": partial(own_solver, 1),
    }
    return found | ({f"{SCORE}, bitbully": bitbully} if find_spec("bitbully") else {})


def own_solver(largest: int) -> Solve:
    """The solver of this project, for values clipped to -largest..largest."""
    solver = ConnectFourSolver(GAME, TABLE_BITS, with_book=False)

    def solve(positions: list[str]) -> tuple[list[int], float]:
        states = [GAME.state_after(position) for position in positions]
        state = State(*(torch.cat(fields) for fields in zip(*states, strict=True)))
        bounds = np.full(len(positions), largest)
        start = process_time()
        values = solver.values_within(state, -bounds, bounds)
        return values.tolist(), process_time() - start

    return solve


def bitbully() -> Solve:
    """The solver bitbully, without its book."""
    from bitbully import BitBully, Board

    solver = BitBully(opening_book=None)

    def solve(positions: list[str]) -> tuple[list[int], float]:
        boards = [Board([int(column) - 1 for column in position]) for position in positions]
        start = process_time()
        values = [solver.mtdf(board) for board in boards]
        return values, process_time() - start

    return solve


def groups(names: list[str], repeats: int) -> None:
    """The mean time of a position of each group; all positions of a group are given at once. The median of repeats."""
    kinds, positions = makers(), json.loads(POSITIONS.read_text())["positions"]
    print(f"\nMilliseconds per position\n\n| group | {' | '.join(kinds)} |\n|---|{'---:|' * len(kinds)}")
    for name in names:
        group = [position for position in positions if position["group"] == name]
        scores = np.array([position["score"] for position in group])
        times: dict[str, list[float]] = {kind: [] for kind in kinds}
        for _ in range(repeats):
            for kind, make in kinds.items():
                solve = make()
                solve(WARM_UP)
                values, taken = solve([position["columns"] for position in group])
                assert values == (scores if kind.startswith(SCORE) else np.sign(scores)).tolist(), (kind, name)
                times[kind].append(1000 * taken / len(group))
        print(f"| {name} | {' | '.join(f'{median(taken):.4f}' for taken in times.values())} |", flush=True)


def columns(count: int) -> None:
    """The time for the scores of all columns, by number of plies played."""
    print(f"\nMilliseconds for all columns, {count} random positions\n\n| plies | median | 90 % | longest |")
    print("|---:|---:|---:|---:|")
    choices = random.Random(0)
    for plies in COLUMN_PLIES:
        times = sorted(1000 * seconds_for_columns(random_position(plies, choices)) for _ in range(count))
        print(f"| {plies} | {median(times):.1f} | {times[int(0.9 * count)]:.1f} | {times[-1]:.1f} |", flush=True)


def seconds_for_columns(state: State) -> float:
    solver = ConnectFourSolver(GAME, TABLE_BITS)
    start = process_time()
    solver.action_values(state)
    return process_time() - start


def random_position(plies: int, choices: random.Random) -> State:
    """A position after random moves in which the match is not over."""
    while True:
        state = GAME.init()
        for _ in range(plies):
            legal = GAME.legal_action_mask(state)[0].nonzero()[:, 0].tolist()
            if not legal:
                break
            state = GAME.step(state, torch.tensor([choices.choice(legal)]))
        if not bool(state.terminated[0]):
            return state


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", choices=["groups", "columns", []], help="all if none is named")
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=GROUPS[:-1], metavar="GROUP")
    parser.add_argument("--positions", type=int, default=50, help="of section columns")
    parser.add_argument("--repeats", type=int, default=3, help="of section groups")
    options = parser.parse_args()
    print(f"{machine()}; Python {platform.python_version()}")
    if not options.sections or "groups" in options.sections:
        groups(list(options.groups), options.repeats)
    if not options.sections or "columns" in options.sections:
        columns(options.positions)


if __name__ == "__main__":
    main()
