"""Measure how long the first visitor of a game waits for the first move of the opponent, with an empty cache.

python benchmarks/cold_start.py
python benchmarks/cold_start.py games=draughts opponent=beginner stand_in=false

For each game it starts a server, which compiles in the background as usual, and asks what the page asks: the
opponents, the match, and the opponent's first move, for which a stand-in moves after 1.5 s (stand_in=false: not, as for
two players that are watched). Prints seconds, and in brackets the processor time of the server.
"""

import project_environment

import asyncio
import os
import sys
import time
from pathlib import Path

from first_use import VISITOR, ask, cold_server

from selfplay.cli.entry import reporting_errors
from selfplay.errors import SettingError, StageError

DEFAULTS = {"games": "tictactoe,connect_four,othello,go,draughts", "opponent": "hard", "stand_in": "true"}
PATIENCE_SECONDS = 1.5
"""As of the page (`selfplay/web/page/preparing.js`)."""
TICK = os.sysconf("SC_CLK_TCK")


class Clock:
    """Measures since it was made.

    Args:
        process: whose processor time is measured.
    """

    def __init__(self, process: int) -> None:
        self._process, self._start = process, time.perf_counter()
        self._used = self._processor_seconds()

    def _processor_seconds(self) -> float:
        fields = Path(f"/proc/{self._process}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:13])) / TICK

    def __str__(self) -> str:
        return f"{time.perf_counter() - self._start:.1f} ({self._processor_seconds() - self._used:.1f})"


async def answered(port: int, path: str, match: dict[str, object] | None = None) -> None:
    """Ask for something as the visitor. Raises StageError unless the answer is one."""
    status, _ = await ask(port, VISITOR, path, match)
    if status != 200:
        raise StageError(f"{path} is answered with the status {status}")


async def measure(port: int, process: int, game: str, options: dict[str, str]) -> list[str]:
    """When the match is shown, when the first move is there, and when the opponent itself can move."""
    clock = Clock(process)
    match: dict[str, object] = {"game": game, "opponent": options["opponent"], "person": "second"}
    await answered(port, f"/api/games/{game}/opponents")
    await answered(port, "/api/match", match)
    times = [str(clock)]
    prepared = asyncio.create_task(answered(port, "/api/match", match | {"person": "first", "advance": True}))
    await asyncio.wait([prepared], timeout=PATIENCE_SECONDS)
    if options["stand_in"] == "true" and not prepared.done():
        await answered(port, "/api/match", match | {"advance": True, "stand_in": True})
        times.append(str(clock))
    await prepared
    await answered(port, "/api/match", match | {"advance": True})
    return [*times, *[str(clock)] * (3 - len(times))]


def main() -> None:
    given = dict(argument.split("=", 1) for argument in sys.argv[1:] if "=" in argument)
    if len(given) != len(sys.argv) - 1 or not set(given) <= set(DEFAULTS):
        raise SettingError(f"give only {', '.join(f'{name}=' for name in DEFAULTS)}")
    options = DEFAULTS | given
    print("| game | match shown, s | first move | first move of the opponent |\n|---|---|---|---|")
    for game in options["games"].split(","):
        with cold_server() as (port, process):
            times = asyncio.run(measure(port, process.pid, game, options))
        print(f"| {game} | {' | '.join(times)} |", flush=True)
    print(f"\nload of the machine: {os.getloadavg()[0]:.1f} processes on {os.cpu_count()} cores")


if __name__ == "__main__":
    with reporting_errors():
        main()
