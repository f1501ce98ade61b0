"""Measure how long a visitor of the page waits while another one uses opponents for the first time, all at once.

python benchmarks/first_use.py
python benchmarks/first_use.py requests=60 games=othello,draughts seconds=20

Starts a server with an empty cache of compiled code. After one match of tic-tac-toe, one address sends many first
requests of several games, and another one asks for files of the page and for replies in tic-tac-toe. Prints the longest
times of these and the most memory of the server. Nothing leaves this computer.
"""

import project_environment

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from selfplay.cli.entry import reporting_errors
from selfplay.errors import SettingError, StageError
from selfplay.runs.folders import PROJECT_FOLDER

DEFAULTS = {
    **{"requests": "500", "games": "draughts,othello,hex,gomoku,go", "opponent": "hard", "seconds": "60"},
    **{"visitor_opponent": "easy"},
}
GREEDY, VISITOR = "127.0.0.2", "127.0.0.3"
FILES = ("/", "/page/main.js", "/page/style.css")
ALONE_SECONDS, PAUSE_SECONDS, GIVE_UP_SECONDS = 5.0, 0.1, 300.0
MOST_SECONDS, MOST_GB = 1.0, 3.0
PAGE_SIZE = os.sysconf("SC_PAGE_SIZE")


async def ask(port: int, address: str, path: str, match: dict[str, object] | None = None) -> tuple[int, float]:
    """The status of the answer, and the seconds until it is whole."""
    body = b"" if match is None else json.dumps(match).encode()
    start = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
    head = f"{'GET' if match is None else 'POST'} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
    writer.write(f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
    answer = await reader.read()
    writer.close()
    return int(answer[9:12] or 0), time.perf_counter() - start


async def reply(port: int, options: dict[str, str]) -> tuple[int, float]:
    """A first move in tic-tac-toe of the visitor's opponent."""
    seed = time.monotonic_ns() % 1_000_000
    match = {"game": "tictactoe", "opponent": options["visitor_opponent"], "person": "second", "advance": True}
    return await ask(port, VISITOR, "/api/match", match | {"seed": seed})


async def visit(port: int, options: dict[str, str], seconds: float) -> dict[str, list[float]]:
    """The waiting times of the visitor, in seconds."""
    times: dict[str, list[float]] = {"files": [], "replies": []}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        asked = [("files", ask(port, VISITOR, path)) for path in FILES] + [("replies", reply(port, options))]
        for kind, answer in asked:
            status, waited = await asyncio.wait_for(answer, GIVE_UP_SECONDS)
            times[kind].append(waited)
            if status != 200:
                raise StageError(f"an answer has the status {status}")
        await asyncio.sleep(PAUSE_SECONDS)
    return times


async def most_memory(process: int, most: list[float]) -> None:
    """Add the memory of a process in GB again and again."""
    while True:
        most.append(int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE_SIZE / 1e9)
        await asyncio.sleep(PAUSE_SECONDS)


async def measure(port: int, process: int, options: dict[str, str]) -> None:
    status, waited = await asyncio.wait_for(reply(port, options), GIVE_UP_SECONDS)
    print(f"first reply in tic-tac-toe, from an empty cache: {waited:.1f} s (status {status})", flush=True)
    alone = await visit(port, options, ALONE_SECONDS)
    games, memory = options["games"].split(","), list[float]()
    watching = asyncio.create_task(most_memory(process, memory))
    first = {"opponent": options["opponent"], "person": "second", "advance": True}
    greedy = [
        asyncio.create_task(ask(port, GREEDY, "/api/match", first | {"game": games[n % len(games)], "seed": n}))
        for n in range(int(options["requests"]))
    ]
    beside = await visit(port, options, float(options["seconds"]))
    answered = [task.result()[0] for task in greedy if task.done() and task.exception() is None]
    counts = {status: answered.count(status) for status in sorted(set(answered))}
    print(f"{len(greedy)} first requests: {counts or 'none'} answered, by status; the others wait", flush=True)
    for task in (*greedy, watching):
        task.cancel()
    print("\n| the visitor's | alone: median s | most | beside the first requests: median s | most |")
    print("|---|---|---|---|---|")
    for kind in beside:
        row = (median(alone[kind]), max(alone[kind]), median(beside[kind]), max(beside[kind]))
        print(f"| {kind} | {' | '.join(f'{value:.3f}' for value in row)} |")
    slowest = max(map(max, beside.values()))
    print(f"\nthe longest wait {'below' if slowest < MOST_SECONDS else 'ABOVE'} {MOST_SECONDS:g} s")
    print(f"most memory {max(memory):.2f} GB, {'below' if max(memory) < MOST_GB else 'ABOVE'} {MOST_GB:g} GB")


@contextmanager
def cold_server(*arguments: str) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """The port and the process of a server of the page with an empty cache of compiled code, during the block."""
    script = PROJECT_FOLDER / "play" / "web.py"
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(script), "port=0", f"run_dir={folder}/run", *arguments]
        environment = os.environ | {"XDG_CACHE_HOME": folder}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
            assert server.stdout is not None
            try:
                yield int(server.stdout.readline().split("127.0.0.1:")[1].split()[0]), server
            finally:
                server.terminate()
                server.wait(GIVE_UP_SECONDS)


def main() -> None:
    given = dict(argument.split("=", 1) for argument in sys.argv[1:] if "=" in argument)
    if len(given) != len(sys.argv) - 1 or not set(given) <= set(DEFAULTS):
        raise SettingError(f"give only {', '.join(f'{name}=' for name in DEFAULTS)}")
    options = DEFAULTS | given
    with cold_server("compile_ahead=false") as (port, process):
        asyncio.run(measure(port, process.pid, options))
        start = time.perf_counter()
        process.terminate()
        process.wait(GIVE_UP_SECONDS)
        print(f"ended {time.perf_counter() - start:.1f} s after SIGTERM", flush=True)


if __name__ == "__main__":
    with reporting_errors():
        main()
