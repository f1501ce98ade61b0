"""Measure the response times of the page's server, with many concurrent matches, and check every match.

python benchmarks/web.py
python benchmarks/web.py matches=200 at_a_time=20 opponent=level-10 run_dir=outputs/tictactoe

Starts a server, plays whole matches of tic-tac-toe with random actions of the person, plays each match again in this
process to check that none was lost or mixed up with another, and prints the response times.
"""

import project_environment

import asyncio
import json
import random
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from pydantic import TypeAdapter

from selfplay.cli.main import reporting_errors
from selfplay.errors import SettingError, StageError
from selfplay.runs.folders import PROJECT_FOLDER
from selfplay.settings.playing import WebSettings
from selfplay.web.match import Match, Participant
from selfplay.web.matches import MatchService
from selfplay.web.offers import judge_offer
from selfplay.web.schemas import MatchView, People

SCRIPT = PROJECT_FOLDER / "play" / "web.py"
DEFAULTS = {"matches": "200", "at_a_time": "20", "opponent": "level-10", "run_dir": "", "seed": "0"}
LIMIT_MS = 50.0
VIEWS = TypeAdapter(MatchView)

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


async def play_match(connection: Connection, number: int, opponent: str) -> Json:
    """Play one match to its end; returns its last view."""
    chance = random.Random(number)
    person = "first" if number % 2 == 0 else "second"
    match = await connection.ask(
        "begin", "POST", "/matches", {"game": "tictactoe", "opponent": opponent, "person": person}
    )
    while not match["is_over"]:
        if match["awaits_person"]:
            body = {"action": chance.choice(match["legal"])["action"], "ply": len(match["plies"])}
            match = await connection.ask("action", "POST", f"/matches/{match['id']}/actions", body)
        else:
            match = await connection.ask("reply", "POST", f"/matches/{match['id']}/reply")
    return match


async def play_all(port: int, options: dict[str, str], times: dict[str, list[float]]) -> list[Json]:
    """Play all matches, several at a time, and then request each once more."""
    waiting = list(range(int(options["matches"])))
    ended: list[Json] = []

    async def work() -> None:
        connection = Connection(*await asyncio.open_connection("127.0.0.1", port), times)
        while waiting:
            ended.append(await play_match(connection, waiting.pop(), options["opponent"]))
        connection.writer.close()

    await asyncio.gather(*(work() for _ in range(int(options["at_a_time"]))))
    connection = Connection(*await asyncio.open_connection("127.0.0.1", port), times)
    for match in ended:
        if await connection.ask("look", "GET", f"/matches/{match['id']}") != match:
            raise StageError(f"match {match['id']} has changed since its end")
    connection.writer.close()
    return ended


def check(ended: list[Json], options: dict[str, str]) -> None:
    """Play every match again alone: the same actions of the person must give the same match."""
    service = MatchService(WebSettings(run_dir=options["run_dir"], seed=int(options["seed"])))
    game = service.catalog.game("tictactoe")
    found = service.catalog.opponent(game, options["opponent"])
    for there in ended:
        people = People(there["people"])
        opponent = Participant(found, service.catalog.player(game, found))
        match = Match(there["id"], game, people, opponent, None, None, judge_offer(game), service.settings.seed)
        for ply in there["plies"]:
            if ply["by_person"]:
                match.reply()
                match.play(ply["action"], len(match.session.plies))
        match.reply()
        if VIEWS.dump_python(match.view()) != there:
            raise StageError(f"match {there['id']} was different on the server")


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
        "client_match_limit=1000000",
    ]
    times: dict[str, list[float]] = defaultdict(list)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            port = int(server.stdout.readline().split("127.0.0.1:")[1].split()[0])
            # The first match compiles and loads what matches need.
            asyncio.run(play_all(port, options | {"matches": "1", "at_a_time": "1"}, defaultdict(list)))
            start = time.perf_counter()
            ended = asyncio.run(play_all(port, options, times))
            seconds = time.perf_counter() - start
        finally:
            server.terminate()
    check(ended, options)
    report(ended, times, int(options["at_a_time"]), seconds)


def report(ended: list[Json], times: dict[str, list[float]], at_a_time: int, seconds: float) -> None:
    everything = [one for kind, some in times.items() if kind != "look" for one in some]
    rate = len(everything) / seconds
    print(f"{len(ended)} matches, {at_a_time} requests at a time, {rate:.0f} answers a second")
    print("\n| request | answers | median ms | p95 ms | p99 ms | most ms |\n|---|---|---|---|---|---|")
    for kind in ("begin", "action", "reply"):
        print(row(kind, times[kind]))
    print(row("all", everything))
    verdict = "below" if quantiles(everything, n=100)[94] < LIMIT_MS else "ABOVE"
    print(f"\np95 {verdict} {LIMIT_MS:.0f} ms; all matches the same as played alone")


if __name__ == "__main__":
    with reporting_errors():
        main()
