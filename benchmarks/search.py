"""How long searches take here and how many positions they visit, as markdown tables.

    python benchmarks/search.py
    python benchmarks/search.py endgames --repeats 5 --table-bits 22

Each time is the shortest of several, each from an empty table, in one thread. The code is compiled before.
"""

import argparse
import json
import os
import platform
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from selfplay.games import State, make_game
from selfplay.search.endgame import EndgameSolver
from selfplay.settings import PROJECT_FOLDER

FFO = PROJECT_FOLDER / "tests" / "data" / "ffo.json"
LONG_ENDGAMES = "FFO#"


def machine() -> str:
    """The processor's name and how many cores may be used."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor() or platform.machine()}, {os.cpu_count()} cores"


def solved(state: State, options: argparse.Namespace) -> tuple[int, float, int]:
    """The value, the seconds and the positions visited."""
    best = float("inf")
    for _ in range(options.repeats):
        solver = EndgameSolver(make_game("othello"), options.table_bits)
        start = perf_counter()
        value = solver.value(state)
        best = min(best, perf_counter() - start)
    return value, best, solver.visited


def endgames(options: argparse.Namespace) -> None:
    """The value of each position of tests/data/ffo.json."""
    print("| position | empty squares | value | seconds | positions | positions a second |")
    print("|---|---:|---:|---:|---:|---:|")
    long_seconds, long_visited = 0.0, 0
    for position in json.loads(FFO.read_text())["positions"]:
        state = make_game("othello").read_board(position["board"], position["side"])
        value, taken, visited = solved(state, options)
        assert value == max(position["all_moves"].values()), position["name"]
        empties = position["board"].count("-")
        print(f"| {position['name']} | {empties} | {value:+d} | {speed(taken, visited)} |", flush=True)
        if position["name"].startswith(LONG_ENDGAMES):
            long_seconds, long_visited = long_seconds + taken, long_visited + visited
    print(f"| all of {LONG_ENDGAMES} | | | {speed(long_seconds, long_visited)} |")


def speed(seconds: float, visited: int) -> str:
    return f"{seconds:.3f} | {visited:,} | {visited / seconds:,.0f}"


SECTIONS: dict[str, Callable[[argparse.Namespace], None]] = {"endgames": endgames}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", help=f"of {', '.join(SECTIONS)}; all if none is given")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--table-bits", type=int, default=20)
    options = parser.parse_args()
    print(f"{machine()}; Python {platform.python_version()}")
    for name in options.sections or SECTIONS:
        print(f"\n{name}\n")
        SECTIONS[name](options)


if __name__ == "__main__":
    main()
