"""Measure the response times of the page's server, with many concurrent matches, and check every match.

python benchmarks/web.py
python benchmarks/web.py game=connect_four opponent=medium
python benchmarks/web.py matches=200 at_a_time=20 opponent=level-10 run_dir=outputs/tictactoe

Starts a server, plays whole matches with random actions of the person, compares each match with the answers of another
server in this process, and prints the response times and the processor time of the server.
"""

import project_environment

import asyncio
import json
import os
import random
import subprocess
import sys
import time
from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from selfplay.cli.entry import reporting_errors
from selfplay.errors import SettingError, StageError
from selfplay.runs.folders import PROJECT_FOLDER
from selfplay.settings.playing import WebSettings
from selfplay.web.match_schemas import MatchRequest
from selfplay.web.match_service import MatchService

SCRIPT = PROJECT_FOLDER / "play" / "web.py"
DEFAULTS = {
    **{"matches": "200", "at_a_time": "20", "game": "tictactoe", "opponent": "level-10"},
    **{"run_dir": "", "seed": "0"},
}
LIMIT_MS = 50.0

Json = dict[str, Any]


class Connection:
    """One connection that is kept open, so that the time of a client library is not measured."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, times: dict[str, list[float]]
    ) -> None:
        self.reader, self.writer, self.times = reader, writer, times

    async def ask(self, kind: str, method: str, address: str, body: Json | None = None) -> Json:
        """The answer to a request; its time in milliseconds is recorded."""
        content = b"" if body is None else json.dumps(body).encode()
        head = f"{method} /api{address} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(content)}\r\n"
        start = time.perf_counter()
        self.writer.write(f"{head}Content-Type: application/json\r\n\r\n".encode() + content)
        header = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(header.split("content-length: ")[1].split("\r\n")[0])
        answer: Json = json.loads(await self.reader.readexactly(length))
        self.times[kind].append((time.perf_counter() - start) * 1000)
        if "error" in answer:
            raise StageError(f"{method} {address}: {answer['error']}")
        return answer


async def play_match(connection: Connection, number: int, options: dict[str, str]) -> tuple[Json, Json]:
    """Play one match to its end; returns it, and its last view."""
    chance = random.Random(number)
    match = {"game": options["game"], "opponent": options["opponent"], "seed": number}
    match |= {"person": "first" if number % 2 == 0 else "second", "moves": ""}
    kind = "new match"
    while True:
        view: Json = (await connection.ask(kind, "POST", "/match", match | {"advance": True}))["match"]
        match |= {"moves": view["moves"]}
        if view["is_over"]:
            return match, view
        if view["awaits_person"]:
            match["moves"] += f" {chance.choice(view['legal'])['text']}"
        kind = "move"


async def play_all(port: int, options: dict[str, str], times: dict[str, list[float]]) -> list[tuple[Json, Json]]:
    """Play all matches, several at a time."""
    waiting = list(range(int(options["matches"])))
    ended: list[tuple[Json, Json]] = []

    async def work() -> None:
        connection = Connection(*await asyncio.open_connection("127.0.0.1", port), times)
        while waiting:
            ended.append(await play_match(connection, waiting.pop(), options))
        connection.writer.close()

    await asyncio.gather(*(work() for _ in range(int(options["at_a_time"]))))
    return ended


async def ask_again(port: int, ended: list[tuple[Json, Json]], times: dict[str, list[float]]) -> None:
    """Request each match once more: it must be the same."""
    connection = Connection(*await asyncio.open_connection("127.0.0.1", port), times)
    for match, view in ended:
        if actions_of((await connection.ask("whole match", "POST", "/match", match | {"valued": 0}))["match"]) != (
            actions_of(view)
        ):
            raise StageError(f"match {match['seed']} has changed since its end")
    connection.writer.close()


def processor_seconds(process: int) -> float:
    """The processor time of a process so far, as Linux counts it."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def actions_of(view: Json) -> list[int]:
    return [ply["action"] for ply in view["plies"]]


def check(ended: list[tuple[Json, Json]], options: dict[str, str]) -> None:
    """Ask for each reply again here: it must be the same."""
    service = MatchService(WebSettings(run_dir=options["run_dir"], seed=int(options["seed"])))
    game = service.catalog.game(options["game"])
    for described, view in ended:
        texts = [ply["text"] for ply in view["plies"]]
        for number, ply in enumerate(view["plies"]):
            if not ply["by_person"]:
                request = MatchRequest(**described | {"moves": " ".join(texts[:number]), "advance": True})
                with ExitStack() as lent:
                    match = service.match(request, game, service.participants(game, request, lent))
                    match.advance()
                if match.session.plies[number].action != ply["action"]:
                    raise StageError(f"match {described['seed']} was different on the server")


def row(kind: str, times: list[float]) -> str:
    cuts = quantiles(times, n=100)
    return f"| {kind} | {len(times)} | {median(times):.1f} | {cuts[94]:.1f} | {cuts[98]:.1f} | {max(times):.1f} |"


def main() -> None:
    given = dict(argument.split("=", 1) for argument in sys.argv[1:] if "=" in argument)
    if len(given) != len(sys.argv) - 1 or not set(given) <= set(DEFAULTS):
        raise SettingError(f"give only {', '.join(f'{name}=' for name in DEFAULTS)}")
    options = DEFAULTS | {"run_dir": str(PROJECT_FOLDER / "outputs" / "tictactoe")} | given
    command = [
        sys.executable,
        str(SCRIPT),
        "port=0",
        f"run_dir={Path(options['run_dir']).resolve()}",
        f"seed={options['seed']}",
        # All matches are of one client.
        "client_searches=6",
    ]
    times: dict[str, list[float]] = defaultdict(list)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            port = int(server.stdout.readline().split("127.0.0.1:")[1].split()[0])
            # The first match compiles and loads what matches need.
            asyncio.run(play_all(port, options | {"matches": "1", "at_a_time": "1"}, defaultdict(list)))
            start, used = time.perf_counter(), processor_seconds(server.pid)
            ended = asyncio.run(play_all(port, options, times))
            seconds, used = time.perf_counter() - start, processor_seconds(server.pid) - used
            asyncio.run(ask_again(port, ended, times))
        finally:
            server.terminate()
    check(ended, options)
    report(ended, times, int(options["at_a_time"]), seconds, used)


def report(
    ended: list[tuple[Json, Json]], times: dict[str, list[float]], at_a_time: int, seconds: float, used: float
) -> None:
    everything = [one for kind, some in times.items() if kind != "whole match" for one in some]
    rate = len(everything) / seconds
    moves = sum(ply["by_person"] for _, view in ended for ply in view["plies"])
    print(f"{len(ended)} matches, {at_a_time} requests at a time, {rate:.0f} answers a second")
    each = f"{1000 * seconds / moves:.2f} ms, and {1000 * used / moves:.2f} ms of the server's processor time"
    print(f"{each}, for each move of a person and its reply")
    print("\n| request | answers | median ms | p95 ms | p99 ms | most ms |\n|---|---|---|---|---|---|")
    for kind in ("new match", "move", "whole match"):
        print(row(kind, times[kind]))
    verdict = "below" if quantiles(everything, n=100)[94] < LIMIT_MS else "ABOVE"
    print(f"\np95 {verdict} {LIMIT_MS:.0f} ms; all replies the same as by another server")


if __name__ == "__main__":
    with reporting_errors():
        main()
