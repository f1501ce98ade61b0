"""Measure how fast Connect Four positions are solved, as Markdown tables.

    python benchmarks/connect_four.py
    python benchmarks/connect_four.py groups --groups end-easy middle-easy middle-medium begin-easy begin-medium
    python benchmarks/connect_four.py columns --positions 100
    python benchmarks/connect_four.py page --matches 10 --thinking 5

groups    the positions of tests/data/connect_four.json without the opening book, every score checked, beside the solver
          bitbully if it is installed (pip install bitbully; AGPL, therefore not a dependency of this project). Its mean
          over a group, in turn in the same run; within a group each solver keeps its table.
columns   the scores of all columns, with the book, as the page shows them: random positions by number of plies, each
          from an empty table.
page      how long the page waits for the scores of all columns in random matches, where the solver looks ahead while
          the person thinks (elapsed time).

Other times are processor times of one core.
"""

import project_environment

import argparse
import json
import platform
import random
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from statistics import median
from time import perf_counter, process_time, sleep

import numpy as np
import torch
from search import machine

from selfplay.games import State, make_game
from selfplay.games.connect_four import SQUARES
from selfplay.runs.folders import PROJECT_FOLDER
from selfplay.search.connect_four.solver import ConnectFourSolver
from selfplay.search.exact_solver import make_exact_solver
from selfplay.search.shared_solver import SharedSolver

GAME = make_game("connect_four")
POSITIONS = PROJECT_FOLDER / "tests" / "data" / "connect_four.json"
GROUPS = ("end-easy", "middle-easy", "middle-medium", "begin-easy", "begin-medium", "begin-hard")
TABLE_BITS = 20
"""8 MiB, as bitbully's table by default."""
SCORE = "score"
WARM_UP = ["12345671234567123456"]
"""Solved first, so that loading the compiled code is not measured."""
PAGE_PLIES = 7, 20
"""The first and the last number of plies at which the page is asked."""
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


def page(matches: int, thinking: float) -> None:
    """The time until the scores of all columns are known, by number of plies played."""
    print(f"\nMilliseconds until all columns are known, {matches} matches, {thinking:g} s to think about each move\n")
    print("| plies | median | longest | over 50 ms |\n|---:|---:|---:|---:|")
    choices, times = random.Random(0), defaultdict[int, list[float]](list)
    for match in range(matches):
        # Persons move first and second by turns.
        first = PAGE_PLIES[0] + match % 2
        line = random_line(PAGE_PLIES[1], choices)
        solver = SharedSolver(GAME, partial(make_exact_solver, GAME))
        for plies in range(first, PAGE_PLIES[1] + 1, 2):
            start = perf_counter()
            solver.action_values(GAME.state_after(line[:plies]))
            times[plies].append(1000 * (perf_counter() - start))
            sleep(thinking)
    for plies, taken in sorted(times.items()):
        print(f"| {plies} | {median(taken):.1f} | {max(taken):.1f} | {sum(time > 50 for time in taken)} |", flush=True)


def random_line(plies: int, choices: random.Random) -> str:
    """The columns of a random match whose first plies do not end it."""
    while True:
        state, line = GAME.init(), ""
        while len(line) < plies and not bool(state.terminated[0]):
            action = choices.choice(GAME.legal_action_mask(state)[0].nonzero()[:, 0].tolist())
            state, line = GAME.step(state, torch.tensor([action])), line + GAME.action_to_string(action)
        if not bool(state.terminated[0]):
            return line


def random_position(plies: int, choices: random.Random) -> State:
    """A position after random moves in which the match is not over."""
    return GAME.state_after(random_line(plies, choices))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", choices=["groups", "columns", "page", []], help="all if none is named")
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=GROUPS[:-1], metavar="GROUP")
    parser.add_argument("--positions", type=int, default=50, help="of section columns")
    parser.add_argument("--matches", type=int, default=4, help="of section page")
    parser.add_argument("--thinking", type=float, default=5.0, help="of section page: seconds for each move")
    parser.add_argument("--repeats", type=int, default=3, help="of section groups")
    options = parser.parse_args()
    print(f"{machine()}; Python {platform.python_version()}")
    if not options.sections or "groups" in options.sections:
        groups(list(options.groups), options.repeats)
    if not options.sections or "columns" in options.sections:
        columns(options.positions)
    if not options.sections or "page" in options.sections:
        page(options.matches, options.thinking)


if __name__ == "__main__":
    main()
